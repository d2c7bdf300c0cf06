/**
 * Maps between cut time and source time. A cut is played as consecutive pieces of the recording. Times are integers in
 * microseconds. Pure.
 */
import { findFirst } from "../../../src/domain/time";
import { fromSeconds, type Range } from "../model/plan";

/** A part of a kept span that is loaded and appended as a unit. `at` is its start in the cut. */
export type Piece = Range & { at: number };

/**
 * Pieces end at multiples of this time in the recording, so that after an edit elsewhere the browser finds the same
 * addresses in its cache.
 */
export const PIECE_GRID = 8_000_000;

/** Minimum length of a piece at the grid. A shorter one is merged with its neighbor. */
const MIN_PIECE = 1_000_000;

/** An edge at most this far from a frame is not snapped to it. Plans contain rounded times in seconds. */
export const FRAME_TOLERANCE = 1_000;

/** Returns the first multiple of `PIECE_GRID` after a time. */
const findGridLine = (time: number): number => (Math.floor(time / PIECE_GRID) + 1) * PIECE_GRID;

/**
 * Returns the pieces of sorted, disjoint spans. `lines`: sorted times at which pieces end in place of those of the
 * grid, because the recording has keyframes there.
 */
export function toPieces(kept: readonly Range[], lines: readonly number[] | null = null): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let next = 0;
  const findLine = (time: number): number => {
    if (lines === null) return findGridLine(time);
    while (next < lines.length && lines[next]! <= time) next++;
    return lines[next] ?? Number.POSITIVE_INFINITY;
  };
  for (const span of kept) {
    let start = span.start;
    while (start < span.end) {
      const line = findLine(start + MIN_PIECE);
      const end = line + MIN_PIECE > span.end ? span.end : line;
      pieces.push({ start, end, at });
      at += end - start;
      start = end;
    }
  }
  return pieces;
}

const getEnd = ({ start, end, at }: Piece): number => at + end - start;

/** Returns the duration of the cut. */
export const getLength = (pieces: readonly Piece[]): number => {
  const last = pieces.at(-1);
  return last === undefined ? 0 : getEnd(last);
};

/** Returns how many pieces at the start of the list pass the test. The list must be partitioned by it. */
const countWhile = (pieces: readonly Piece[], test: (piece: Piece) => boolean): number =>
  findFirst(pieces.length, (index) => !test(pieces[index]!));

/** Returns the index of the piece that plays at a cut time. Clamps to the first and the last piece. */
export const findPieceIndex = (pieces: readonly Piece[], cutTime: number): number =>
  Math.max(0, countWhile(pieces, ({ at }) => at <= cutTime) - 1);

/** Returns the source time that plays at a cut time; 0 in an empty cut. */
export function toSourceTime(pieces: readonly Piece[], cutTime: number): number {
  const piece = pieces[findPieceIndex(pieces, cutTime)];
  return piece === undefined ? 0 : Math.min(piece.end, piece.start + Math.max(0, cutTime - piece.at));
}

/** Returns the cut time of a source time. In a removed span, this is the start of the next kept one. */
export function toCutTime(pieces: readonly Piece[], sourceTime: number): number {
  const piece = pieces[countWhile(pieces, ({ end }) => end <= sourceTime)];
  return piece === undefined ? getLength(pieces) : piece.at + Math.max(0, sourceTime - piece.start);
}

/**
 * The part of a piece that is loaded first after a jump, and is played until the rest of the piece has arrived. `video`
 * starts with the piece, because a decoder may need frames before `place`, and is requested for a seek to the source
 * time `place`. `audio` starts at `place`.
 */
export type Landing = { piece: Piece; place: number; video: Piece; audio: Piece };

/** A remainder of a piece shorter than this is loaded with the landing. */
const MIN_LANDING_REST = 500_000;

/** Returns the part of the cut to load first after a jump, about `length` long; null if nothing plays there. */
export function toLanding(pieces: readonly Piece[], cutTime: number, length: number): Landing | null {
  const piece = pieces[findPieceIndex(pieces, cutTime)];
  const place = toSourceTime(pieces, cutTime);
  if (piece === undefined || place >= piece.end) return null;
  const end = place + length + MIN_LANDING_REST < piece.end ? place + length : piece.end;
  const at = piece.at + place - piece.start;
  return { piece, place, video: { ...piece, end }, audio: { start: place, end, at } };
}

