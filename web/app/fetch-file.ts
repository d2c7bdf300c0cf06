/** Requests files of the API. */

import { ApiError, reportLost, sendToServer, toApiError } from "./api";
import { checkConnection } from "./connection";
import { currentWorkspaceId, toWorkspaceHeader } from "./session";

/** Requests a file of the API in the workspace that pages show, to its end. Throws `ApiError`. */
export async function fetchFile(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = toWorkspaceHeader(currentWorkspaceId());
  const response = await sendToServer(new Request(location.origin + path, { headers, signal: signal ?? null }));
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  try {
    return new Response(await response.blob(), response);
  } catch (error) {
    if (signal?.aborted) throw error;
    // While the server responds, it or a proxy has cut the response short. As a lost connection, the file would be
    // requested again with each check of the connection.
    if (await checkConnection())
      throw new ApiError("The file did not arrive completely. Try again.", "incomplete", 503);
    throw reportLost("GET");
  }
}
