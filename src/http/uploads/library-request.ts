/**
 * The request that the TUS library gets. The library takes an upload's ID from the end of the whole URL, query included, and some headers
 * change what a request does. So its URL is built from the authorized ID, and only the headers that the protocol needs are copied.
 */

/** The library builds no link from these, so they are the same for every family. */
const ORIGIN = "http://offcut";
export const UPLOADS_PATH = "/uploads";

/** The TUS 1.0.0 headers that are copied from a HEAD, PATCH or DELETE, with the pattern that their values must match. */
const HEADER_PATTERNS: Record<string, RegExp> = {
  "tus-resumable": /^1\.0\.0$/,
  "upload-offset": /^\d{1,15}$/,
  "content-type": /^application\/offset\+octet-stream$/,
  "content-length": /^\d{1,15}$/,
};

/** Returns the request for the library: `method` on the upload `id`, with the body if it is a PATCH. */
export function createLibraryRequest(request: Request, method: "HEAD" | "PATCH" | "DELETE", id: string): Request {
  const headers = new Headers();
  for (const [name, pattern] of Object.entries(HEADER_PATTERNS)) {
    const value = request.headers.get(name);
    if (value !== null && pattern.test(value)) headers.set(name, value);
  }
  return new Request(`${ORIGIN}${UPLOADS_PATH}/${id}`, {
    method,
    headers,
    signal: request.signal,
    body: method === "PATCH" ? request.body : null,
  });
}
