/**
 * The copies of drafts in this browser. Each tab writes its own at each change, and removes it when the server has the same. What a closed tab has
 * left is taken over by the next one that opens the cut.
 */
import { forget, listKeys, recall, remember } from "../../app/memory";
import { session } from "../../app/session";
import { isSameEdit } from "./draft-choice";
import type { Draft } from "./draft-server";

/** `at`: when it was edited last, in milliseconds since 1970. */
type Copy = Draft & { at: number };

const MAX_AGE_MS = 30 * 24 * 3_600_000;
const PREFIX = "draft.";
const TAB = String(Math.random()).slice(2);

const toPrefix = (cutId: string): string => {
  const { value } = session;
  return `${PREFIX}${value.kind === "signed-in" ? value.me.id : ""}.${cutId}.`;
};
const toKey = (cutId: string): string => toPrefix(cutId) + TAB;

export const keepLocal = (cutId: string, draft: Draft, at: number): void =>
  remember(toKey(cutId), JSON.stringify({ ...draft, at }));
export const forgetLocal = (cutId: string): void => forget(toKey(cutId));

function read(key: string): Copy | null {
  try {
    const copy = JSON.parse(recall(key) ?? "null") as Copy | null;
    return Array.isArray(copy?.segments) && Array.isArray(copy.texts) && typeof copy.at === "number" ? copy : null;
  } catch {
    return null;
  }
}

/** Returns the copies of a cut, newest first. Damaged and old ones of all cuts are removed. */
export function recallLocal(cutId: string): Draft[] {
  const found: Copy[] = [];
  for (const key of listKeys(PREFIX)) {
    const copy = read(key);
    if (copy === null || Date.now() - copy.at > MAX_AGE_MS) forget(key);
    else if (key.startsWith(toPrefix(cutId))) found.push(copy);
  }
  return found.toSorted((a, b) => b.at - a.at).map(({ at: _, ...draft }) => draft);
}

/** Removes the copies that edit the cut in the same way, of all tabs. */
export function forgetSame(cutId: string, draft: Draft): void {
  for (const key of listKeys(toPrefix(cutId))) {
    const copy = read(key);
    if (copy !== null && isSameEdit(copy, draft)) forget(key);
  }
}

/** Makes a copy that another tab has left that of this tab. */
export function adoptLocal(cutId: string, draft: Draft): void {
  forgetSame(cutId, draft);
  keepLocal(cutId, draft, Date.now());
}
