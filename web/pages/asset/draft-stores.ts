/** The draft of a cut: on the server, the unsent copies in this browser, and which of them is opened. */
import { DAY_MS } from "../../../src/domain/time";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { forget, listKeys, recall, remember } from "../../app/memory";
import { me, session } from "../../app/session";
import type { DraftSource } from "../../editor/model/history";
import type { Places } from "../../editor/model/merge";

/** `revision` is 0 without a draft. Copies in the browser lack the user and the time. */
export type Draft = DraftSource & {
  revision: number;
  updated_at?: string;
  updated_by?: { id: string; name: string | null } | null;
  /** Only for a copy in the browser: the draft on the server in which its edits were made; null for the stored cut. */
  base?: DraftSource | null;
};

/** Returns "by Bruno Meier", "from another tab" or "by somebody else". */
export function describeAuthor({ updated_by }: Pick<Draft, "updated_by">): string {
  if (updated_by === undefined || updated_by?.id === me.value?.id) return "from another tab";
  return `by ${updated_by?.name ?? "somebody else"}`;
}

/** Returns "Bruno Meier", "You" for another tab, or "Somebody else". */
export function nameAuthor({ updated_by }: Pick<Draft, "updated_by">): string {
  if (updated_by === undefined || updated_by?.id === me.value?.id) return "You";
  return updated_by?.name ?? "Somebody else";
}

const toParams = (cutId: string) => ({ path: { cut_id: cutId } });
const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** Returns the draft, or null. Throws `ApiError`. */
export async function fetchDraft(cutId: string, signal?: AbortSignal): Promise<Draft | null> {
  try {
    return await must(api.GET("/api/v1/cuts/{cut_id}/draft", { params: toParams(cutId), signal: signal ?? null }));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns a cut without its plan. It has the revision of the draft, and needs no request that fails without one. */
export const fetchCutState = (cutId: string): Promise<Schemas["CutWithDraft"]> =>
  must(api.GET("/api/v1/cuts/{cut_id}", { params: { ...toParams(cutId), query: { plan: "false" } } }));

/**
 * Stores a draft that is based on `revision`, and returns the new revision. Throws `ApiError` `conflict` if another one
 * is stored.
 */
export async function putDraft(cutId: string, { revision, segments, texts }: Draft): Promise<number> {
  const body = { revision, segments, texts };
  return (await must(api.PUT("/api/v1/cuts/{cut_id}/draft", { params: toParams(cutId), body }))).revision;
}

/** Deletes the draft with this revision. Throws `ApiError` `conflict` if another one is stored. */
export async function deleteDraft(cutId: string, revision: number): Promise<void> {
  try {
    await must(api.DELETE("/api/v1/cuts/{cut_id}/draft", { params: { ...toParams(cutId), query: { revision } } }));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Stores edits as a version that is set aside; the draft stays. Throws `ApiError`. */
export async function setAside(cutId: string, { segments, texts }: DraftSource, name: string): Promise<void> {
  const body = { segments, texts, name, keep_draft: true };
  await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params: toParams(cutId), body }));
}

/**
 * `draft` is the draft to edit. `isUnsaved`: the server does not have it. `other`: edits from the server or another tab
 * on which `draft` is not based. `places`: where both differ, if they are merged already.
 */
export type StartDraft = { draft: Draft | null; isUnsaved: boolean; other: Draft | null; places?: Places | null };

/** Returns whether both drafts contain the same edits. */
const isSameEdit = (a: DraftSource, b: DraftSource): boolean =>
  JSON.stringify([a.segments, a.texts]) === JSON.stringify([b.segments, b.texts]);

/** `copies` are this browser's unsent drafts, newest first. */
export function chooseDraft(server: Draft | null, copies: readonly Draft[]): StartDraft {
  const unsent = copies.filter((copy) => server === null || !isSameEdit(server, copy));
  const [newest] = unsent;
  if (newest === undefined) return { draft: server, isUnsaved: false, other: null };
  // If the server has no draft, these edits become the first one of the cut as it is stored.
  const draft = server === null ? { ...newest, revision: 0, base: null } : newest;
  if (server !== null && server.revision !== draft.revision) return { draft, isUnsaved: true, other: server };
  const other = unsent.find((copy) => !isSameEdit(copy, newest));
  return { draft, isUnsaved: true, other: other === undefined ? null : { ...other, revision: draft.revision } };
}

/** `at` is the time of the last edit, in milliseconds since 1970. */
type Copy = Draft & { at: number };

const MAX_AGE_MS = 30 * DAY_MS;
const PREFIX = "draft.";
const TAB = String(Math.random()).slice(2);

const toPrefix = (cutId: string): string => {
  const { value } = session;
  return `${PREFIX}${value.kind === "signed-in" ? value.me.id : ""}.${cutId}.`;
};
const toKey = (cutId: string): string => toPrefix(cutId) + TAB;

/** If the base of the edits does not fit, the copy has only the edits. */
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
