/** The user's actions in the editor. Each is one undo step. */

import { toNumber } from "../../app/english";
import { formatLength, formatTimecode } from "../../app/format";
import { formatRounded } from "../../app/rare-formats";
import { correctWords } from "../model/corrections";
import { type Edge, getEdgeRange, listEdges, moveEdge } from "../model/edges";
import {
  type EditorPlan,
  getKeptDuration,
  isRemoved,
  type Range,
  type RemovalReason,
  removeRange,
  restoreRange,
  toSeconds,
} from "../model/plan";
import { countReasons, limitPauses, removeReason, restoreReason } from "../model/reason-edits";
import { chooseTake, findTakeAt, getNextTake, listTakes, type Take } from "../model/takes";
import {
  areRemoved,
  type FindOptions,
  findSame,
  removeWords,
  replaceText,
  toggleWords,
  type WordRange,
} from "../model/words";
import { nameCount } from "../reasons";
import { describeWords, type Editor, NO_MARKS } from "./editor-state";

/** Removes words, or restores them if all of them are removed. */
export function toggleRange(editor: Editor, range: WordRange): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  const { plan, changed, isRestored } = toggleWords(before, editor.words, range, editor.texts.value);
  const time = getKeptDuration(plan) - getKeptDuration(before);
  editor.apply({ plan }, ...describeWords(changed, isRestored, time));
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

/** Returns whether `toggleSelection` restores the selection. */
export function isSelectionRemoved({ selection, range, plan, words }: Editor): boolean {
  if (selection.value !== null) return areRemoved(plan.value, words, selection.value);
  return range.value !== null && isRemoved(plan.value, range.value);
}

/** Removes a range, or restores it if all of it is already removed. */
export function toggleMarked(editor: Editor, range: Range): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  const isRestored = isRemoved(before, range);
  const plan = isRestored ? restoreRange(before, range) : removeRange(before, range);
  const label = `Marked range ${isRestored ? "restored" : "removed"}`;
  editor.apply({ plan }, label, `${label}, ${describeChange(before, plan)}`);
}

/** Restores one removed span, including parts that were changed since. */
export function restoreSpan(editor: Editor, span: Range): void {
  if (!editor.canEdit) return;
  const length = `${formatRounded(toSeconds(span.end - span.start), 1)} s`;
  editor.apply({ plan: restoreRange(editor.plan.value, span) }, `Restore ${length}`, `${length} restored`);
}

/** Moves an edge. The move is only shown until `isDone` is set, which records it. */
export function dragEdge(editor: Editor, edge: Edge, to: number, isDone: boolean): void {
  if (!editor.canEdit) return;
  const plan = moveEdge(editor.getSettled().plan, edge, to);
  // The marks of a removed range do not move with its edge.
  const { in: start, out: end } = editor.marks.peek();
  if (to !== edge.time && (edge.time === start || edge.time === end)) editor.marks.value = NO_MARKS;
  if (!isDone) {
    editor.preview({ plan });
    return;
  }
  const range = getEdgeRange(editor.getSettled().plan, edge);
  const time = Math.min(range.end, Math.max(range.start, to));
  const decisions = editor.decideMoved.current?.(edge.time, time, plan) ?? null;
  const change = decisions === null ? { plan } : { plan, decisions };
  editor.apply(change, "Move edge", `Edge moved to ${formatTimecode(toSeconds(time))}`);
  editor.edge.value = listEdges(plan).find((one) => one.time === Math.round(time) && one.side === edge.side) ?? null;
}

/**
 * Trims the edge before (-1) or after (1) the playhead, so that it meets the playhead. Returns whether there is one.
 */
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

/**
 * Returns the line with several takes that was played last or is at the playhead. Without such a line, shows a message
 * and returns null.
 */
export function findLine(editor: Editor): Take | null {
  const takes = listTakes(editor.plan.value, editor.cut?.plan?.takes ?? []);
  const now = editor.playhead.value;
  const played = editor.playedTake.value;
  const isAtPlayed = played !== null && played.range.start <= now && now <= played.range.end;
  const take = isAtPlayed
    ? takes.find(({ candidates }) => candidates[0]!.start === played.line)
    : findTakeAt(takes, now);
  if (!take) editor.announce("This line has only one take");
  return take ?? null;
}

