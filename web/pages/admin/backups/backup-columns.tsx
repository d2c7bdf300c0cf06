/** The columns for backups, verifications and drills. */
import { formatBytes, formatElapsed } from "../../../app/format";
import type { Column } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { JobStatus } from "../../../ui/status";
import { type BackupRun, formatFigures, KIND_NAMES } from "./backup-texts";
import { VerifyButton } from "./verify-button";

export const listColumns = (onStarted: () => Promise<void>): Column<BackupRun>[] => [
  { title: "Run", width: "minmax(0, 3fr)", cell: (run) => <RunCell run={run} /> },
  { title: "State", width: "7rem", cell: ({ state }) => <JobStatus state={state} /> },
  { title: "Started", width: "8rem", cell: ({ started_at }) => <RelativeTime iso={started_at} /> },
  { title: "Time", width: "6rem", isNumber: true, cell: formatTimeTaken },
  { title: "Size", width: "6rem", isNumber: true, cell: ({ bytes }) => (bytes === null ? "–" : formatBytes(bytes)) },
  {
    title: "Actions",
    width: "5.5rem",
    isTitleHidden: true,
    cell: (run) => <VerifyButton run={run} onStarted={onStarted} />,
  },
];

function RunCell({ run }: { run: BackupRun }) {
  const figures = run.error === null ? formatFigures(run) : "";
  return (
    <div class="two-lines">
      <span>{KIND_NAMES[run.kind]}</span>
      <span class="soft truncate" title={run.path}>
        {run.name ?? run.path}
      </span>
      {figures !== "" && <span class="soft">{figures}</span>}
      {run.error !== null && <span class="failure run-error">{run.error}</span>}
    </div>
  );
}

const formatTimeTaken = ({ started_at, ended_at }: BackupRun): string =>
  ended_at === null ? "–" : formatElapsed(started_at, ended_at);
