/** The draft of a cut: on the server, the unsent copies in this browser, and which of them is opened. */
import { api, isNotFound, must, type Schemas } from "../../app/api";
import { createKept, dropOld } from "../../app/kept";
import { me } from "../../app/session";
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

/**
 * `saved`: the server has the edits since `at`, in milliseconds since 1970. `local`: only this browser has them, for
 * the reason in `message`. `conflict`: others have edited the same places, which keep the user's edits until resolved.
 */
export type DraftState =
  | { kind: "none" }
  | { kind: "saving" }
  | { kind: "saved"; at: number }
  | { kind: "local"; message: string }
  | Conflict;

/** `other`: the edits of the other tab or person. `places`: those in which both differ. */
export type Conflict = { kind: "conflict"; other: Draft; places: Places };

/** Returns whether the user made these edits: in another tab, or on another device. */
export const isOwnDraft = ({ updated_by }: Pick<Draft, "updated_by">): boolean =>
  updated_by === undefined || (updated_by !== null && updated_by.id === me.value?.id);

/** Returns "by Bruno Meier", "from another tab or device" or "by somebody else". */
export const describeAuthor = (draft: Pick<Draft, "updated_by">): string =>
  isOwnDraft(draft) ? "from another tab or device" : `by ${draft.updated_by?.name ?? "somebody else"}`;

/** Returns when a draft was stored, in milliseconds since 1970. */
export const readTime = ({ updated_at }: Draft): number =>
  updated_at === undefined ? Date.now() : Date.parse(updated_at);

const toParams = (cutId: string) => ({ path: { cut_id: cutId } });

/** Returns the draft, or null. Throws `ApiError`. */
export async function fetchDraft(cutId: string, signal?: AbortSignal): Promise<Draft | null> {
  try {
    return await must(api.GET("/api/v1/cuts/{cut_id}/draft", { params: toParams(cutId), signal: signal ?? null }));
  } catch (error) {
    if (isNotFound(error)) return null;
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
    if (!isNotFound(error)) throw error;
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

const TAB = String(Math.random()).slice(2);
const toId = (cutId: string): string => `${cutId}.${TAB}`;

const isEdit = (value: unknown): value is DraftSource => {
  const { segments, texts } = (value ?? {}) as Partial<DraftSource>;
  return Array.isArray(segments) && Array.isArray(texts);
};

/** The copies of all tabs. The ID of a copy consists of the IDs of the cut and of the tab. */
const kept = createKept<Draft>("draft", (value): value is Draft => {
  const { base = null } = (value ?? {}) as Partial<Draft>;
  return isEdit(value) && (base === null || isEdit(base));
});

/** `at` is the time of the last edit. Omits the base of the edits if the storage has no room for it. */
export function keepLocal(cutId: string, { base = null, ...draft }: Draft, at: number): void {
  const id = toId(cutId);
  const isKept = base !== null && kept.write(id, { ...draft, base }, at);
  if (!isKept) kept.write(id, { ...draft, base: null }, at);
}
export const clearLocal = (cutId: string): void => kept.clear(toId(cutId));

/** Returns the copies of a cut, newest first. Also removes old unsent work. */
export function recallLocal(cutId: string): Draft[] {
  dropOld();
  return kept.list(`${cutId}.`).map(({ value }) => value);
}

/** Removes all tabs' copies that contain the same edits. */
export function clearSame(cutId: string, draft: Draft): void {
  for (const { id, value } of kept.list(`${cutId}.`)) if (isSameEdit(value, draft)) kept.clear(id);
}

/** Takes over a copy that another tab has left. */
export function adoptLocal(cutId: string, draft: Draft): void {
  clearSame(cutId, draft);
  keepLocal(cutId, draft, Date.now());
}
