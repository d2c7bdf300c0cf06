/** Sends calls of the administration pages. */
import { ApiError, must } from "../../app/api";
import { readPermissions } from "../../app/read-permissions";

/**
 * Returns the body of a response. Throws `ApiError`. If the user is no longer an administrator, reloads the
 * permissions, so that "Page not found" replaces the page.
 */
export async function mustAdmin<Data>(answer: Parameters<typeof must<Data>>[0]): Promise<Data> {
  try {
    return await must(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403 && error.code === "forbidden") await readPermissions();
    throw error;
  }
}
