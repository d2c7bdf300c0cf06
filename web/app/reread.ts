/** Keeps pages true when an action fails. */
import { ApiError } from "./api";

/** Of what was deleted or changed elsewhere, or may not be changed any more. */
const OUTDATED = [403, 404, 409];

/** Returns what an action returns. If it is refused because the page is outdated, `reread` is called, and the error is thrown all the same. */
export async function orReread<Result>(action: Promise<Result>, reread: () => unknown): Promise<Result> {
  try {
    return await action;
  } catch (error) {
    if (error instanceof ApiError && OUTDATED.includes(error.status)) void reread();
    throw error;
  }
}
