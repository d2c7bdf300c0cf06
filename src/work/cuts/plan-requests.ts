/** Limits synchronous exports, subtitles and edits: a few at a time, with workspaces taking turns. */
import { queueFull } from "../../domain/errors";
import { createFairSemaphore } from "../../lib/fair-semaphore";
import type { JobChild } from "../job-child/child";
import type { CoreNeeds } from "../needs";

export type PlanNeeds = CoreNeeds & {
  /** Creates the requested timelines, subtitles and edits. */
  planRequests: PlanRequests;
};

const LIMITS = {
  maxRunning: 3,
  /** One slot is left for other workspaces. */
  maxRunningPerKey: 2,
  maxWaiting: 256,
  /** More than the rate limit is likely to admit in a burst from a client that repeats a request. */
  maxWaitingPerKey: 64,
  /** Shorter than the time a connection may be idle. */
  maxWaitMs: 60_000,
};
const RETRY_AFTER_SECONDS = 5;

/** `openChild` starts the child process of a request. */
export function createPlanRequests(openChild: (dir: string) => JobChild) {
  const semaphore = createFairSemaphore(LIMITS, (reason) =>
    queueFull("exports, subtitles and edits are waiting", reason === "key", RETRY_AFTER_SECONDS),
  );
  return {
    /**
     * Runs `work` when it is the workspace's turn, with a child process that can read the asset's folder `dir`. Errors:
     * those of `work`; `rate_limited` and `upstream_unavailable` when too many requests are queued.
     */
    run: <Result>(workspaceId: string, dir: string, work: (child: JobChild) => Promise<Result>) => {
      const runWithChild = async () => {
        await using child = openChild(dir);
        return await work(child);
      };
      return semaphore.run(workspaceId, runWithChild);
    },
  };
}

export type PlanRequests = ReturnType<typeof createPlanRequests>;
