/** The columns for the jobs of all users. */
import { formatDuration } from "../../../app/format";
import { STEP_NAMES } from "../../../app/pipelines";
import type { Column } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { JobStatus } from "../../../ui/status";
import { UserCell } from "../user-cell";
import { CancelJob } from "./cancel-job";
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
