/** Actions that move the playhead. */
import { formatDecimal } from "../../app/format";
import { listKept, type PlanSpan, toSeconds } from "../model/plan";
import { findContext } from "../model/review-queue";
import { chooseTake, type Take } from "../model/takes";
import { describeRule, REASON_NAMES } from "../reasons";
import { findLine } from "./edit-actions";
import type { Editor } from "./editor-state";
import type { Playback } from "./playback";

/** During playback, stepping back again within this time goes to the previous target instead of the same one. */
const JUST_PASSED = 1_000_000;
const findNow = (editor: Editor, playback: Playback, direction: 1 | -1): number =>
  editor.playhead.value - (direction === -1 && playback.isPlaying.value ? JUST_PASSED : 0);

/**
 * Goes to the next or the previous join and selects the removed span before it. With a filter, goes to each removed
 * span that it shows, also where another one follows.
 */
export function stepJoin(editor: Editor, playback: Playback, direction: 1 | -1): void {
  const { spans, duration } = editor.plan.value;
  const { value: filter } = editor.filter;
  const now = findNow(editor, playback, direction);
  const isStop = (span: PlanSpan, index: number): boolean => {
    if (span.isKept) return false;
    if (filter === null ? spans[index + 1]?.isKept !== true : span.reason !== filter) return false;
    const place = playback.findLanding(span.end);
    return direction === 1 ? place > now : place < now;
  };
  const index = direction === 1 ? spans.findIndex(isStop) : spans.findLastIndex(isStop);
  const removed = spans[index];
  if (removed === undefined || removed.isKept) {
    editor.announce(direction === 1 ? "No removal after the playhead" : "No removal before the playhead");
    if (filter === null) playback.seek(direction === 1 ? duration : 0);
    return;
  }
  playback.seek(removed.end);
  editor.span.value = removed;
  const rule = describeRule(removed.rule);
  const length = formatDecimal(toSeconds(removed.end - removed.start));
  editor.announce(`${REASON_NAMES[removed.reason]}, ${length} s${rule === null ? "" : `. ${rule}`}`);
}

const BEFORE_JOIN = 1_000_000;
const AFTER_JOIN = 1_000_000;

/** Plays the cut around the selected edge. */
export function playJoin(editor: Editor, playback: Playback): void {
  const edge = editor.edge.value;
  if (edge === null || !playback.isReady.value) return;
  const kept = listKept(editor.plan.value);
  const after = kept.findIndex(({ start, end }) => (edge.side === "start" ? start >= edge.time : end > edge.time));
  const before = kept[(after === -1 ? kept.length : after) - 1];
  const start = Math.max(before?.start ?? 0, (before?.end ?? 0) - BEFORE_JOIN);
  const next = kept[after];
  const end = next ? Math.min(next.end, next.start + AFTER_JOIN) : (before?.end ?? 0);
  if (end > start) playback.playRange({ start, end }, "cut");
}

/** Plays the cut around a line as if one of its takes were chosen. */
export function playTake(editor: Editor, playback: Playback, take: Take, index: number): void {
  const { start, end } = take.candidates[index]!;
  if (!playback.isReady.value) {
    playback.seek(start);
    return;
  }
  const plan = chooseTake(editor.plan.peek(), take, index);
  const range = findContext(plan, { start, end });
  editor.playedTake.value = { line: take.candidates[0]!.start, range };
  playback.playPart(plan, range);
}

/** Plays the kept take of the line at the playhead. */
export function playKeptTake(editor: Editor, playback: Playback): void {
  const take = findLine(editor);
  if (take === null) return;
  if (!playback.isReady.value) editor.announce("Playback is not ready yet");
  else
    playTake(
      editor,
      playback,
      take,
      Math.max(
        0,
        take.candidates.findIndex(({ isKept }) => isKept),
      ),
    );
}
