/** Runs the check of all files once a week, when the machine has nothing else to do. */
import { toWeek } from "../../domain/scrub";
import { createPoller, type Poller } from "../../lib/poller";
import type { BackupNeeds } from "../backup/backups";
import type { CheckTools } from "./file-check";
import { runScrub, type ScrubOptions } from "./scrub";

/** Delay after a start: frequent restarts must not read the same list of files each time. */
const START_DELAY_MS = 15 * 60 * 1000;
/** After an error, or while the folder is offline. */
const RETRY_MS = 3600 * 1000;

/** Creates the weekly scrubber. `clock`: milliseconds on a monotonic clock. */
export function createScrubber(
  services: BackupNeeds,
  tools: CheckTools,
  { clock = () => performance.now(), ...options }: ScrubOptions & { clock?: () => number },
): Poller {
  const { log, now } = services;
  let notBefore = clock() + START_DELAY_MS;
  let doneWeek: number | null = null;

  async function poll(): Promise<null> {
    const week = toWeek(now());
    if (week === doneWeek || clock() < notBefore) return null;
    const started = clock();
    notBefore = started + RETRY_MS;
    try {
      const { isComplete, ...report } = await runScrub(services, tools, options, poller.signal);
      if (isComplete) doneWeek = week;
      const fields = { ...report, duration_ms: Math.round(clock() - started) };
      log.info(isComplete ? "scrub.completed" : "scrub.paused", fields);
    } catch (error) {
      if (!poller.signal.aborted) throw error;
    }
    return null;
  }

  const poller = createPoller(poll, (error) => log.error("scrub.failed", { error }));
  return poller;
}
