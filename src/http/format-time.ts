export function formatTime(ms: number): string;
export function formatTime(ms: number | null): string | null;
/** Formats milliseconds since 1970 as ISO 8601 in UTC with milliseconds; null stays null. */
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
