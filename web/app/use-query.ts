/**
 * Keeps the filters of a page in its address, so that they survive a reload, can be linked, and follow the back button.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_SEARCH_CHARACTERS } from "../../src/domain/field-limits";

type Query<Name extends string> = Record<Name, string>;
type Check = (value: string) => boolean;

export const isSearch: Check = (value) => value.length <= MAX_SEARCH_CHARACTERS;
export const isDay: Check = (value) => toDayStart(value, 0) !== "";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const isUuid: Check = (value) => UUID.test(value);
export const isOneOf =
  (options: readonly { value: string }[]): Check =>
  (text) =>
    options.some(({ value }) => value === text);

/**
 * Returns the query parameters of the address, and a function that changes some of them. A parameter that is missing or
 * fails its check, as in a truncated link, is "".
 */
export function useQuery<Name extends string>(
  checks: Record<Name, Check>,
): [query: Query<Name>, change: (values: Partial<Query<Name>>) => void] {
  const { path, query, route } = useLocation();
  const toValue = ([name, check]: [string, unknown]) => {
    const value = query[name] ?? "";
    return [name, (check as Check)(value) ? value : ""];
  };
  const current = Object.fromEntries(Object.entries(checks).map(toValue)) as Query<Name>;
  const change = (values: Partial<Query<Name>>) => {
    const kept = Object.entries({ ...current, ...values }).filter(([, value]) => value !== "") as [string, string][];
    const search = new URLSearchParams(kept).toString();
    route(search === "" ? path : `${path}?${search}`, true);
  };
  return [current, change];
}

const TYPING_MS = 200;

/** Returns the text of a search field and its setter. Calls `onPause` with the text when the user stops typing. */
export function useTyping(value: string, onPause: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  // The callback of the keystroke may be outdated: another filter may have changed since.
  const latest = useRef(onPause);
  latest.current = onPause;
  // The browser's back button also changes the value.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => latest.current(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}

/** Removes the request parameters that are "". */
export const withoutEmpty = <Values extends Record<string, string>>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")) as Partial<Values>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MAX_YEAR = 9999;

/**
 * Returns the start of the day `daysLater` days after a day such as `2027-01-31`, in the user's time zone. Returns ""
 * for a day that does not exist or is after the year 9999. Days on which clocks change have 23 or 25 hours. Pure.
 */
export function toDayStart(day: string, daysLater: number): string {
  if (!DAY.test(day)) return "";
  const [year = Number.NaN, month = Number.NaN, date = Number.NaN] = day.split("-").map(Number);
  const isInCalendar = new Date(year, month - 1, date).getDate() === date && month >= 1 && month <= 12;
  const start = new Date(year, month - 1, date + daysLater);
  return isInCalendar && start.getUTCFullYear() <= MAX_YEAR ? start.toISOString() : "";
}

/** Decodes percent-encoded text. Returns null if it is malformed, as in a truncated address. Pure. */
export function decodeText(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Returns the path of a link to this server; a path stays as it is. Links use the server's public address, which may
 * differ from the address that opened this page.
 */
export function toLocalAddress(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return `${pathname}${search}`;
}
