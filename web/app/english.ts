/**
 * Formats days, times, numbers and lists in English, with the date order, clock and separators of the browser's
 * language. `Intl` provides these, but is not used for American English: its first use takes a browser 20 to 40 ms,
 * which would delay the first screen.
 */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

type DateStyle = { order: "month" | "day" | "year"; hasTwelveHours: boolean };

const AMERICAN: DateStyle = { order: "month", hasTwelveHours: true };

export const isAmerican = (language: string): boolean => language === "en-US" || language === "en";

/** Returns the date order and whether the clock has twelve hours, for a language such as `de-AT`. */
export function readDateStyle(language: string): DateStyle {
  if (isAmerican(language)) return AMERICAN;
  const format = new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
  });
  const first = format.formatToParts(0).find(({ type }) => type === "month" || type === "day" || type === "year");
  const { hourCycle } = format.resolvedOptions();
  return {
    order: first?.type as DateStyle["order"],
    hasTwelveHours: hourCycle === "h11" || hourCycle === "h12",
  };
}

/** Returns the browser's language, which determines the format of dates, numbers and amounts of money. */
export const getLanguage = (): string => globalThis.navigator?.language ?? "en-US";

let ofBrowser: DateStyle | null = null;

const getBrowserStyle = (): DateStyle => {
  ofBrowser ??= readDateStyle(getLanguage());
  return ofBrowser;
};

/** Returns "Jan 31", or "31 Jan" where the day comes first, in the user's time zone. */
export function toMonthDay(time: Date, style = getBrowserStyle()): string {
  const [month, day] = [MONTHS[time.getMonth()], time.getDate()];
  return style.order === "day" ? `${day} ${month}` : `${month} ${day}`;
}

/** Returns "Jan 31, 2027", "31 Jan 2027" or "2027 Jan 31". */
export function toDay(time: Date, style = getBrowserStyle()): string {
  const [day, year] = [toMonthDay(time, style), time.getFullYear()];
  if (style.order === "year") return `${year} ${day}`;
  return style.order === "day" ? `${day} ${year}` : `${day}, ${year}`;
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** Returns "6:00 PM" or "18:00", with seconds "6:00:05 PM" or "18:00:05". */
export function toClock(time: Date, hasSeconds = false, style = getBrowserStyle()): string {
  const hours = time.getHours();
  const seconds = hasSeconds ? `:${pad(time.getSeconds())}` : "";
  if (!style.hasTwelveHours) return `${pad(hours)}:${pad(time.getMinutes())}${seconds}`;
  return `${hours % 12 || 12}:${pad(time.getMinutes())}${seconds} ${hours < 12 ? "AM" : "PM"}`;
}

/** Returns "12,000" or "1.5"; "12.000" or "1,5" if the browser's language writes numbers that way. */
export function toNumber(value: number, language = getLanguage(), american = String(value)): string {
  if (!isAmerican(language)) return value.toLocaleString(language, { numberingSystem: "latn" });
  const [whole = "", ...fraction] = american.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...fraction].join(".");
}

/** Returns "A", "A and B" or "A, B, and C". */
export function toList(names: readonly string[]): string {
  if (names.length < 3) return names.join(" and ");
  return `${names.slice(0, -1).join(", ")}, and ${names.at(-1)}`;
}

export type TimeUnit = "second" | "minute" | "hour" | "day" | "month" | "year";

/** Names of the previous and the next unit of time. */
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
