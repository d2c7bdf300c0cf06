/** The running, waiting and ended jobs of the workspace. */

import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { type PagedList, useOffsetList } from "../../app/cache";
import { openJobs } from "../../app/open-jobs";
import { findCurrentStep, isOpenState, namePipeline, type Pipeline } from "../../app/pipelines";
import { workspace } from "../../app/session";
import { useStatus } from "../../app/shared-reads";
import { type Column, DataTable } from "../../ui/data-table";
import { Segments } from "../../ui/filter-bar";
import { Page } from "../../ui/page";
import { Empty, Message } from "../../ui/states";
import { JOB_STATUS, JobStatus } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { createJobActions, JobCell, JobProgress, StarterCell } from "./job-actions";

const ALL = "all";
const FILTERS: { value: Pipeline["state"] | typeof ALL; label: string }[] = [
  { value: ALL, label: "All" },
  { value: "running", label: JOB_STATUS.running.text },
  { value: "pending", label: JOB_STATUS.pending.text },
  { value: "completed", label: JOB_STATUS.completed.text },
  { value: "failed", label: JOB_STATUS.failed.text },
  { value: "cancelled", label: JOB_STATUS.cancelled.text },
];

export default function JobsPage() {
  const { query, route } = useLocation();
  const chosen = FILTERS.find(({ value }) => value === query.state)?.value ?? ALL;
  const state = chosen === ALL ? null : chosen;
  return (
    <Page title="Jobs">
      <Segments
        class="job-filter"
        label="State"
        value={chosen}
        options={FILTERS}
        onChange={(value) => route(value === ALL ? "/jobs" : `/jobs?state=${value}`, true)}
      />
      <WaitingNotice />
      {(state === null || isOpenState(state)) && <OpenJobs state={state} />}
      {(state === null || !isOpenState(state)) && <EndedJobs state={state} />}
    </Page>
  );
}

/** Explains why jobs are waiting while part of the server is not working. */
const WaitingNotice = () => (openJobs.value.length > 0 ? <ServerNotice /> : null);

function ServerNotice() {
  const status = useStatus({ refreshMs: 30_000 });
  const found = status.state.value;
  if (found.kind !== "ready" || found.value.status === "ok") return null;
  return (
    <Message look="warning" role="status">
      <p>
        {found.value.parts.uploads === "unavailable"
          ? "The server's disk is almost full. Jobs wait until space is available. Saved data is safe."
          : "Part of the server is not working. Jobs may be delayed. Saved data is safe."}{" "}
        <a href="/status">System status</a>
      </p>
    </Message>
  );
}

const createOpenColumns = (list: PagedList<Pipeline>): Column<Pipeline>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (pipeline) => <JobCell pipeline={pipeline} /> },
  { title: "Progress", width: "minmax(0, 1.5fr)", cell: (pipeline) => <OpenState pipeline={pipeline} /> },
  { title: "Started by", cell: (pipeline) => <StarterCell pipeline={pipeline} /> },
  { title: "Since", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  createJobActions(list),
];

/** Running and waiting jobs. */
function OpenJobs({ state }: { state: Pipeline["state"] | null }) {
  const list = usePipelines({ isOpen: true, state });
  const columns = useMemo(() => createOpenColumns(list), [list]);
  return (
    <section class="job-list" aria-labelledby="open-jobs">
      <h2 id="open-jobs">Running and waiting</h2>
      <DataTable
        caption="Running and waiting jobs"
        columns={columns}
        list={list}
        empty={
          state === null ? (
            <p class="soft">No jobs are running or waiting.</p>
          ) : (
            <Empty
              title={state === "pending" ? "No jobs are waiting" : "No jobs are running"}
              icon="jobs"
              link={{ href: "/jobs", label: "Show all jobs" }}
            />
          )
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

const createEndedColumns = (list: PagedList<Pipeline>): Column<Pipeline>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (pipeline) => <JobCell pipeline={pipeline} /> },
  { title: "State", width: "minmax(0, 1.5fr)", cell: (pipeline) => <EndedState pipeline={pipeline} /> },
  { title: "Started by", cell: (pipeline) => <StarterCell pipeline={pipeline} /> },
  { title: "Ended", width: "8rem", cell: ({ finished_at: at }) => at !== null && <RelativeTime iso={at} /> },
  createJobActions(list),
];

const EMPTY_TITLES: Partial<Record<Pipeline["state"], string>> = {
  completed: "No completed jobs",
  failed: "No failed jobs",
  cancelled: "No cancelled jobs",
};

/** Ended jobs, newest first. */
function EndedJobs({ state }: { state: Pipeline["state"] | null }) {
  const list = usePipelines({ isOpen: false, state });
  const columns = useMemo(() => createEndedColumns(list), [list]);
  return (
    <section class="job-list" aria-labelledby="ended-jobs">
      <h2 id="ended-jobs">Ended</h2>
      <DataTable
        caption="Jobs that have ended"
        columns={columns}
        list={list}
        empty={
          state === null ? (
            <NoJobs />
          ) : (
            <Empty title={EMPTY_TITLES[state] ?? ""} icon="jobs" link={{ href: "/jobs", label: "Show all jobs" }} />
          )
        }
      />
    </section>
  );
}

/** Shown while no job has ended. */
const NoJobs = () =>
  openJobs.value.length > 0 ? (
    <p class="soft">No jobs have ended yet.</p>
  ) : (
    <Empty title="No jobs yet" icon="jobs" link={{ href: "/projects", label: "Open projects" }}>
      <p>Uploads, cuts and renders appear here while Offcut works on them.</p>
    </Empty>
  );

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

/** `state` null selects all open or all ended pipelines. */
type PipelineQuery = { isOpen: boolean; state: Pipeline["state"] | null };

/** Loads pipelines of the workspace, newest first. */
const usePipelines = ({ isOpen, state }: PipelineQuery): PagedList<Pipeline> =>
  useOffsetList<Pipeline>(["pipelines", workspace.value?.id, isOpen, state], (page, signal) => {
    const query = {
      ...page,
      is_open: isOpen ? ("true" as const) : ("false" as const),
      ...(state !== null && { state }),
    };
    return must(api.GET("/api/v1/pipelines", { params: { query }, signal }));
  });
