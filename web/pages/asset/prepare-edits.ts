/** Preloads media for the most likely next edit. */
import { effect } from "@preact/signals";
import { type EditorPlan, isRemoved, removeRange, restoreRange } from "../../editor/model/plan";
import { toggleWords } from "../../editor/model/words";
import type { Editor } from "../../editor/state/editor-state";
import type { Playback } from "../../editor/state/playback";

/** A selection that changes within this time is not finished. */
const DELAY_MS = 120;

/**
 * While the cut plays, preloads the media that will play after the selected words or the marked range are removed or
 * restored, or after a drag ends. Returns a function that stops it.
 */
export function prepareEdits(editor: Editor, playback: Playback): () => void {
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
