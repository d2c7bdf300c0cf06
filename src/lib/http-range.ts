/** HTTP ranges (RFC 9110, section 14). */

export type ByteRange = { start: number; end: number };

/**
 * Parses a `Range` header for a body of `size` bytes. `end` is inclusive. Null: serve the whole body (no header, another unit, several
 * ranges, invalid syntax). "unsatisfiable": respond with 416.
 */
export function parseRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const match = header?.trim().match(/^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i);
  if (!match) return null;
  const [first, last] = [match[1]!, match[2]!];
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
