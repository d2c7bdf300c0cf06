/** Chooses whether to continue with the server's draft or a local one. Pure. */
import type { DraftSource } from "../../editor/model/history";
import type { Places } from "../../editor/model/merge";
import type { Draft } from "./draft-server";

/**
 * `draft` is the draft to edit. `isUnsaved`: the server does not have it. `other`: edits from the server or another tab
 * on which `draft` is not based. `places`: where both differ, if they are merged already.
 */
export type StartDraft = { draft: Draft | null; isUnsaved: boolean; other: Draft | null; places?: Places | null };

/** Returns whether both drafts contain the same edits. */
export const isSameEdit = (a: DraftSource, b: DraftSource): boolean =>
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
