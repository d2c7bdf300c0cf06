/** Downloads files from the API. */
import { ApiError, toApiError } from "./api";
import { reportAnswer, reportNoAnswer } from "./connection";
import { currentWorkspaceId } from "./session";

/** Downloads the file at an address. A name in the response headers takes precedence over `filename`. */
export function openDownload(address: string, filename: string): void {
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

/** Requests a file and downloads it. Throws `ApiError`: a plain link could not show why a request was rejected. */
export async function saveFile(path: string): Promise<void> {
  const workspace = currentWorkspaceId();
  const headers: Record<string, string> = workspace === null ? {} : { "Offcut-Workspace": workspace };
  const response = await fetch(path, { headers, credentials: "same-origin" }).catch(() => {
    reportNoAnswer();
    throw new ApiError("The server does not respond. Check the connection and try again.", "offline", 0);
  });
  reportAnswer();
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  const filename = readFilename(response.headers.get("content-disposition") ?? "");
  saveBlob(await response.blob(), filename);
}

/** Downloads content of this page as a file. */
export function saveBlob(content: Blob, filename: string): void {
  const address = URL.createObjectURL(content);
  openDownload(address, filename);
  // The browser reads the address after this event.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
