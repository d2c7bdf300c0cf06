/**
 * Keeps work that the server does not have yet in this browser, for its author: members of a workspace may share a
 * browser.
 */
import { DAY_MS } from "../../src/domain/time";
import { forget, listKeys, recall, remember } from "./memory";
import { me } from "./session";

const MAX_AGE_MS = 30 * DAY_MS;
const KINDS = ["draft", "pacing", "review", "script"] as const;
/** A script and the decisions of a review can still be used later. */
const EXPIRING = /^(draft|pacing)\./;

/** `T` has a JSON form. The methods apply to the values of the signed-in user. */
export type Kept<T> = {
  /** Returns null if the value is missing or damaged. */
  read(id: string): T | null;
  /** `at` is in milliseconds since 1970. Returns false if the browser does not store it: an earlier value stays. */
  write(id: string, value: T, at?: number): boolean;
  clear(id: string): void;
  /** Returns the values whose IDs start with `start`, newest first. */
  list(start: string): { id: string; value: T }[];
};

/** `check` returns whether a stored value has the form of this kind. */
export function createKept<T>(kind: (typeof KINDS)[number], check: (value: unknown) => value is T): Kept<T> {
  const toKey = (id: string): string => `${kind}.${me.peek()?.id ?? ""}.${id}`;
  const readEntry = (id: string): Entry<T> | null => {
    const entry = parseEntry(toKey(id));
    return entry !== null && check(entry.value) ? { ...entry, value: entry.value } : null;
  };
  return {
    read: (id) => readEntry(id)?.value ?? null,
    write: (id, value, at = Date.now()) => remember(toKey(id), JSON.stringify({ at, value })),
    clear: (id) => forget(toKey(id)),
    list: (start) =>
      listKeys(toKey(start))
        .flatMap((key) => {
          const id = key.slice(toKey("").length);
          const entry = readEntry(id);
          return entry === null ? [] : [{ ...entry, id }];
        })
        .toSorted((a, b) => b.at - a.at),
  };
}

type Entry<T> = { at: number; value: T };

/** Earlier versions stored the text of a script, and edits together with their time. */
function parseEntry(key: string): Entry<unknown> | null {
  const text = recall(key);
  const entry = parseJson(text);
  if (typeof entry?.at === "number") {
    const { at, ...rest } = entry;
    return { at, value: "value" in rest ? rest.value : rest };
  }
  // Its age is not known.
  return text !== null && key.startsWith("script.") ? { at: Date.now(), value: text } : null;
}

function parseJson(text: string | null): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? "null") as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

/** Removes the values of all users that are damaged, and drafts and pacing that are older than 30 days. */
export function dropOld(): void {
  for (const key of KINDS.flatMap((kind) => listKeys(`${kind}.`))) {
    const entry = parseEntry(key);
    if (entry === null || (EXPIRING.test(key) && Date.now() - entry.at > MAX_AGE_MS)) forget(key);
  }
}
