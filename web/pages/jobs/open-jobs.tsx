import { useMemo } from "preact/hooks";
import type { PagedList } from "../../app/cache";
import { findCurrentStep, namePipeline, type Pipeline } from "../../app/pipelines";
import { type Column, DataTable } from "../../ui/data-table";
import { RelativeTime } from "../../ui/relative-time";
import { Empty } from "../../ui/states";
import { JobStatus } from "../../ui/status";
import { createActionsColumn } from "./job-actions";
import { JobCell, StarterCell } from "./job-cells";
import { JobProgress } from "./job-progress";
import { usePipelines } from "./use-pipelines";

const createColumns = (list: PagedList<Pipeline>): Column<Pipeline>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (pipeline) => <JobCell pipeline={pipeline} /> },
  { title: "Progress", width: "minmax(0, 1.5fr)", cell: (pipeline) => <OpenState pipeline={pipeline} /> },
  { title: "Started by", cell: (pipeline) => <StarterCell pipeline={pipeline} /> },
  { title: "Since", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  createActionsColumn(list),
];

/** Running and waiting jobs. */
export function OpenJobs({ state }: { state: Pipeline["state"] | null }) {
  const list = usePipelines({ isOpen: true, state });
  const columns = useMemo(() => createColumns(list), [list]);
  return (
    <section class="job-list" aria-labelledby="open-jobs">
      <h2 id="open-jobs">Running and waiting</h2>
      <DataTable
        caption="Running and waiting jobs"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title={state === "pending" ? "No jobs are waiting" : "No jobs are running"} icon="jobs">
            <p>Uploads, cuts and renders appear here while Offcut works on them.</p>
          </Empty>
        }
      />
    </section>
  );
}

/** The state of the running or next step, and its position in a pipeline with several steps. */
function OpenState({ pipeline }: { pipeline: Pipeline }) {
  const step = findCurrentStep(pipeline);
  const { length } = pipeline.steps;
  return (
    <span class="job-state">
      <JobStatus state={step?.state ?? pipeline.state} />
      {step && length > 1 && (
        <span class="soft number">
          step {step.step_order + 1} of {length}
        </span>
      )}
      {step?.state === "running" && <JobProgress step={step} name={namePipeline(pipeline)} />}
    </span>
  );
}
