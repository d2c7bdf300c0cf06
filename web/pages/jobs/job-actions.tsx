import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { api, must } from "../../app/api";
import type { PagedList } from "../../app/cache";
import { formatRemaining, formatShare } from "../../app/format";
import { progressOf } from "../../app/live";
import {
  canCancel,
  findRetryable,
  getSubjectId,
  nameInput,
  nameJob,
  namePipeline,
  type Pipeline,
  type Step,
} from "../../app/pipelines";
import { createRemainingTime } from "../../app/rare-formats";
import { canWrite, isBilled, me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { PersonCell } from "../../ui/avatar";
import { type Column, createActionsColumn, Truncated } from "../../ui/data-table";
import { ConfirmButton } from "../../ui/dialog";
import { BusyButton } from "../../ui/use-busy";

type JobActionProps = { pipeline: Pipeline; onChange(): void };

/** Buttons that cancel a running job or retry a failed one. Empty for viewers. */
export function JobActions({ pipeline, onChange }: JobActionProps) {
  const step = findRetryable(pipeline);
  if (!canWrite.value) return null;
  if (canCancel(pipeline)) return <CancelJob pipeline={pipeline} onChange={onChange} />;
  return step ? <RetryButton pipeline={pipeline} step={step} onChange={onChange} /> : null;
}

/** Creates the column with the actions for each job. */
export const createJobActions = (list: PagedList<Pipeline>): Column<Pipeline> =>
  createActionsColumn("7rem", (pipeline) => (
    <span class="job-actions">
      <JobActions pipeline={pipeline} onChange={() => void list.reload()} />
    </span>
  ));

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
  const retry = async () => {
    const params = { path: { pipeline_id: pipeline.id, step_id: step.id } };
    await must(api.POST("/api/v1/pipelines/{pipeline_id}/steps/{step_id}/retry", { params }));
    showToast({ kind: "info", text: `${nameJob(pipeline)} was started again.` });
    onChange();
  };
  return (
    <BusyButton icon="undo" work={retry} aria-label={`Retry ${nameJob(pipeline)}`}>
      Retry
    </BusyButton>
  );
}

type CancelButtonProps = {
  /** The name of the job, such as "render of interview.mp4". */
  jobName: string;
  isOffered?: boolean;
  onConfirm(): Promise<void>;
  /** A description of what stops and what is lost. */
  children: ComponentChildren;
};

/** Cancels a job after a confirmation. */
export const CancelButton = ({ jobName, children, ...props }: CancelButtonProps) => (
  <ConfirmButton
    {...props}
    button={{ "aria-label": `Cancel ${jobName}`, children: "Cancel" }}
    title="Cancel this job?"
    confirmLabel="Cancel the job"
    closeLabel="Keep it"
  >
    <p>{children}</p>
  </ConfirmButton>
);

/** A job with a link to its page, and its recording below. */
export const JobCell = ({ pipeline }: { pipeline: Pipeline }) => (
  <span class="job-name">
    <a href={`/jobs/${pipeline.id}`}>{namePipeline(pipeline)}</a>
    <RecordingLink pipeline={pipeline} />
  </span>
);

/** The recording, with a link to it while it exists. */
export const RecordingLink = ({ pipeline }: { pipeline: Pipeline }) => {
  const name = nameInput(pipeline);
  return pipeline.input_asset_id === null || pipeline.input_asset_deleted ? (
    <span class="soft">{name}</span>
  ) : (
    <Truncated class="soft" href={`/assets/${pipeline.input_asset_id}`} text={name} />
  );
};

/** The user who started the job. */
export const StarterCell = ({ pipeline: { created_by: user } }: { pipeline: Pipeline }) =>
  user ? <PersonCell person={user}>{user.id === me.value?.id && "You"}</PersonCell> : "Deleted account";

type JobProgressProps = { step: Step; name: string };

/** Shows the progress of a running step and the remaining time. */
export function JobProgress({ step, name }: JobProgressProps) {
  const remaining = useMemo(createRemainingTime, [step.id]);
  const share = progressOf(getSubjectId(step)).value ?? step.progress ?? 0;
  const seconds = remaining.update(step.id, share, Date.now());
  return (
    <span class="job-progress">
      <progress class="progress" aria-label={`Progress of ${name}`} max={1} value={share} />
      <span class="soft number">
        {formatShare(share)}
        {seconds !== null && ` · ${formatRemaining(seconds)}`}
      </span>
    </span>
  );
}