/** Chooses the next take of the line at the playhead. Returns its line and index, or null. */
export function selectNextTake(editor: Editor): { take: Take; index: number } | null {
  const take = findLine(editor);
  if (take === null) return null;
  const index = getNextTake(take);
  selectTake(editor, take, index);
  return { take, index };
}

/** Replaces the text of words, without cutting; with `isEverywhere`, wherever the same words are said. */
export function correctText(editor: Editor, range: WordRange, text: string, isEverywhere = false): void {
  if (!editor.canEdit) return;
  const ranges = isEverywhere ? findSame({ ...editor.words, text: editor.texts.value }, range) : [range];
  let { corrections } = editor.history.value.present;
  for (const one of ranges) corrections = correctWords(corrections, editor.words, one, text);
  const times = ranges.length > 1 ? `, ${ranges.length} times` : "";
  const before = editor.texts.value.slice(range.from, range.to).filter(Boolean).join(" ");
  const said = text.trim() === "" ? "no longer in the text" : `now “${text.trim()}”`;
  editor.apply({ corrections }, `“${before}” is ${said}`, `“${before}” is ${said}${times}`);
}

/** Replaces a searched text in all matches, without cutting. */
export function replaceMatches(
  editor: Editor,
  found: readonly WordRange[],
  searched: string,
  text: string,
  options: FindOptions,
): void {
  if (!editor.canEdit || found.length === 0) return;
  const texts = editor.texts.value;
  let { corrections } = editor.history.value.present;
  for (const range of found) {
    const before = texts.slice(range.from, range.to).filter(Boolean).join(" ");
    corrections = correctWords(corrections, editor.words, range, replaceText(before, searched, text, options));
  }
  editor.apply({ corrections }, "Replace text", `${found.length} × “${searched}” is now “${text}”`);
}

/** Removes the words of all matches. */
export function removeMatches(editor: Editor, found: readonly WordRange[], searched: string): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  let plan = before;
  let count = 0;
  for (const range of found) {
    if (areRemoved(plan, editor.words, range)) continue;
    plan = removeWords(plan, editor.words, range);
    count++;
  }
  if (count === 0) editor.announce(`Every “${searched}” is already removed`);
  else
    editor.apply(
      { plan },
      `Remove ${count} × “${searched}”`,
      `${count} × “${searched}” removed, ${describeChange(before, plan)}`,
    );
}

/** Restores or removes all removals of a reason. */
export function restoreAll(editor: Editor, reason: RemovalReason): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  const count = countReasons(before).get(reason)?.count ?? 0;
  const plan = restoreReason(before, reason);
  const name = `${count} ${nameCount(reason, count)}`;
  editor.apply({ plan }, `Restore ${name}`, `${name} restored, ${describeChange(before, plan)}`);
}

export function removeAll(editor: Editor, reason: RemovalReason): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  const plan = removeReason(before, editor.stored.plan, reason);
  const count = countReasons(plan).get(reason)?.count ?? 0;
  const name = `${count} ${nameCount(reason, count)}`;
  editor.apply({ plan }, `Remove ${name}`, `${name} removed, ${describeChange(before, plan)}`);
}

/** Removes the pauses that are longer than a limit in microseconds, and restores the others. */
export function removePausesFrom(editor: Editor, limit: number): void {
  if (!editor.canEdit) return;
  const before = editor.plan.value;
  const plan = limitPauses(before, editor.stored.plan, limit);
  const count = countReasons(plan).get("silence")?.count ?? 0;
  const longer = `longer than ${toNumber(toSeconds(limit))} s`;
  const name =
    count === 0
      ? `No pause is ${longer}: all pauses kept`
      : `Only ${count} ${nameCount("silence", count)} ${longer} removed`;
  const text = `${name}, ${describeChange(before, plan)}`;
  editor.apply({ plan }, "Choose pauses", text);
  if (editor.plan.peek() === before) editor.announce(text);
}

/** Returns "0:31 longer", "5 s shorter" or "as long as before". */
export function describeChange(before: EditorPlan, after: EditorPlan): string {
  const seconds = toSeconds(getKeptDuration(after) - getKeptDuration(before));
  const size = Math.abs(seconds);
  if (size < 0.05) return "as long as before";
  return `${formatLength(size)} ${seconds < 0 ? "shorter" : "longer"}`;
}
