/** Whether a place of the cut can be played from what the browser has buffered. Times are microseconds of the cut. */
import { fromSeconds } from "../model/plan";
import { findPieceIndex, type Piece } from "./timeline";

/** How far a place may be from what its piece has buffered: the first frame can start a little late, and the last one end early. */
const TOLERANCE = 50_000;
/** How far an edge of what is buffered may be from that of its piece because times were rounded. */
const ROUNDING = 2_000;

/** Returns whether `buffered` has the place, or the piece of the place almost up to it. */
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
