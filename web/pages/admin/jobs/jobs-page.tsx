import { useMemo } from "preact/hooks";
import type { JobName } from "../../../../src/domain/jobs";
import type { StepState } from "../../../../src/domain/states";
import { api, type Schemas } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { formatCount, formatDuration, formatShare } from "../../../app/format";
import { STEP_NAMES } from "../../../app/pipelines";
import { isBilled } from "../../../app/session";
import { isOneOf, isUuid, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { type Column, createActionsColumn, DataTable, Truncated } from "../../../ui/data-table";
import { Filter, FilterBar, listChoices } from "../../../ui/filter-bar";
import { Empty } from "../../../ui/states";
import { JOB_STATUS, JobStatus } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { CancelButton } from "../../jobs/job-actions";
import { AdminFrame, mustAdmin, UserCell } from "../admin-frame";

const STATES = listChoices<StepState>("All states", {
  running: JOB_STATUS.running.text,
  pending: JOB_STATUS.pending.text,
  failed: JOB_STATUS.failed.text,
  completed: JOB_STATUS.completed.text,
  cancelled: JOB_STATUS.cancelled.text,
});
const NAMES = listChoices<JobName>("All jobs", {
  prepare: "Preparations",
  cut: "Cuts",
  render: "Renders",
  preview: "Previews",
});

const CHECKS = { state: isOneOf(STATES), name: isOneOf(NAMES), user_id: isUuid, workspace_id: isUuid };

/** The jobs of all workspaces. */
export default function AdminJobsPage() {
  const [query, change] = useQuery(CHECKS);
  const list = useOffsetList<AdminJob>(
    ["admin-jobs", query],
    (page, signal) => {
      const filters = withoutEmpty(query) as { state?: "running"; name?: "cut"; user_id?: string };
      return mustAdmin(api.GET("/api/v1/admin/jobs", { params: { query: { ...page, ...filters } }, signal }));
    },
    { refreshMs: 4_000 },
  );
  const columns = useMemo(() => listColumns(list.reload), [list]);
  const total = list.first.value?.total ?? null;
  const isNarrowed = query.user_id !== "" || query.workspace_id !== "";
  return (
    <AdminFrame title="Jobs of all users">
      <FilterBar>
        <Filter label="State" value={query.state} options={STATES} onChange={(state) => change({ state })} />
        <Filter label="Kind" value={query.name} options={NAMES} onChange={(name) => change({ name })} />
        {isNarrowed && (
          <Button icon="close" onClick={() => change({ user_id: "", workspace_id: "" })}>
            {query.user_id === "" ? "One workspace only" : "One user only"}
          </Button>
        )}
        <span class="spacer" />
        <span class="soft">{total !== null && formatCount(total, "job")}</span>
      </FilterBar>
      <DataTable
        caption="Jobs of all users"
        columns={columns}
        list={list}
        empty={
          Object.values(query).every((value) => value === "") ? (
            <Empty title="No jobs yet" icon="jobs" link={{ href: "/projects", label: "Upload a recording" }} />
          ) : (
            <Empty title={query.state === "running" ? "No jobs are running" : "No matching jobs"} icon="jobs">
              <Button onClick={() => change({ state: "", name: "", user_id: "", workspace_id: "" })}>
                Show all jobs
              </Button>
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}

const listColumns = (onChange: () => Promise<void>): Column<AdminJob>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (job) => <JobCell job={job} /> },
  {
    title: "Started by",
    width: "minmax(0, 1.5fr)",
    cell: (job) => <UserCell user={job.created_by} workspace={job.workspace} />,
  },
  { title: "State", width: "8rem", cell: (job) => <StateCell job={job} /> },
  { title: "Created", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  { title: "Time", width: "4.5rem", isNumber: true, cell: formatTimeTaken },
  createActionsColumn("5.5rem", (job) => <CancelJob job={job} onCancelled={onChange} />),
];

function JobCell({ job }: { job: AdminJob }) {
  const name = nameJobInput(job);
  return (
    <div class="two-lines">
      <span>{STEP_NAMES[job.name]}</span>
      <Truncated class="soft" text={name} />
      {job.error_message !== null && (
        <span class="failure truncate" title={job.error_message}>
          {job.error_message}
        </span>
      )}
    </div>
  );
}

function StateCell({ job }: { job: AdminJob }) {
  return (
    <div class="two-lines state-cell">
      <JobStatus state={job.state} />
      {job.state === "running" && (
        <progress
          class="progress"
          aria-label={`Progress of ${STEP_NAMES[job.name].toLowerCase()} of ${nameJobInput(job)}`}
          max={1}
          value={job.progress ?? 0}
        />
      )}
    </div>
  );
}

function formatTimeTaken({ started_at: from, finished_at: to }: AdminJob): string {
  if (from === null) return "–";
  return formatDuration((Date.parse(to ?? new Date().toISOString()) - Date.parse(from)) / 1000);
}

type CancelJobProps = { job: AdminJob; onCancelled(): Promise<void> };

/** A preparation ends when its recording is deleted, and a preview yields to other jobs. */
const isCancellable = ({ state, name }: AdminJob): boolean =>
  (state === "pending" || state === "running") && (name === "cut" || name === "render");

/** Cancels a job of any user. */
function CancelJob({ job, onCancelled }: CancelJobProps) {
  const name = `${STEP_NAMES[job.name].toLowerCase()} of ${nameJobInput(job)}`;
  const cancel = async () => {
    const params = { path: { job_id: job.id } };
    await mustAdmin(api.POST("/api/v1/admin/jobs/{job_id}/cancel", { params }));
    await onCancelled();
  };
  return (
    <CancelButton jobName={name} isOffered={isCancellable(job)} onConfirm={cancel}>
      The <strong dir="auto">{name}</strong> in the workspace of{" "}
      <strong dir="auto">{job.created_by?.email ?? job.workspace.name}</strong> stops, with the steps after it.
      {job.state === "running" && ` The ${formatShare(job.progress ?? 0)} completed so far is lost.`} The recording is
      kept{isBilled.value && ", held credits are released"}, and the user can start it again.
    </CancelButton>
  );
}

type AdminJob = Schemas["AdminJob"];

/** Returns the name of a job's recording. */
const nameJobInput = ({ input_asset_name: name }: AdminJob): string => name ?? "Unnamed or deleted recording";
