/**
 * The request that the TUS library sees. The library takes an upload's id from the end of the whole URL, query included, and reads headers
 * that change what a call does: it gets a URL made of the authorized id, and only the headers that the protocol needs.
 */

/** Any origin will do: the library makes no link out of it. */
const ORIGIN = "http://offcut";

/** Where transfer URLs are mounted. */
export const UPLOADS_PATH = "/v1/uploads";

/** Headers of TUS 1.0.0 that a HEAD, PATCH or DELETE may carry here, with the form that their values must have. */
const HEADER_PATTERNS: Record<string, RegExp> = {
  "tus-resumable": /^1\.0\.0$/,
  "upload-offset": /^\d{1,15}$/,
  "content-type": /^application\/offset\+octet-stream$/,
  "content-length": /^\d{1,15}$/,
};

/** Returns the request for the library: `method` on the upload `id`, with the body of a PATCH. */
export function createLibraryRequest(request: Request, method: "HEAD" | "PATCH" | "DELETE", id: string): Request {
  const headers = new Headers();
  for (const [name, form] of Object.entries(HEADER_PATTERNS)) {
    const value = request.headers.get(name);
    if (value !== null && form.test(value)) headers.set(name, value);
  }
  return new Request(`${ORIGIN}${UPLOADS_PATH}/${id}`, {
    method,
    headers,
    signal: request.signal,
    body: method === "PATCH" ? request.body : null,
  });
}
