/** The columns for the jobs of all users. */

import { api } from "../../../app/api";
import { formatDuration } from "../../../app/format";
import { STEP_NAMES } from "../../../app/pipelines";
import { isBilled } from "../../../app/session";
import type { Column } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { JobStatus } from "../../../ui/status";
import { CancelButton } from "../../jobs/cancel-button";
import { mustAdmin } from "../admin-api";
import { UserCell } from "../user-cell";
import { type AdminJob, nameJobInput } from "./job-texts";

export const listColumns = (onChange: () => Promise<void>): Column<AdminJob>[] => [
  { title: "Job", width: "minmax(0, 2fr)", cell: (job) => <JobCell job={job} /> },
  {
    title: "Started by",
    width: "minmax(0, 1.5fr)",
    cell: (job) => <UserCell user={job.created_by} workspace={job.workspace} />,
  },
  { title: "State", width: "8rem", cell: (job) => <StateCell job={job} /> },
  { title: "Created", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  { title: "Time", width: "4.5rem", isNumber: true, cell: formatTimeTaken },
  {
    title: "Actions",
    width: "5.5rem",
    isTitleHidden: true,
    cell: (job) => <CancelJob job={job} onCancelled={onChange} />,
  },
];

function JobCell({ job }: { job: AdminJob }) {
  const name = nameJobInput(job);
  return (
    <div class="two-lines">
      <span>{STEP_NAMES[job.name]}</span>
      <span class="soft truncate" title={name} dir="auto">
        {name}
      </span>
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
      {job.state === "running" && ` The ${Math.round((job.progress ?? 0) * 100)}% completed so far is lost.`} The
      recording is kept{isBilled.value && ", held credits are released"}, and the user can start it again.
    </CancelButton>
  );
}
