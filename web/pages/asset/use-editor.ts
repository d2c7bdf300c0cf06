/** Creates the editor for the open cut, with its draft and the player. */
import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { canWrite } from "../../app/session";
import { fromDraft } from "../../editor/model/draft";
import type { Content } from "../../editor/model/history";
import { applyPlanTexts } from "../../editor/model/plan-texts";
import type { Words } from "../../editor/model/words";
import { createEditor, type Editor, toEditorPlan } from "../../editor/state/editor-state";
import type { Playback } from "../../editor/state/playback";
import type { Asset } from "./asset";
import { type DraftKeeper, keepDraft } from "./draft-keeper";
import { prepareEdits } from "./prepare-edits";
import type { OpenCut } from "./use-cuts";

type EditorOptions = { asset: Asset; opened: OpenCut; words: Words; playback: Playback };

/** `content` is null for a cut that was made again with the edits. */
type SavedAs = { cutId: string; content: Content | null };

/**
 * `keeper` is null if the cut is read-only. `saved` is the content that has become another cut, in which the undo
 * history continues.
 */
export type EditorWithDraft = {
  editor: Editor;
  keeper: DraftKeeper | null;
  saved: SavedAs | null;
};

export function useDraftedEditor({ asset, opened, words, playback }: EditorOptions): EditorWithDraft {
  const { cut, draft } = opened;
  const isWriter = canWrite.value;
  const duration = Number(asset.duration_seconds ?? 0);
  const last = useRef<EditorWithDraft | null>(null);
  /** The editor whose undo history the next cut takes over once it is completed. */
  const waiting = useRef<EditorWithDraft | null>(null);
  const both = useMemo<EditorWithDraft>(() => {
    const before = last.current;
    const source = before?.saved ? before : waiting.current;
    const saved = source?.saved ?? null;
    const isNext = saved !== null && saved.cutId === cut?.id;
    waiting.current = isNext && !cut?.plan ? source : null;
    before?.editor.cancelPreview();
    const editor = createEditor({
      cut: cut?.plan ? cut : null,
      duration,
      words: cut?.plan ? applyPlanTexts(words, [...cut.plan.segments, ...cut.plan.removed]) : words,
      draft: draft.draft === null ? null : fromDraft(toEditorPlan(cut?.plan ?? null, duration), draft.draft),
      before: source !== null && isNext && cut?.plan ? { ...source, saved: saved.content } : null,
      canWrite: isWriter,
      playhead: playback.playhead,
    });
    return { editor, keeper: editor.canEdit ? keepDraft(editor, draft) : null, saved: null };
  }, [cut?.id, cut?.state, words, isWriter, playback]);
  last.current = both;
  useEffect(() => both.keeper?.stop, [both]);
  useEffect(() => prepareEdits(both.editor, playback), [both, playback]);
  // A drag is played when it ends.
  useEffect(
    () =>
      effect(() => {
        const plan = both.editor.plan.value;
        if (!both.editor.isDragging.value) playback.setPlan(plan);
      }),
    [both, playback],
  );
  return both;
}
