import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import type { PagedList } from "../../app/cache";
import { canCancel, findRetryable, nameJob, type Pipeline, type Step } from "../../app/pipelines";
import { canWrite, isBilled } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import type { Column } from "../../ui/data-table";
import { CancelButton } from "./cancel-button";

type JobActionProps = { pipeline: Pipeline; onChange(): void };

/** Buttons that cancel a running job or retry a failed one. Empty for viewers. */
export function JobActions({ pipeline, onChange }: JobActionProps) {
  const step = findRetryable(pipeline);
  if (!canWrite.value) return null;
  if (canCancel(pipeline)) return <CancelJob pipeline={pipeline} onChange={onChange} />;
  return step ? <RetryButton pipeline={pipeline} step={step} onChange={onChange} /> : null;
}

/** Creates the column with the actions for each job. */
export const createActionsColumn = (list: PagedList<Pipeline>): Column<Pipeline> => ({
  title: "Actions",
  width: "7rem",
  isTitleHidden: true,
  cell: (pipeline) => (
    <span class="job-actions">
      <JobActions pipeline={pipeline} onChange={() => void list.reload()} />
    </span>
  ),
});

function CancelJob({ pipeline, onChange }: JobActionProps) {
  const name = nameJob(pipeline);
  const done = pipeline.steps.filter(({ state }) => state === "completed").length;
  const cancel = async () => {
    await must(api.POST("/api/v1/pipelines/{pipeline_id}/cancel", { params: { path: { pipeline_id: pipeline.id } } }));
    onChange();
  };
  return (
    <CancelButton jobName={name} onConfirm={cancel}>
      <strong dir="auto">{name}</strong> stops, and the progress of its running step is lost. The recording
      {done > 0 ? " and the results of completed steps are kept" : " is kept"}.
      {isBilled.value && " Credits held for steps that did not complete are released."} A cancelled step can be retried.
    </CancelButton>
  );
}

type RetryProps = JobActionProps & { step: Step };

/** Retries a step, which creates a new cut or render, and runs the steps after it. */
export function RetryButton({ pipeline, step, onChange }: RetryProps) {
  const [isBusy, setIsBusy] = useState(false);
  const retry = async () => {
    setIsBusy(true);
    try {
      const params = { path: { pipeline_id: pipeline.id, step_id: step.id } };
      await must(api.POST("/api/v1/pipelines/{pipeline_id}/steps/{step_id}/retry", { params }));
      showToast({ kind: "info", text: `${nameJob(pipeline)} was started again.` });
      onChange();
    } catch (error) {
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Button icon="undo" isBusy={isBusy} aria-label={`Retry ${nameJob(pipeline)}`} onClick={() => void retry()}>
      Retry
    </Button>
  );
}
