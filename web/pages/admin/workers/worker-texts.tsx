/** Texts for workers. */
import type { Schemas } from "../../../app/api";
import { toList } from "../../../app/english";
import { formatCount, formatDecimal } from "../../../app/format";
import { STEP_NAMES } from "../../../app/pipelines";
import { Status } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";

export type AdminWorker = Schemas["AdminWorker"];
export type AdminWorkerDetail = Schemas["AdminWorkerDetail"];
type Kind = AdminWorker["current"][number]["kind"];
type Run = AdminWorkerDetail["runs"][number];

export const KIND_NAMES: Record<Kind, string> = {
  prepare: STEP_NAMES.prepare,
  cut: STEP_NAMES.cut,
  render: STEP_NAMES.render,
  split: "Render: plan",
  chunk: "Render: chunk",
  join: "Render: join",
};

const STATE_LOOKS: Record<AdminWorker["state"], { text: string; look: string }> = {
  online: { text: "Online", look: "good" },
  draining: { text: "Draining", look: "waiting" },
  no_redis: { text: "Cannot reach Redis", look: "bad" },
  offline: { text: "Offline", look: "bad" },
};

/** `aborted` includes runs that a revocation ended. Work that was yielded, returned or lost is run again elsewhere. */
const OUTCOME_LOOKS: Record<Run["outcome"], { text: string; look: string }> = {
  completed: { text: "Completed", look: "good" },
  failed: { text: "Failed", look: "bad" },
  yielded: { text: "Made room for another job", look: "" },
  released: { text: "Back in line", look: "" },
  disk_full: { text: "Disk full", look: "bad" },
  aborted: { text: "Stopped", look: "" },
  lost: { text: "Lost", look: "bad" },
};

export const WorkerStatus = ({ worker }: { worker: AdminWorker }) => <Status {...STATE_LOOKS[worker.state]} />;

export const OutcomeStatus = ({ outcome }: { outcome: Run["outcome"] }) => <Status {...OUTCOME_LOOKS[outcome]} />;

/** Returns "2.5 × real time". */
export const formatSpeed = (speed: number | null): string =>
  speed === null ? "Not measured yet" : `${formatDecimal(speed)} × real time`;

const JOB_NAMES: Record<AdminWorker["jobs"][number], string> = {
  prepare: "preparations",
  cut: "cuts",
  render: "renders",
};

/** Returns "preparations and renders". */
export const formatJobs = ({ jobs }: AdminWorker): string => toList(jobs.map((name) => JOB_NAMES[name]));

const SANDBOX_TEXTS: Record<AdminWorkerDetail["sandbox"]["mode"], string> = {
  bwrap: "bwrap",
  unshare: "No network, but other files are readable",
  none: "None",
};

/** Returns the sandbox mode, such as "bwrap", with the reason for a weaker one. */
export const formatSandbox = ({ sandbox: { mode, reason } }: AdminWorkerDetail): string =>
  reason === null ? SANDBOX_TEXTS[mode] : `${SANDBOX_TEXTS[mode]}: ${reason}`;

/** Describes what happens to the current work of a worker that is revoked. */
export const describeRunning = ({ current }: AdminWorker): string =>
  current.length === 0
    ? "It is idle."
    : `Its ${formatCount(current.length, "task")} ${current.length === 1 ? "runs" : "run"} again elsewhere.`;

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
