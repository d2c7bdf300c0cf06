/** The columns for workers. */
import type { Column } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { CurrentRuns } from "./current-runs";
import { type AdminWorker, formatJobs, formatSpeed, WorkerStatus } from "./worker-texts";

export const WORKER_COLUMNS: Column<AdminWorker>[] = [
  { title: "Worker", width: "minmax(0, 2fr)", cell: (worker) => <WorkerCell worker={worker} /> },
  { title: "State", width: "9rem", cell: (worker) => <WorkerStatus worker={worker} /> },
  { title: "Running now", width: "minmax(0, 1.5fr)", cell: (worker) => <CurrentRuns worker={worker} /> },
  { title: "Speed", width: "9rem", cell: ({ speed }) => formatSpeed(speed) },
  { title: "Version", width: "4.5rem", cell: ({ version }) => version },
  { title: "Last seen", width: "7rem", cell: ({ last_seen_at: at }) => <RelativeTime iso={at} /> },
];

function WorkerCell({ worker }: { worker: AdminWorker }) {
  return (
    <div class="two-lines">
      <a class="truncate" href={`/admin/workers/${worker.id}`} title={worker.name}>
        {worker.name}
      </a>
      <span class="soft">
        {worker.slots} at a time: {formatJobs(worker)}
      </span>
    </div>
  );
}
