/** Formatting of sizes in bytes, in decimal units as file managers and disks have them. */

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"] as const;

/**
 * Formats a size in the largest unit that it fills, with at most one decimal: `1.5 GB`, `85 bytes`. `toText` formats the number, which the
 * dashboard does for the browser's language.
 */
export function formatBytes(bytes: number, toText: (value: number) => string = String): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  const rounded = unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  return `${toText(rounded)} ${UNITS[unit]}`;
}
