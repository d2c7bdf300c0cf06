/** Creates the editor for the open cut, with its draft and the player. */
import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { canWrite } from "../../app/session";
import { applyPlanTexts } from "../../editor/model/corrections";
import { fromDraft } from "../../editor/model/history";
import { type EditorPlan, isRemoved, removeRange, restoreRange } from "../../editor/model/plan";
import { toggleWords, type Words } from "../../editor/model/words";
import { createEditor, type Editor, toEditorPlan } from "../../editor/state/editor-state";
import type { Playback } from "../../editor/state/playback";
import { keepDraft } from "./draft-keeper";
import { createFollower, type EditorWithDraft, listVersions, toVersionDraft, useFollower } from "./follow-versions";
import type { Cuts, OpenCut } from "./use-cuts";
import type { Asset } from "./use-media";

type EditorOptions = { asset: Asset; cuts: Cuts; opened: OpenCut; words: Words; playback: Playback };

export function useDraftedEditor({ asset, cuts, opened, words, playback }: EditorOptions): EditorWithDraft {
  const { cut, draft } = opened;
  const isWriter = canWrite.value;
  const duration = Number(asset.duration_seconds ?? 0);
  const last = useRef<EditorWithDraft | null>(null);
  const latest = useRef(cuts);
  latest.current = cuts;
  const both = useMemo<EditorWithDraft>(() => {
    const before = last.current;
    const saved = before?.saved?.cutId === cut?.id ? (before?.saved ?? null) : null;
    const isNext = saved !== null || (cut !== null && before?.recut === cut.id);
    before?.editor.cancelPreview();
    const editor = createEditor({
      cut: cut?.plan ? cut : null,
      duration,
      words: cut?.plan ? applyPlanTexts(words, [...cut.plan.segments, ...cut.plan.removed]) : words,
      draft: draft.draft === null ? null : fromDraft(toEditorPlan(cut?.plan ?? null, duration), draft.draft),
      before: before !== null && isNext && cut?.plan ? { ...before, saved: saved?.content ?? null } : null,
      canWrite: isWriter,
      playhead: playback.playhead,
    });
    const known = new Set(cut === null ? [] : listVersions(cut, latest.current));
    const next: EditorWithDraft = { editor, keeper: null, saved: null, recut: null, known };
    if (!editor.canEdit || cut === null) return next;
    const follower = createFollower({ cut, cuts: () => latest.current, words, editor, both: next });
    const places = saved?.places ?? null;
    const start = places === null ? draft : { ...draft, other: toVersionDraft(cut), places };
    next.keeper = keepDraft(editor, start, follower);
    return next;
  }, [cut?.id, cut?.state, words, duration, isWriter, playback]);
  last.current = both;
  useFollower(both, cuts, cut);
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

/** A selection that changes within this time is not finished. */
const DELAY_MS = 120;

/**
 * While the cut plays, preloads the media that will play after the selected words or the marked range are removed or
 * restored, or after a drag ends. Returns a function that stops it.
 */
function prepareEdits(editor: Editor, playback: Playback): () => void {
  return effect(() => {
    if (!editor.isDragging.value && editor.range.value === null) return;
    if (!editor.canEdit || !playback.isPlaying.value || editor.plan.value.spans.length === 0) return;
    const timer = setTimeout(() => playback.player.prepare(getNextPlan(editor)), DELAY_MS);
    return () => clearTimeout(timer);
  });
}

function getNextPlan(editor: Editor): EditorPlan {
  const plan = editor.plan.peek();
  const selection = editor.selection.peek();
  if (editor.isDragging.peek()) return plan;
  if (selection !== null) return toggleWords(plan, editor.words, selection).plan;
  const range = editor.range.peek();
  if (range === null) return plan;
  return isRemoved(plan, range) ? restoreRange(plan, range) : removeRange(plan, range);
}
