/** The user's actions in the editor. Each is one undo step. */
import { toNumber } from "../../app/english";
import { formatTimecode } from "../../app/format";
import { correctWords } from "../model/corrections";
import { type Edge, getEdgeRange, listEdges, moveEdge } from "../model/edges";
import { isRemoved, type Range, removeRange, restoreRange, toSeconds } from "../model/plan";
import { chooseTake, findTakeAt, getNextTake, listTakes, type Take } from "../model/takes";
import { toggleWords, type WordRange } from "../model/words";
import { describeWords, type Editor, NO_MARKS } from "./editor-state";

/** Removes words, or restores them if all of them are removed. */
export function toggleRange(editor: Editor, range: WordRange): void {
  if (!editor.canEdit) return;
  const { plan, changed, isRestored } = toggleWords(editor.plan.value, editor.words, range, editor.texts.value);
  editor.apply({ plan }, ...describeWords(changed, isRestored));
}

/** Removes or restores the selected words, or the marked range if no words are selected. */
export function toggleSelection(editor: Editor): void {
  if (!editor.canEdit) return;
  const { value: words } = editor.selection;
  const { value: span } = editor.span;
  const { value: range } = editor.range;
  if (words !== null) toggleRange(editor, words);
  else if (span !== null) restoreSpan(editor, span);
  else if (range !== null) toggleMarked(editor, range);
  else editor.announce("Nothing selected. Select words first.");
}

/** Removes a range, or restores it if all of it is already removed. */
export function toggleMarked(editor: Editor, range: Range): void {
  if (!editor.canEdit) return;
  const plan = editor.plan.value;
  if (isRemoved(plan, range))
    editor.apply({ plan: restoreRange(plan, range) }, "Restore marked range", "Marked range restored");
  else editor.apply({ plan: removeRange(plan, range) }, "Remove marked range", "Marked range removed");
}

/** Restores one removed span, including parts that were changed since. */
export function restoreSpan(editor: Editor, span: Range): void {
  if (!editor.canEdit) return;
  const length = `${toNumber(Number(toSeconds(span.end - span.start).toFixed(1)))} s`;
  editor.apply({ plan: restoreRange(editor.plan.value, span) }, `Restore ${length}`, `${length} restored`);
}

/** Moves an edge. The move is only shown until `isDone` is set, which records it. */
export function dragEdge(editor: Editor, edge: Edge, to: number, isDone: boolean): void {
  if (!editor.canEdit) return;
  const plan = moveEdge(editor.getSettled().plan, edge, to);
  if (!isDone) {
    editor.preview({ plan });
    return;
  }
  const { start, end } = getEdgeRange(editor.getSettled().plan, edge);
  const time = Math.min(end, Math.max(start, to));
  editor.apply({ plan }, "Move edge", `Edge moved to ${formatTimecode(toSeconds(time))}`);
  editor.edge.value = listEdges(plan).find((one) => one.time === Math.round(time) && one.side === edge.side) ?? null;
}

/** Trims the edge before (-1) or after (1) the playhead, so that it meets the playhead. Returns whether there is one. */
export function trimToPlayhead(editor: Editor, direction: 1 | -1): boolean {
  const time = editor.playhead.value;
  const edges = listEdges(editor.plan.value);
  const edge =
    direction === 1
      ? edges.find((one) => one.time > time && one.side === "end")
      : edges.findLast((one) => one.time < time && one.side === "start");
  if (edge) dragEdge(editor, edge, time, true);
  else editor.announce(direction === 1 ? "No edge after the playhead" : "No edge before the playhead");
  return edge !== undefined;
}

/** Moves the selected edge by a duration. Returns whether an edge is selected. */
export function nudgeEdge(editor: Editor, by: number): boolean {
  const edge = editor.edge.value;
  if (edge === null || !editor.canEdit) return false;
  dragEdge(editor, edge, edge.time + by, true);
  return true;
}

/** Sets a mark at the playhead. */
export function setMark(editor: Editor, side: "in" | "out"): void {
  const time = editor.playhead.value;
  const { in: start, out: end } = editor.marks.value;
  editor.marks.value =
    side === "in"
      ? { in: time, out: end !== null && end > time ? end : null }
      : { in: start !== null && start < time ? start : null, out: time };
  editor.announce(side === "in" ? "Range starts here" : "Range ends here");
}

/** Clears the selection, whatever it is. */
export function clearSelection(editor: Editor): void {
  editor.marks.value = NO_MARKS;
  editor.selection.value = null;
  editor.span.value = null;
  editor.edge.value = null;
  editor.announce("Selection cleared");
}

/** Returns to the stored cut. Undo brings the edits back. */
export function discardEdits(editor: Editor): void {
  if (editor.canEdit) editor.apply(editor.stored, "Discard edits", "Edits discarded");
}

/** Keeps one take of a line. */
export function selectTake(editor: Editor, take: Take, chosen: number): void {
  if (!editor.canEdit) return;
  const plan = chooseTake(editor.plan.value, take, chosen);
  const name = `take ${chosen + 1} of ${take.candidates.length}`;
  editor.apply({ plan }, `Choose ${name}`, `Now ${name}`);
}

/** Chooses the next take of the line at the playhead. Returns its start, or null. */
export function selectNextTake(editor: Editor): number | null {
  const takes = listTakes(editor.plan.value, editor.cut?.plan?.takes ?? []);
  const take = findTakeAt(takes, editor.playhead.value);
  if (take === null) {
    editor.announce("This line has only one take");
    return null;
  }
  const next = getNextTake(take);
  selectTake(editor, take, next);
  return take.candidates[next]!.start;
}

/** Replaces the text of words, without cutting. */
export function correctText(editor: Editor, range: WordRange, text: string): void {
  if (!editor.canEdit) return;
  const corrections = correctWords(editor.history.value.present.corrections, editor.words, range, text);
  editor.apply({ corrections }, "Correct text", "Text corrected");
}
