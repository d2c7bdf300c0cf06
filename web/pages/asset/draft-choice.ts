/** Chooses the draft to continue with: that of the server or one of this browser. Pure. */
import type { DraftSource } from "../../editor/model/draft";
import type { Draft } from "./draft-server";

/**
 * `draft`: what is edited. `isUnsaved`: the server does not have it. `other`: other edits, of the server or of another tab, that `draft` does
 * not follow from; the user chooses.
 */
export type StartDraft = { draft: Draft | null; isUnsaved: boolean; other: Draft | null };

/** Whether both edit the cut in the same way. */
export const isSameEdit = (a: DraftSource, b: DraftSource): boolean =>
  JSON.stringify([a.segments, a.texts]) === JSON.stringify([b.segments, b.texts]);

/** `copies`: those of this browser that were not sent, newest first. */
export function chooseDraft(server: Draft | null, copies: readonly Draft[]): StartDraft {
  const unsent = copies.filter((copy) => server === null || !isSameEdit(server, copy));
  const [newest] = unsent;
  if (newest === undefined) return { draft: server, isUnsaved: false, other: null };
  // Without a draft on the server the next one is the first.
  const draft = server === null ? { ...newest, revision: 0 } : newest;
  if (server !== null && server.revision !== draft.revision) return { draft, isUnsaved: true, other: server };
  const other = unsent.find((copy) => !isSameEdit(copy, newest));
  return { draft, isUnsaved: true, other: other === undefined ? null : { ...other, revision: draft.revision } };
}
