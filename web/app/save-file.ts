/** Requests files of the API, and saves them. */

import { ApiError, reportLost, sendToServer, toApiError } from "./api";
import { isReachable } from "./connection";
import { currentWorkspaceId, toWorkspaceHeader } from "./session";
import { toLocalAddress } from "./use-query";

/** Downloads the file of a link to this server. A name in the response headers takes precedence over `filename`. */
export const openDownload = (link: string, filename: string): void => download(toLocalAddress(link), filename);

function download(address: string, filename: string): void {
  const link = document.createElement("a");
  link.href = address;
  // The router ignores links that have the attribute `download`.
  link.download = filename || "download";
  document.body.append(link);
  link.click();
  link.remove();
}

const FILENAME = /filename\*=UTF-8''([^;]+)|filename="([^"]*)"/i;

function readFilename(header: string): string {
  const [, encoded, plain = ""] = FILENAME.exec(header) ?? [];
  return encoded === undefined ? plain : decodeURIComponent(encoded);
}

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
    if (await isReachable()) throw new ApiError("The file did not arrive completely. Try again.", "incomplete", 503);
    throw reportLost("GET");
  }
}

/** Requests a file and downloads it. Throws `ApiError`: a plain link could not show why a request was rejected. */
export async function saveFile(path: string): Promise<void> {
  const response = await fetchFile(path);
  const filename = readFilename(response.headers.get("content-disposition") ?? "");
  saveBlob(await response.blob(), filename);
}

/** Downloads content of this page as a file. */
export function saveBlob(content: Blob, filename: string): void {
  const address = URL.createObjectURL(content);
  download(address, filename);
  // The browser reads the address after this event.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
