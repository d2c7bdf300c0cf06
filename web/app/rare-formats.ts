/** Formats that the first page does not need. */
import { getLanguage, isAmerican, toNumber } from "./english";

/** Returns a number with exactly this many decimal places: "1.50", or "1,50" where numbers are written that way. */
export function toFixedNumber(value: number, digits: number, language = getLanguage()): string {
  if (isAmerican(language)) return toNumber(value, language, value.toFixed(digits));
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(language, { numberingSystem: "latn", ...places });
}

/** Returns the name of a language: "German" for `de`. An unknown code stays as it is. */
export const nameLanguage = (code: string): string => findLanguageName(code) ?? code;

/** Returns the English name of a language; null for an unknown code. */
export const findLanguageName = (code: string): string | null =>
  new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(code) ?? null;

/** Returns these languages as options of a field, by name. */
export const listLanguages = (codes: readonly string[]): { value: string; label: string }[] =>
  codes
    .map((value) => ({ value, label: nameLanguage(value) }))
    .sort((one, other) => one.label.localeCompare(other.label));

/** Returns the value of a date field for a time, in the user's time zone. */
export function toDateValue(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** Splits a text at commas, such as "interview, day 1". */
export const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);

const ORDINAL_SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

/** Returns "3rd". */
export function toOrdinal(place: number): string {
  const rule = new Intl.PluralRules("en", { type: "ordinal" }).select(place);
  return `${place}${ORDINAL_SUFFIXES[rule] ?? "th"}`;
}

/** Returns a number rounded to at most this many decimal places, such as "1.5" or "29.97". */
export const formatRounded = (value: number, digits: number): string => toNumber(Number(value.toFixed(digits)));

/** Returns a level in decibels with one decimal place and a minus sign: "−14.0". */
export const formatLevel = (value: number): string => toFixedNumber(value, 1).replace("-", "−");

type Price = {
  amount: number;
  currency: string;
  interval: "month" | "year" | null;
  provider: "offline" | "stripe";
};

/** Offline orders cover one period; only the payment provider renews a subscription. */
const PERIODS = {
  offline: { month: " for one month", year: " for one year" },
  stripe: { month: " a month", year: " a year" },
};

/**
 * Formats an amount given in the smallest unit of its currency: 1250 EUR become €12.50, or 12,50 € in the browser's
 * language.
 */
export function formatAmount(amount: number, currency: string, language = getLanguage()): string {
  const format = new Intl.NumberFormat(language, { style: "currency", currency, numberingSystem: "latn" });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** Returns a price with its period: "€19.00 a month", or "€19.00 for one month" if it does not renew. */
export const formatPrice = ({ amount, currency, interval, provider }: Price): string =>
  `${formatAmount(amount, currency)}${interval === null ? "" : PERIODS[provider][interval]}`;

type RemainingTime = {
  /** Takes the progress from 0 to 1 at a time in milliseconds. Returns the remaining seconds; null while unknown. */
  update(id: string, progress: number, now: number): number | null;
};

const MIN_PROGRESS = 0.01;
const MIN_ELAPSED_MS = 1_500;

export function createRemainingTime(): RemainingTime {
  const first = new Map<string, { progress: number; at: number }>();
  return {
    update: (id, progress, now) => {
      const seen = first.get(id);
      // A restarted job begins with less progress.
      if (seen === undefined || progress < seen.progress) {
        first.set(id, { progress, at: now });
        return null;
      }
      const [done, elapsed] = [progress - seen.progress, now - seen.at];
      if (done < MIN_PROGRESS || elapsed < MIN_ELAPSED_MS) return null;
      return ((1 - progress) * elapsed) / done / 1000;
    },
  };
}
