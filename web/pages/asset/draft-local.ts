/**
 * Local copies of drafts. Each tab writes its own copy on each change, and removes it when the server has the same
 * edits. The next tab that opens the cut takes over the copy of a closed tab.
 */
import { forget, listKeys, recall, remember } from "../../app/memory";
import { session } from "../../app/session";
import type { DraftSource } from "../../editor/model/history";
import { isSameEdit } from "./draft-choice";
import type { Draft } from "./draft-server";

/** `at` is the time of the last edit, in milliseconds since 1970. */
type Copy = Draft & { at: number };

const MAX_AGE_MS = 30 * 24 * 3_600_000;
const PREFIX = "draft.";
const TAB = String(Math.random()).slice(2);

const toPrefix = (cutId: string): string => {
  const { value } = session;
  return `${PREFIX}${value.kind === "signed-in" ? value.me.id : ""}.${cutId}.`;
};
const toKey = (cutId: string): string => toPrefix(cutId) + TAB;

/** Without room for what the edits were made in, the copy has the edits alone. */
export function keepLocal(cutId: string, { base = null, ...draft }: Draft, at: number): void {
  const key = toKey(cutId);
  const isKept = base !== null && remember(key, JSON.stringify({ ...draft, base, at }));
  if (!isKept) remember(key, JSON.stringify({ ...draft, at }));
}
export const forgetLocal = (cutId: string): void => forget(toKey(cutId));

const isEdit = (value: DraftSource | null | undefined): value is DraftSource =>
  Array.isArray(value?.segments) && Array.isArray(value.texts);

function read(key: string): Copy | null {
  try {
    const copy = JSON.parse(recall(key) ?? "null") as Copy | null;
    if (!isEdit(copy) || typeof copy.at !== "number") return null;
    return isEdit(copy.base) ? copy : { ...copy, base: null };
  } catch {
    return null;
  }
}

/** Returns the copies of a cut, newest first. Also removes damaged and old copies of all cuts. */
export function recallLocal(cutId: string): Draft[] {
  const found: Copy[] = [];
  for (const key of listKeys(PREFIX)) {
    const copy = read(key);
    if (copy === null || Date.now() - copy.at > MAX_AGE_MS) forget(key);
    else if (key.startsWith(toPrefix(cutId))) found.push(copy);
  }
  return found.toSorted((a, b) => b.at - a.at).map(({ at: _, ...draft }) => draft);
}

/** Removes all tabs' copies that contain the same edits. */
export function forgetSame(cutId: string, draft: Draft): void {
  for (const key of listKeys(toPrefix(cutId))) {
    const copy = read(key);
    if (copy !== null && isSameEdit(copy, draft)) forget(key);
  }
}

/** Takes over a copy that another tab has left. */
export function adoptLocal(cutId: string, draft: Draft): void {
  forgetSame(cutId, draft);
  keepLocal(cutId, draft, Date.now());
}
