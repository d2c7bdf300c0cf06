/** Formatting of sizes in bytes. */

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Formats a size in the largest unit that it fills, with at most one decimal: `1.5 GiB`, `85 bytes`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  const rounded = unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  return `${rounded} ${UNITS[unit]}`;
}
