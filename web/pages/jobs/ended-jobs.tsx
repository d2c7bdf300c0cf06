import { useMemo } from "preact/hooks";
import type { PagedList } from "../../app/cache";
import type { Pipeline } from "../../app/pipelines";
import { type Column, DataTable } from "../../ui/data-table";
import { RelativeTime } from "../../ui/relative-time";
import { Empty } from "../../ui/states";
import { JobStatus } from "../../ui/status";
import { createActionsColumn } from "./job-actions";
import { JobCell, StarterCell } from "./job-cells";
import { usePipelines } from "./use-pipelines";

const createColumns = (list: PagedList<Pipeline>): Column<Pipeline>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (pipeline) => <JobCell pipeline={pipeline} /> },
  { title: "State", width: "minmax(0, 1.5fr)", cell: (pipeline) => <EndedState pipeline={pipeline} /> },
  { title: "Started by", cell: (pipeline) => <StarterCell pipeline={pipeline} /> },
  { title: "Ended", width: "8rem", cell: ({ finished_at: at }) => at !== null && <RelativeTime iso={at} /> },
  createActionsColumn(list),
];

const EMPTY_TITLES: Partial<Record<Pipeline["state"], string>> = {
  completed: "No completed jobs",
  failed: "No failed jobs",
  cancelled: "No cancelled jobs",
};

/** Ended jobs, newest first. */
export function EndedJobs({ state }: { state: Pipeline["state"] | null }) {
  const list = usePipelines({ isOpen: false, state });
  const columns = useMemo(() => createColumns(list), [list]);
  return (
    <section class="job-list" aria-labelledby="ended-jobs">
      <h2 id="ended-jobs">Ended</h2>
      <DataTable
        caption="Jobs that have ended"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty title={state === null ? "No jobs have ended yet" : (EMPTY_TITLES[state] ?? "")} icon="jobs" />}
      />
    </section>
  );
}

/** The state of a job, and why it failed. */
function EndedState({ pipeline }: { pipeline: Pipeline }) {
  const failed = pipeline.steps.find(({ state }) => state === "failed");
  const message = failed?.error_message;
  return (
    <span class="job-state">
      <JobStatus state={pipeline.state} />
      {message && (
        <span class="soft truncate" title={message}>
          {message}
        </span>
      )}
    </span>
  );
}
