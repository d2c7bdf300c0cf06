/** From words with a verdict to pieces of sound with a verdict: whole islands where it can be, else divided where it is quietest. */

import type { RemovalReason } from "../plan";
import { joinReviews, joinTexts } from "../segments";
import type { Span, Ticks } from "../time";
import { firstEndingAfter, islandsIn, overlap, quietest, type Sound } from "./audio-activity";

/** What becomes of a stretch. `reason` is why it goes when `keep` is false; `review` why an editor should look. */
export type Verdict = { keep: boolean; reason: RemovalReason; review: string | null };
export type JudgedWord = Span & Verdict & { text: string };
export type Piece = JudgedWord;

/** Short sound without a word, this near to one, is part of it: the "t" at the end of a word may come late. */
const NEAR_BEFORE: Ticks = 160_000;
const NEAR_AFTER: Ticks = 240_000;
const SHORT_SOUND: Ticks = 220_000;
/** How far a boundary may move into a dropped word to find quiet. */
const INTO_DROPPED: Ticks = 60_000;

type Owned = Piece & { island: number | null };

/**
 * Makes pieces: sorted, disjoint, every kept word wholly inside one kept piece. `wordless` judges an island in which no word was
 * heard and that is not the fringe of one; `noise` tells whether it is away from any voice.
 */
export function makePieces(
  words: readonly JudgedWord[],
  sound: Sound,
  wordless: (island: Span, noise: boolean) => Verdict,
): Piece[] {
  const spoken = words
    .map((word) => ({ ...word, start: Math.max(0, word.start), end: Math.min(sound.duration, word.end) }))
    .filter((word) => word.end > word.start)
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const owned = grouped(spoken, sound.islands);
  reachIslandEdges(owned, sound.islands);
  const taken = new Set(owned.map((piece) => piece.island));
  const pieces: Piece[] = owned.map(({ island: _, ...piece }) => piece);
  const spokenPieces = new Set(pieces);
  const rest = [
    ...sound.islands.filter((_, i) => !taken.has(i)).map((island) => ({ island, noise: false })),
    ...sound.noises.map((island) => ({ island, noise: true })),
  ];
  for (const { island, noise } of rest) {
    const host = noise ? null : nearest(pieces, island);
    if (host) {
      host.start = Math.min(host.start, island.start);
      host.end = Math.max(host.end, island.end);
    } else pieces.push({ ...island, ...wordless(island, noise), text: "" });
  }
  return settled(pieces, spokenPieces, sound);
}

/** Words of one island and one verdict, in a row, are one piece. */
function grouped(words: readonly JudgedWord[], islands: readonly Span[]): Owned[] {
  const out: Owned[] = [];
  for (const word of words) {
    const island = home(word, islands);
    const last = out.at(-1);
    if (last && alike(last, word) && (last.island === null ? word.start <= last.end : last.island === island)) {
      last.end = Math.max(last.end, word.end);
      last.text = joinTexts([last.text, word.text]);
      last.review = joinReviews([last.review, word.review]);
    } else out.push({ ...word, island });
  }
  return out;
}

const alike = (a: Verdict, b: Verdict) => a.keep === b.keep && (a.keep || a.reason === b.reason);

/** The index of the island that a word lies in for the most part. */
function home(word: Span, islands: readonly Span[]): number | null {
  let best: number | null = null;
  let most = 0;
  for (let i = firstEndingAfter(islands, word.start); i < islands.length && islands[i]!.start < word.end; i++) {
    const shared = overlap(islands[i]!, word);
    if (shared <= most) continue;
    most = shared;
    best = i;
  }
  return best;
}

/** The first and last piece of an island reach to its edges; between two of its pieces the edges meet where it is quietest. */
function reachIslandEdges(pieces: Owned[], islands: readonly Span[]): void {
  for (const [i, piece] of pieces.entries()) {
    if (piece.island === null) continue;
    const island = islands[piece.island]!;
    if (pieces[i - 1]?.island !== piece.island) piece.start = Math.min(piece.start, island.start);
    if (pieces[i + 1]?.island !== piece.island) piece.end = Math.max(piece.end, island.end);
  }
}

/** The piece that a short wordless island is the fringe of. */
function nearest(pieces: readonly Piece[], island: Span): Piece | null {
  if (island.end - island.start > SHORT_SOUND) return null;
  let best: Piece | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const gap = Math.max(piece.start - island.end, island.start - piece.end);
    const near = piece.start >= island.end ? NEAR_BEFORE : NEAR_AFTER;
    if (gap >= near || gap >= smallest || piece.text === "") continue;
    smallest = gap;
    best = piece;
  }
  return best;
}

/**
 * Sorts the pieces and makes them disjoint: kept ones come before dropped ones, those with words before those without, and a cut between
 * them goes to the quietest place.
 */
function settled(pieces: Piece[], spoken: ReadonlySet<Piece>, sound: Sound): Piece[] {
  const dropped = pieces.filter((piece) => !piece.keep).sort((a, b) => a.start - b.start || a.end - b.end);
  const layers = [dropped.filter((piece) => spoken.has(piece)), dropped.filter((piece) => !spoken.has(piece))];
  let out = merged(pieces.filter((piece) => piece.keep));
  for (const layer of layers) {
    const taken = out;
    const added: Piece[] = [];
    for (const piece of layer) {
      for (const part of outside(piece, taken)) {
        const start = Math.max(part.start, added.at(-1)?.end ?? 0);
        if (part.end > start) added.push({ ...piece, start, end: part.end });
      }
    }
    out = [...taken, ...added].sort((a, b) => a.start - b.start);
  }
  return quietBoundaries(out, sound);
}

function merged(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of [...pieces].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1);
    if (last && piece.start < last.end) {
      last.end = Math.max(last.end, piece.end);
      last.text = joinTexts([last.text, piece.text]);
      last.review = joinReviews([last.review, piece.review]);
    } else out.push({ ...piece });
  }
  return out;
}

/** The stretches of a span that none of the others, sorted and disjoint, covers. */
function outside(span: Span, others: readonly Span[]): Span[] {
  const out: Span[] = [];
  let at = span.start;
  for (const piece of islandsIn(others, span)) {
    if (piece.start > at) out.push({ start: at, end: piece.start });
    at = Math.max(at, piece.end);
  }
  if (span.end > at) out.push({ start: at, end: span.end });
  return out;
}

/** Where kept and dropped sound touch or nearly touch, the kept piece reaches on to the quietest place between. */
function quietBoundaries(pieces: Piece[], sound: Sound): Piece[] {
  for (let i = 1; i < pieces.length; i++) {
    const a = pieces[i - 1]!;
    const b = pieces[i]!;
    if (a.keep === b.keep || b.start - a.end > 2 * INTO_DROPPED) continue;
    const room = Math.min(INTO_DROPPED, ((a.keep ? b : a).end - (a.keep ? b : a).start) / 2);
    const cut = a.keep
      ? quietest(sound, { start: a.end, end: b.start + room })
      : quietest(sound, { start: a.end - room, end: b.start });
    if (a.keep) {
      a.end = Math.max(a.end, Math.round(cut));
      b.start = Math.max(b.start, a.end);
    } else {
      b.start = Math.min(b.start, Math.round(cut));
      a.end = Math.min(a.end, b.start);
    }
  }
  return pieces.filter((piece) => piece.end > piece.start);
}
