/** Days, times, numbers and lists in English. Not `Intl`: its first use in a page takes a browser 20 to 40 ms, before the first screen. Pure. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns "Jan 31", in the user's time zone. */
export const toMonthDay = (time: Date): string => `${MONTHS[time.getMonth()]} ${time.getDate()}`;

/** Returns "Jan 31, 2027". */
export const toDay = (time: Date): string => `${toMonthDay(time)}, ${time.getFullYear()}`;

const pad = (value: number): string => String(value).padStart(2, "0");

/** Returns "6:00 PM", or "6:00:05 PM" with seconds. */
export function toClock(time: Date, hasSeconds = false): string {
  const hours = time.getHours();
  const seconds = hasSeconds ? `:${pad(time.getSeconds())}` : "";
  return `${hours % 12 || 12}:${pad(time.getMinutes())}${seconds} ${hours < 12 ? "AM" : "PM"}`;
}

/** Returns "12,000" for an integer. */
export const toNumber = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** Returns "A", "A and B" or "A, B, and C". */
export function toList(names: readonly string[]): string {
  if (names.length < 3) return names.join(" and ");
  return `${names.slice(0, -1).join(", ")}, and ${names.at(-1)}`;
}

export type TimeUnit = "second" | "minute" | "hour" | "day" | "month" | "year";

/** What one unit back and one unit ahead are called. */
const NEXT: Partial<Record<TimeUnit, [back: string, ahead: string]>> = {
  day: ["yesterday", "tomorrow"],
  month: ["last month", "next month"],
  year: ["last year", "next year"],
};

/** Returns "3 hours ago" for -3 hours, "in 3 hours" for 3, "now" for 0. */
export function toDistance(value: number, unit: TimeUnit): string {
  if (value === 0) return "now";
  const count = Math.abs(value);
  const name = NEXT[unit];
  if (count === 1 && name !== undefined) return value < 0 ? name[0] : name[1];
  const text = `${toNumber(count)} ${unit}${count === 1 ? "" : "s"}`;
  return value < 0 ? `${text} ago` : `in ${text}`;
}
