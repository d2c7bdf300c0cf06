/** Formats numbers and times for display. */
import { formatBytes as formatBytesWith } from "../../src/domain/bytes";
import { type TimeUnit, toClock, toDay, toDistance, toMonthDay, toNumber } from "./english";

/** Returns `1:02:03` or `2:03` for a duration in seconds. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** Returns `0:02.40`, or `1:00:02.40`, for a position in a recording. */
export function formatTimecode(seconds: number): string {
  const hundredths = Math.max(0, Math.round(seconds * 100));
  const fraction = String(hundredths % 100).padStart(2, "0");
  const whole = Math.floor(hundredths / 100);
  return `${formatDuration(whole)}.${fraction}`;
}

/** Returns "0.4 s" or "2:03" for the time between two points in time. */
export function formatElapsed(start: string, end: string): string {
  const seconds = Math.max(0, Date.parse(end) - Date.parse(start)) / 1000;
  return seconds < 0.1 ? "less than 0.1 s" : formatLength(seconds);
}

/** Returns "5.2 s" or "2:03" for a length in seconds. */
export const formatLength = (seconds: number): string =>
  seconds < 60 ? `${formatDecimal(seconds)} s` : formatDuration(seconds);

/** Returns "45 seconds", "1 min 40 s" or, from three minutes on, "30 minutes" for a length in seconds. */
export function formatMinutes(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return formatCount(whole, "second");
  if (whole >= 180 || whole % 60 === 0) return formatCount(Math.round(seconds / 60), "minute");
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Returns a day such as "Jan 31, 2027" in the order of the browser's language, in the user's time zone. */
export const formatDay = (time: string | Date): string => toDay(new Date(time));

/** Returns a day of this year without the year: "Jan 31". */
export const formatShortDay = (time: Date): string =>
  time.getFullYear() === new Date().getFullYear() ? toMonthDay(time) : toDay(time);

/** Returns a time such as "Jan 31, 2027, 6:00 PM", in the user's time zone. */
export const formatTime = (time: string | Date): string => toDayAndClock(new Date(time), false);

/** Returns a time with its seconds, for logs. */
export const formatExactTime = (time: string | Date): string => toDayAndClock(new Date(time), true);

const toDayAndClock = (time: Date, hasSeconds: boolean): string => `${toDay(time)}, ${toClock(time, hasSeconds)}`;

/** Returns a size such as `1.2 GB`, with a no-break space. */
export const formatBytes = (bytes: number): string => formatBytesWith(bytes, toNumber).replace(" ", "\u00a0");

/** Returns a number with one decimal place, such as "1.5"; from 10 on, without, such as "15". */
export const formatDecimal = (value: number): string =>
  toNumber(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

/**
 * Returns "34%" for a share of 0.345. Rounds down, so that unfinished work is never shown as 100%. A share of nothing
 * is "0%".
 */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return "0%";
  // 0.29 * 100 is slightly below 29.
  const percent = Math.floor(share * 100 + 1e-9);
  return `${toNumber(share < 1 ? Math.min(99, percent) : percent)}%`;
}

/** Returns "35%" for a confidence of 0.345. */
export const formatConfidence = (confidence: number): string => `${toNumber(Math.round(confidence * 100))}%`;

const STEPS: [TimeUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
];

/** Returns "3 hours ago" for a time; `now` in milliseconds since 1970. */
export function formatRelative(iso: string, now: number): string {
  let value = (Date.parse(iso) - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(value) < size) return toDistance(Math.trunc(value), unit);
    value /= size;
  }
  return toDistance(Math.trunc(value), "year");
}

/** Returns "20 s left", "4 min left" or "2.5 h left" for a remaining time in seconds. */
export function formatRemaining(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min left`;
  return `${formatDecimal(seconds / 3600)} h left`;
}

/** Returns "1 word", "12 words". */
export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${toNumber(count)} ${count === 1 ? noun : plural}`;

/** Returns the name of a recording, or its file name if it was not renamed. */
export const nameOf = ({ name, filename }: { name?: string | null; filename?: string | null }): string =>
  name ?? filename ?? "Unnamed recording";
