/** HTTP ranges (RFC 9110, section 14). */

/** Maximum length of a header with one range. */
const MAX_HEADER_CHARACTERS = 100;

export type ByteRange = { start: number; end: number };

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
