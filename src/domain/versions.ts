/** Release versions such as `1.2.3`. */

/** Compares two versions by their numbers. Negative if `a` is older, zero if they are equal or not versions. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [toNumbers(a), toNumbers(b)];
  if (left === null || right === null) return 0;
  const index = left.findIndex((number, n) => number !== right[n]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}

const toNumbers = (version: string): number[] | null =>
  /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-[\w.-]{1,50})?$/.exec(version)?.slice(1, 4).map(Number) ?? null;
