/** What a page filters by, kept in its address: it survives a reload, can be linked, and goes back with the browser. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

type Query<Name extends string> = Record<Name, string>;

/** Returns the query parameters of the address, "" for those that are absent, and a function that changes some of them. */
export function useQuery<Name extends string>(
  names: readonly Name[],
): [query: Query<Name>, change: (values: Partial<Query<Name>>) => void] {
  const { path, query, route } = useLocation();
  const current = Object.fromEntries(names.map((name) => [name, query[name] ?? ""])) as Query<Name>;
  const change = (values: Partial<Query<Name>>) => {
    const kept = Object.entries({ ...current, ...values }).filter(([, value]) => value !== "") as [string, string][];
    const search = new URLSearchParams(kept).toString();
    route(search === "" ? path : `${path}?${search}`, true);
  };
  return [current, change];
}

const TYPING_MS = 200;

/** Returns the text of a search field and its setter. `onPause` is called with it when the user stops typing. */
export function useTyping(value: string, onPause: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  // Not that of the keystroke: another filter may have changed since.
  const latest = useRef(onPause);
  latest.current = onPause;
  // Going back in the browser changes the value, too.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => latest.current(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}

/** Leaves out the parameters of a request that are "". */
export const withoutEmpty = <Values extends Record<string, string>>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")) as Partial<Values>;
