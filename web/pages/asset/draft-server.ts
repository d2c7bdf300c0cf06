/** The draft of a cut on the server. */
import { ApiError, api, must, type Schemas } from "../../app/api";
import { me } from "../../app/session";
import type { DraftSource } from "../../editor/model/history";

/** `revision` is 0 if there is no draft. Copies in the browser do not say who saved them, and when. */
export type Draft = DraftSource & {
  revision: number;
  updated_at?: string;
  updated_by?: { id: string; name: string | null } | null;
  /** Of a copy in the browser: the draft on the server that its edits were made in; null if that was the stored cut. */
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

/** Stores a draft that is based on `revision`, and returns the new revision. Throws `ApiError` `conflict` if another one is stored. */
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

/** The versions that this tab has stored beside a draft. It does not follow them. */
export const versionsBeside = new Set<string>();

/** Stores edits as a version beside the draft, which stays. Throws `ApiError`. */
export async function saveVersion(cutId: string, { segments, texts }: DraftSource, name: string): Promise<void> {
  const body = { segments, texts, name, keep_draft: true };
  versionsBeside.add((await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params: toParams(cutId), body }))).id);
}
