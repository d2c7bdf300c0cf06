/** Formats sizes in bytes with decimal units, as file managers and disk manufacturers do. */

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"] as const;

/**
 * Formats a size in the largest unit of which it has at least one, with at most one decimal: `1.5 GB`, `85 bytes`.
 * `toText` formats the number; the dashboard uses it for the browser's language.
 */
export function formatBytes(bytes: number, toText: (value: number) => string = String): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  const rounded = unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  return `${toText(rounded)} ${UNITS[unit]}`;
}

/**
 * Parses a number of bytes as the headers of uploads have it; null unless it is a non-negative integer without leading
 * zeros. A number larger than any file becomes the largest safe integer, which also exceeds every file's size.
 */
export const parseByteCount = (text: string | null): number | null =>
  text !== null && /^(0|[1-9]\d*)$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : null;
