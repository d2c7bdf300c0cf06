/** Timelines, subtitles and edits are made while their request waits: a few at a time, and users take turns. */
import { AppError } from "../domain/errors";
import { createFairSemaphore, SemaphoreFullError } from "../lib/fair-semaphore";

export type PlanRequests = {
  /** Runs `work` when it is the user's turn. Errors: those of `work`; `rate_limited` and `upstream_unavailable` when too many requests wait. */
  run<Result>(userId: string, work: () => Promise<Result>): Promise<Result>;
};

const MAX_RUNNING = 3;
/** One place is left for somebody else. */
const MAX_RUNNING_PER_USER = 2;
const MAX_WAITING = 256;
/** More than the rate limit is likely to let through at once of one client that sends the same request again. */
const MAX_WAITING_PER_USER = 64;
/** Shorter than a connection may be without traffic. */
const MAX_WAIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;

export function createPlanRequests(): PlanRequests {
  const semaphore = createFairSemaphore({
    maxRunning: MAX_RUNNING,
    maxRunningPerKey: MAX_RUNNING_PER_USER,
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_PER_USER,
    maxWaitMs: MAX_WAIT_MS,
  });
  return {
    run: (userId, work) =>
      semaphore.run(userId, work).catch((error) => {
        throw error instanceof SemaphoreFullError ? toAppError(error) : error;
      }),
  };
}

function toAppError({ reason }: SemaphoreFullError): AppError {
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return reason === "key"
    ? new AppError(
        "rate_limited",
        "Too many exports, subtitles and edits of this account are waiting. Try again later.",
        details,
      )
    : new AppError(
        "upstream_unavailable",
        "Too many exports, subtitles and edits are waiting. Try again later.",
        details,
      );
}
