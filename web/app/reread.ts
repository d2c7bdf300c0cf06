/** Refreshes pages when an action fails because they are outdated. */
import { ApiError } from "./api";

/** Statuses for resources that were deleted or changed elsewhere, or that the user may no longer change. */
const OUTDATED = [403, 404, 409];

/**
 * Returns the result of an action. If it is rejected because the page is outdated, also calls `reread`. Rethrows the
 * error.
 */
export async function orReread<Result>(action: Promise<Result>, reread: () => unknown): Promise<Result> {
  try {
    return await action;
  } catch (error) {
    if (error instanceof ApiError && OUTDATED.includes(error.status)) void reread();
    throw error;
  }
}
