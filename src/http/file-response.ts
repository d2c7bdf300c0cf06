/** Replies with files: validators, and ranges of bytes (RFC 9110). */
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

/** Maximum length of a header with one range. */
const MAX_HEADER_CHARACTERS = 100;

type ByteRange = { start: number; end: number };

/**
 * Parses a `Range` header for a body of `size` bytes. `end` is inclusive. Null means to serve the whole body (no
 * header, another unit, several ranges, invalid syntax, too long), "unsatisfiable" to respond with 416.
 */
export function parseRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  if (header === null || header.length > MAX_HEADER_CHARACTERS) return null;
  const [unit, range = "", ...others] = header.split("=").map((part) => part.trim());
  if (unit?.toLowerCase() !== "bytes" || others.length > 0) return null;
  const [first = "", last = "", ...more] = range.split("-").map((part) => part.trim());
  if (more.length > 0 || !/^\d*$/.test(first + last)) return null;
  if (!first && !last) return null;
  if (!first) {
    const length = Number(last);
    if (length === 0 || size === 0) return "unsatisfiable";
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (start >= size) return "unsatisfiable";
  const end = last ? Math.min(Number(last), size - 1) : size - 1;
  // RFC 9110 14.1.1: a last position before the first makes the header invalid, and invalid headers are ignored.
  return end < start ? null : { start, end };
}
