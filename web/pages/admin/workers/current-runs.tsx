import { RelativeTime } from "../../../ui/time";
import { type AdminWorker, KIND_NAMES } from "./worker-texts";

/** Shows the current work of a worker with its progress. */
export function CurrentRuns({ worker }: { worker: AdminWorker }) {
  if (worker.current.length === 0) return <span class="soft">Nothing</span>;
  return (
    <ul class="plain-list current-runs">
      {worker.current.map((run) => (
        <li key={run.id} class="state-cell two-lines">
          <span>
            {KIND_NAMES[run.kind]}{" "}
            <span class="soft">
              <RelativeTime iso={run.started_at} />
            </span>
          </span>
          <progress
            class="progress"
            aria-label={`Progress of ${KIND_NAMES[run.kind].toLowerCase()} on ${worker.name}`}
            max={1}
            value={run.progress ?? 0}
          />
        </li>
      ))}
    </ul>
  );
}
