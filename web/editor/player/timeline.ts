/**
 * Cut time and source time. A cut is played as pieces of the recording, one after the other. Times are integers in microseconds. Pure.
 */
import type { Range } from "../model/plan";

/** A part of a kept span that is loaded and appended at once. `at` is where it starts in the cut. */
export type Piece = Range & { at: number };

/** Pieces end at multiples of this in the recording: after an edit elsewhere the browser finds the same addresses in its cache. */
export const PIECE_GRID = 8_000_000;

/** No piece that the grid cuts off is shorter: its neighbor takes it. */
const MIN_PIECE = 1_000_000;

/** How far an edge may be from a frame and still be taken for it. Plans have times in seconds that were rounded. */
const FRAME_TOLERANCE = 1_000;

/** Returns the pieces of sorted, disjoint spans. */
export function toPieces(kept: readonly Range[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const span of kept) {
    let start = span.start;
    while (start < span.end) {
      const line = (Math.floor((start + MIN_PIECE) / PIECE_GRID) + 1) * PIECE_GRID;
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

/** Returns how many pieces at the beginning of the list pass; the list is partitioned by the test. */
function countWhile(pieces: readonly Piece[], test: (piece: Piece) => boolean): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(pieces[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the piece that plays at a cut time: the first one before the start, the last one after the end. */
export const findPieceIndex = (pieces: readonly Piece[], cutTime: number): number =>
  Math.max(0, countWhile(pieces, ({ at }) => at <= cutTime) - 1);

/** Returns the source time that plays at a cut time; 0 in an empty cut. */
export function toSourceTime(pieces: readonly Piece[], cutTime: number): number {
  const piece = pieces[findPieceIndex(pieces, cutTime)];
  return piece === undefined ? 0 : Math.min(piece.end, piece.start + Math.max(0, cutTime - piece.at));
}

/** Returns the cut time of a source time. In a removed span this is where the next kept one starts. */
export function toCutTime(pieces: readonly Piece[], sourceTime: number): number {
  const piece = pieces[countWhile(pieces, ({ end }) => end <= sourceTime)];
  return piece === undefined ? getLength(pieces) : piece.at + Math.max(0, sourceTime - piece.start);
}

/**
 * What is loaded first of a piece after a jump into it, to be played until the whole piece has come. `video` starts with the piece, because a
 * decoder may need what is before the place, and is loaded for a seek to the source time `place`; `audio` starts there.
 */
export type Landing = { piece: Piece; place: number; video: Piece; audio: Piece };

/** How much of a piece may be left over. */
const MIN_LANDING_REST = 500_000;

/** Returns what of the cut is loaded first after a jump, at most about `length` of it; null where nothing plays. */
export function toLanding(pieces: readonly Piece[], cutTime: number, length: number): Landing | null {
  const piece = pieces[findPieceIndex(pieces, cutTime)];
  const place = toSourceTime(pieces, cutTime);
  if (piece === undefined || place >= piece.end) return null;
  const end = place + length + MIN_LANDING_REST < piece.end ? place + length : piece.end;
  const at = piece.at + place - piece.start;
  return { piece, place, video: { ...piece, end }, audio: { start: place, end, at } };
}

/** Returns the first cut time at which two cuts play something else, or at which one of them ends. */
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
 * Compares two cuts. `at`: the first cut time at which they play something else. `index`: how many pieces before it are the same. `pieces`:
 * those of the second cut, divided as the first one before `at`.
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

/** Returns the pieces with the one that plays at a cut time divided there. */
export function splitPiece(pieces: readonly Piece[], cutTime: number): Piece[] {
  const index = findPieceIndex(pieces, cutTime);
  const piece = pieces[index];
  if (piece === undefined || cutTime <= piece.at || cutTime >= getEnd(piece)) return [...pieces];
  const middle = piece.start + cutTime - piece.at;
  return pieces.toSpliced(index, 1, { ...piece, end: middle }, { start: middle, end: piece.end, at: cutTime });
}

/**
 * Returns the spans as the server snaps them: starts down and ends up to frames. Without a frame rate, as in audio, they stay as they are.
 * `frameRate` is in frames a second.
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

/** Returns what of the spans is in a range. */
export const clipToRange = (kept: readonly Range[], range: Range): Range[] =>
  kept
    .map(({ start, end }) => ({ start: Math.max(start, range.start), end: Math.min(end, range.end) }))
    .filter(({ start, end }) => start < end);
