/** Parsing of ISO 8601 times. */

const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * Parses a date (`2027-01-31`, 00:00 UTC of that day) or a date and time (`2027-01-31T18:30`, with optional seconds,
 * fraction and offset; UTC without an offset). Returns milliseconds since 1970; null for invalid text or a date that
 * does not exist.
 */
export function parseIsoTime(text: string): number | null {
  const match = ISO_TIME.exec(text.trim());
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0));
  const fraction = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000);
  const local = Date.UTC(year!, month! - 1, day, hour, minute, second, fraction);
  // Without this check, invalid values (February 30, 25 h) would roll over.
  const [, , , , hours = "00", minutes = "00", seconds = "00"] = match;
  const isReal = new Date(local)
    .toISOString()
    .startsWith(`${match.slice(1, 4).join("-")}T${hours}:${minutes}:${seconds}.`);
  const offset = parseOffsetMs(match[8] ?? "Z");
  return isReal && offset !== null ? local - offset : null;
}

function parseOffsetMs(text: string): number | null {
  if (text.toUpperCase() === "Z") return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
