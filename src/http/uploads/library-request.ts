/**
 * The request that the TUS library gets. The library takes an upload's ID from the end of the whole URL, query included, and some headers
 * change what a request does. So it is built from what was authorized and parsed.
 */
import { OFFSET_TYPE, parseUploadOffset, TUS_VERSION } from "./protocol-headers";

/** The library builds no link from these, so they are the same for every family. */
const ORIGIN = "http://offcut";
export const UPLOADS_PATH = "/uploads";

/** Returns the request for the library: `method` on the upload `id`, with offset and body if it is a PATCH. Throws `AppError`. */
export function createLibraryRequest(request: Request, method: "HEAD" | "PATCH" | "DELETE", id: string): Request {
  const headers = new Headers({ "Tus-Resumable": TUS_VERSION });
  const length = request.headers.get("content-length");
  if (length !== null) headers.set("Content-Length", length);
  if (method === "PATCH") {
    headers.set("Content-Type", OFFSET_TYPE);
    headers.set("Upload-Offset", String(parseUploadOffset(request.headers)));
  }
  return new Request(`${ORIGIN}${UPLOADS_PATH}/${id}`, {
    method,
    headers,
    signal: request.signal,
    body: method === "PATCH" ? request.body : null,
  });
}
