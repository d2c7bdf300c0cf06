/** Actions that move the playhead. */
import { listJoins } from "../../editor/model/edges";
import { listKept } from "../../editor/model/plan";
import { findNextReview, listReviews } from "../../editor/model/reviews";
import type { Editor } from "./editor-state";
import type { Playback } from "./playback";
import { describeReview } from "./reason-texts";

/** During playback, stepping back again within this time goes to the previous target instead of the same one. */
const JUST_PASSED = 1_000_000;
const findNow = (editor: Editor, playback: Playback, direction: 1 | -1): number =>
  editor.playhead.value - (direction === -1 && playback.isPlaying.value ? JUST_PASSED : 0);

/** Goes to the next (1) or the previous (-1) span to review. */
export function stepReview(editor: Editor, playback: Playback, direction: 1 | -1): void {
  const review = findNextReview(listReviews(editor.plan.value), findNow(editor, playback, direction), direction);
  if (review === null) {
    editor.announce("Nothing to review");
    return;
  }
  playback.seek(review.start);
  editor.announce(describeReview(review.review));
}

/** Goes to the next or the previous join. */
export function stepJoin(editor: Editor, playback: Playback, direction: 1 | -1): void {
  const joins = listJoins(editor.plan.value);
  const now = findNow(editor, playback, direction);
  const join = direction === 1 ? joins.find((time) => time > now) : joins.findLast((time) => time < now);
  if (join === undefined)
    editor.announce(direction === 1 ? "No join after the playhead" : "No join before the playhead");
  playback.seek(join ?? (direction === 1 ? editor.plan.value.duration : 0));
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
