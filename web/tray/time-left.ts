/** Returns "20 s left", "4 min left" or "2 h left". */
export function describeLeft(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min left`;
  return `${Math.round(seconds / 3_600)} h left`;
}
