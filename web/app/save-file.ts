/** Saves files of the API and of this page. */

import { fetchFile } from "./fetch-file";
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
