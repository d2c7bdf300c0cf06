/** Formats that no first page needs: of numbers with fixed places, languages and places in a line. */
import { getLanguage, isAmerican, toNumber } from "./english";

/** Returns a number with exactly this many decimal places: "1.50", or "1,50" where numbers are written that way. */
export function toFixedNumber(value: number, digits: number, language = getLanguage()): string {
  if (isAmerican(language)) return toNumber(value, language, value.toFixed(digits));
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(language, { numberingSystem: "latn", ...places });
}

/** Returns the name of a language: "German" for `de`. An unknown code stays as it is. */
export const nameLanguage = (code: string): string =>
  new Intl.DisplayNames("en", { type: "language", fallback: "code" }).of(code) ?? code;

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
