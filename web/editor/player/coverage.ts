/** Checks whether buffered data covers a position in the cut. Times are microseconds of the cut. */
import { fromSeconds } from "../model/plan";
import { findPieceIndex, type Piece } from "./timeline";

/**
 * Distance that a position may have from the buffered part of its piece: the first frame can start slightly late, and
 * the last one end early.
 */
const TOLERANCE = 50_000;
/** Distance that a buffered edge may have from the edge of its piece because of rounding. */
const ROUNDING = 2_000;

/** Returns whether `buffered` contains the position, or its piece almost up to the position. */
export function isCovered(buffered: TimeRanges, pieces: readonly Piece[], cutTime: number): boolean {
  const index = findPieceIndex(pieces, cutTime);
  const isSamePiece = (time: number) => findPieceIndex(pieces, time) === index;
  for (let range = 0; range < buffered.length; range++) {
    const [start, end] = [fromSeconds(buffered.start(range)), fromSeconds(buffered.end(range))];
    if (start <= cutTime && cutTime <= end) return true;
    if (cutTime < start && start - TOLERANCE <= cutTime && isSamePiece(start + ROUNDING)) return true;
    if (cutTime > end && cutTime <= end + TOLERANCE && isSamePiece(end - ROUNDING)) return true;
  }
  return false;
}
