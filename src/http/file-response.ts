/** Replies with files: validators, and ranges of bytes (RFC 9110). */
import { parseRange } from "../lib/http-range";
import type { Reply } from "./call";

/** `etag` is quoted. `modifiedAt` is in milliseconds since 1970. */
export type ServedFile = { file: Blob; etag: string; modifiedAt: number; headers: Record<string, string> };

/** Returns whether an `If-None-Match` header contains this ETag. */
export const matchesEtag = (header: string | null, etag: string): boolean =>
  (header ?? "").split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, "")));

/** Returns the reply to a GET or HEAD request of a file: 200, 206, 304 or 416. */
export function replyWithFile(request: Request, { file, etag, modifiedAt, headers }: ServedFile): Reply {
  const { size } = file;
  const shared = {
    ...headers,
    "Accept-Ranges": "bytes",
    "Last-Modified": new Date(modifiedAt).toUTCString(),
    ETag: etag,
  };
  if (matchesEtag(request.headers.get("if-none-match"), etag)) return { status: 304, headers: shared };
  const condition = request.headers.get("if-range");
  const isSame = condition === null || condition === etag || condition === shared["Last-Modified"];
  const range = isSame ? parseRange(request.headers.get("range"), size) : null;
  if (range === "unsatisfiable") return { status: 416, headers: { ...shared, "Content-Range": `bytes */${size}` } };
  if (range === null) return { status: 200, file, headers: { ...shared, "Content-Length": String(size) } };
  const { start, end } = range;
  return {
    status: 206,
    file: file.slice(start, end + 1),
    headers: {
      ...shared,
      "Content-Length": String(end - start + 1),
      "Content-Range": `bytes ${start}-${end}/${size}`,
    },
  };
}