/** Returns the first cut time at which two cuts differ, or at which one of them ends. */
function findDifferentTime(before: readonly Piece[], after: readonly Piece[]): number {
  let at = 0;
  for (let [i, j] = [0, 0]; i < before.length && j < after.length; ) {
    const [a, b] = [before[i]!, after[j]!];
    if (a.start - a.at !== b.start - b.at) break;
    at = Math.min(getEnd(a), getEnd(b));
    if (getEnd(a) === at) i++;
    if (getEnd(b) === at) j++;
  }
  return at;
}

/**
 * Compares two cuts. `at` is the first cut time at which they differ, `index` the number of identical pieces before it.
 * `pieces` are those of the second cut, split like the first one's before `at`.
 */
export function findDifference(
  before: readonly Piece[],
  after: readonly Piece[],
): { at: number; index: number; pieces: Piece[] } {
  const at = findDifferentTime(before, after);
  const same = before.slice(
    0,
    countWhile(before, (piece) => getEnd(piece) <= at),
  );
  const from = getLength(same);
  const rest = splitPiece(after, from).filter((piece) => piece.at >= from);
  return { at, index: same.length, pieces: [...same, ...rest] };
}

/** Splits the piece that plays at a cut time. */
export function splitPiece(pieces: readonly Piece[], cutTime: number): Piece[] {
  const index = findPieceIndex(pieces, cutTime);
  const piece = pieces[index];
  if (piece === undefined || cutTime <= piece.at || cutTime >= getEnd(piece)) return [...pieces];
  const middle = piece.start + cutTime - piece.at;
  return pieces.toSpliced(index, 1, { ...piece, end: middle }, { start: middle, end: piece.end, at: cutTime });
}

type Playing = {
  /** The position in the cut that plays. */
  now: number;
  /** Index of its first piece that is not appended. */
  next: number;
  /** Duration that can be replaced only with a seek. */
  reach: number;
  /** The source time at which the other cut starts; by default it continues at the position. */
  sourceTime: number | undefined;
};

/**
 * Compares another cut with the one that plays. Returns where they start to differ (`at`), the new pieces split to
 * match the buffers (`after`), the time from which to clear the buffers (`from`), the first piece that has to be
 * appended (`first`), and the new position of the playhead (`target`) if it has to move.
 */
export function compareCuts(
  before: readonly Piece[],
  pieces: readonly Piece[],
  { now, next, reach, sourceTime }: Playing,
) {
  const { at, index, pieces: divided } = findDifference(before, pieces);
  const isUnderPlayhead = sourceTime !== undefined || at <= now + reach;
  const isPartKept = index < next && at > (before[index]?.at ?? at);
  const after = isPartKept ? splitPiece(divided, at) : divided;
  const from = isPartKept ? at : (after[index]?.at ?? getLength(after));
  const target = toCutTime(after, sourceTime ?? toSourceTime(before, now));
  return { after, at, from, first: isPartKept ? index + 1 : index, target, isUnderPlayhead };
}

/**
 * Snaps spans to frames as the server does: starts down and ends up. Without a frame rate, as for audio, returns them
 * unchanged. `frameRate` is in frames per second.
 */
export function snapToFrames(kept: readonly Range[], frameRate: number | null, duration: number): Range[] {
  const snapped: Range[] = [];
  for (const span of kept) {
    const { start, end } = frameRate === null ? span : snapSpan(span, 1_000_000 / frameRate, duration);
    const last = snapped.at(-1);
    if (last !== undefined && last.end >= start) last.end = Math.max(last.end, end);
    else if (end > start) snapped.push({ start, end });
  }
  return snapped;
}

function snapSpan({ start, end }: Range, frame: number, duration: number): Range {
  const first = Math.floor((start + FRAME_TOLERANCE) / frame);
  const last = Math.ceil((end - FRAME_TOLERANCE) / frame);
  return {
    start: keepNear(start, Math.round(first * frame)),
    end: Math.min(duration, keepNear(end, Math.round(last * frame))),
  };
}

const keepNear = (time: number, frame: number): number => (Math.abs(time - frame) <= FRAME_TOLERANCE ? time : frame);

/** Returns the parts of the spans that are in a range. */
export const clipToRange = (kept: readonly Range[], range: Range): Range[] =>
  kept
    .map(({ start, end }) => ({ start: Math.max(start, range.start), end: Math.min(end, range.end) }))
    .filter(({ start, end }) => start < end);

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
