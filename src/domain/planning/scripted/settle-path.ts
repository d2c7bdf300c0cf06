/**
 * Corrects the path, which follows the spelling, by audio: which take of a line to keep, and its extent. A paragraph
 * that was read twice is one of the attempts, never parts of both, if one is complete and as good.
 */

import { measureWordDistance } from "../../text/normalize";
import { isContentWord } from "../lexicon/lexicon";
import { hasDifferentWords } from "../retakes/repetition";
import { takeWorth } from "../take-list";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import { type ScriptPath, worthOf } from "./find-path";
import { extendToPhrases, type LineCandidate } from "./line-candidates";
import { measureFoundShare } from "./misaligned-lines";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/**
 * Moves each line to the best of its accepted candidates between the adjacent lines, and keeps all of that candidate,
 * except for what the path skips inside it.
 */
export function settlePath(
  path: ScriptPath,
  recording: ScriptedRecording,
  candidates: readonly LineCandidate[][],
): ScriptPath {
  const { lines, tokens } = recording;
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  const offsets = lines.map(() => 0);
  for (let i = 1; i < lines.length; i++) offsets[i] = offsets[i - 1]! + lines[i - 1]!.words.length;
  const isOtherLine = createOtherLineCheck(path, offsets, recording);
  const placeAt = (i: number) => findPlace(pairs, offsets[i]!, lines[i]!.words.length);
  // The share of each line's words that are found: 1 in an accepted candidate, -1 until it is measured.
  const shares = new Float64Array(lines.length).fill(-1);
  const measureShare = (i: number): number => {
    const place = placeAt(i);
    if (!place) return 0;
    if (candidates[i]!.some((one) => one.accepted && countShared(place, one) > 0)) return 1;
    return measureFoundShare(lines[i]!, pairs.subarray(offsets[i]!, offsets[i]! + lines[i]!.words.length), tokens);
  };
  /** Returns the start of the next line that is in an accepted candidate or has more than this share of its words. */
  const findNext = (i: number, share: number) => {
    for (let next = i + 1; next < lines.length; next++) {
      if (shares[next]! < 0) shares[next] = measureShare(next);
      if (shares[next]! > share) return placeAt(next)!.from;
    }
    return kept.length;
  };
  /** Drops the pairs of lines from `first` on with tokens before `to`. Tokens of later words are later. */
  const dropPairsBefore = (first: number, to: number) => {
    for (let i = first; i < lines.length; i++) {
      const place = placeAt(i);
      if (place && place.from >= to) return;
      const own = pairs.subarray(offsets[i]!, offsets[i]! + lines[i]!.words.length);
      for (const [k, token] of own.entries()) if (token < to) own[k] = -1;
      if (place) shares[i] = -1;
    }
  };
  let before = 0;
  for (const [i, line] of lines.entries()) {
    const place = placeAt(i);
    if (!place) continue;
    const after = findNext(i, COMMON.minCompleteShare);
    // A line that moves over the next one would leave it without words.
    const next = findNext(i, COMMON.minSameShare);
    // The path has all words of the line, with others between them, as of a line that is said once around another.
    const isWhole = line.words.every((word, k) => tokens[pairs[offsets[i]! + k]!]?.normal === word);
    if (isWhole && kept.subarray(place.from, place.to).includes(0)) {
      before = place.to;
      continue;
    }
    const possible = candidates[i]!.filter((one) => one.accepted && one.from <= next && !isOtherLine(i, place, one));
    const best = findBestBetween(possible, place, before, after);
    if (best) {
      const isSame = isMostlyIn(pairs.subarray(offsets[i]!, offsets[i]! + line.words.length), best);
      const from = Math.max(best.from, before);
      // Another take may have words of the next line, but this one ends before it.
      const to = Math.min(best.to, isSame ? next : after);
      for (let j = place.from; j < place.to; j++) if (j < from || j >= to || !isSame) kept[j] = 0;
      for (let j = from; j < to; j++) if (!isSame || j < place.from || j >= place.to) kept[j] = 1;
      for (let k = 0; k < line.words.length; k++) {
        const pair = isSame ? pairs[offsets[i]! + k]! : best.pairs[k]!;
        pairs[offsets[i]! + k] = pair >= from && pair < to ? pair : -1;
      }
      dropPairsBefore(i + 1, to);
      before = to;
    } else before = place.to;
    const settled = placeAt(i);
    const ownPairs = pairs.subarray(offsets[i]!, offsets[i]! + line.words.length);
    if (settled) keepIsolatedWords(kept, tokens, ownPairs, settled);
  }
  return { pairs, kept };
}

/** Keeps a single token in place of a missing first or last word: "Hi" is often isolated and misrecognized. */
function keepIsolatedWords(
  kept: Uint8Array,
  tokens: readonly Token[],
  pairs: Int32Array,
  { from, to }: TokenRange,
): void {
  const pause = (j: number) => pauseBefore(tokens, j);
  const isIsolated = (j: number, gap: number, far: number) =>
    tokens[j] && !kept[j] && gap <= SCRIPT.minSentencePause && far > gap;
  if (pairs[0] === -1 && isIsolated(from - 1, pause(from), pause(from - 1))) kept[from - 1] = 1;
  const far = to + 1 < tokens.length ? pause(to + 1) : Number.POSITIVE_INFINITY;
  if (pairs[pairs.length - 1] === -1 && tokens[to] && isIsolated(to, pause(to), far)) kept[to] = 1;
}

/** Returns where the path has a line: from its first to its last matched token. */
function findPlace(pairs: Int32Array, offset: number, count: number): TokenRange | null {
  const own = pairs.subarray(offset, offset + count).filter((token) => token >= 0);
  return own.length === 0 ? null : { from: own[0]!, to: own[own.length - 1]! + 1 };
}

const countShared = (a: TokenRange, b: TokenRange) => Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));
const isMostlyIn = (pairs: Int32Array, { from, to }: TokenRange) => {
  const found = pairs.filter((token) => token >= 0);
  return found.filter((token) => token >= from && token < to).length > COMMON.minSameShare * found.length;
};

/**
 * Returns a function that returns whether a candidate of line i is another line: the path has it for a later one, and
 * it contains a clearly recognized word that differs from the speech where the path has line i, or a word of the later
 * line that is neither said there nor in line i, or its phrase ends with another clear word.
 */
function createOtherLineCheck(
  path: ScriptPath,
  offsets: readonly number[],
  { lines, tokens, words, lexicon }: ScriptedRecording,
): (i: number, place: TokenRange, candidate: LineCandidate) => boolean {
  const lineAt = new Int32Array(tokens.length).fill(-1);
  const isFound = new Uint8Array(tokens.length);
  for (const [i, line] of lines.entries()) {
    for (const [k, word] of line.words.entries()) {
      const token = path.pairs[offsets[i]! + k]!;
      if (token < 0) continue;
      lineAt[token] = i;
      if (tokens[token]!.normal === word && isContentWord(word, lexicon)) isFound[token] = 1;
    }
  }
  const compared = { tokens, words, lexicon };
  const isClear = ({ normal, word }: Token) =>
    isContentWord(normal, lexicon) && words[word]!.confidence >= COMMON.likelyWordConfidence;
  /** Returns how many words a range has to the end of its last phrase, up to one that is found in another line. */
  const countToPhraseEnd = (range: TokenRange) => {
    const own = new Set(lineAt.subarray(range.from, range.to));
    const phraseEnd = extendToPhrases(range, tokens).to;
    let end = range.to;
    while (end < phraseEnd && (isFound[end] === 0 || own.has(lineAt[end]!))) end++;
    return end - range.from;
  };
  /**
   * Returns whether a place and a candidate end with other clear words, which the lines may lack. After one of them,
   * the next sentence may follow without a pause. A false start ends with a word that the candidate has too.
   */
  const endOtherwise = (place: TokenRange, candidate: TokenRange) => {
    const count = Math.min(countToPhraseEnd(place), countToPhraseEnd(candidate));
    const [placeEnd, end] = [Math.max(place.to, place.from + count), Math.max(candidate.to, candidate.from + count)];
    if (Math.max(placeEnd - place.to, end - candidate.to) > COMMON.manyWords) return false;
    const last = tokens[placeEnd - 1]!;
    const isLast = ({ normal }: Token) => measureWordDistance(normal, last.normal) <= RETAKES.maxSimilarWordDistance;
    return isClear(last) && isClear(tokens[end - 1]!) && !tokens.slice(candidate.from, end).some(isLast);
  };
  /** Returns whether the words after a range, in the same phrase, are those of one of these lines. */
  const continuesIn = (range: TokenRange, own: readonly number[]) => {
    const { to } = extendToPhrases(range, tokens);
    return own.some((line) =>
      lineAt.subarray(range.to, to).some((other, j) => other === line && isFound[range.to + j]),
    );
  };
  return (i, place, { from, to }) => {
    if (from < place.to || Math.max(to - from, place.to - place.from) > COMMON.maxComparedWords) return false;
    const ofLater = lineAt.subarray(from, to).filter((line) => line > i);
    if (ofLater.length <= COMMON.minSameShare * (to - from)) return false;
    if (continuesIn({ from, to }, [...new Set(ofLater)])) return true;
    const own = new Set([...lines[i]!.words, ...tokens.slice(place.from, place.to).map(({ normal }) => normal)]);
    // Swapped words of a line are not found, but said.
    const later = new Set([...new Set(ofLater)].flatMap((line) => lines[line]!.words));
    const isOther = ({ normal }: Token) => isContentWord(normal, lexicon) && later.has(normal) && !own.has(normal);
    const repetition = {
      from: place.from,
      end: place.to,
      retakeStart: from,
      matched: to - from,
      confirmedByAudio: false,
    };
    return (
      tokens.slice(from, to).some(isOther) ||
      hasDifferentWords(compared, repetition) ||
      endOtherwise(place, { from, to })
    );
  };
}

/** Returns the best accepted candidate that fits between the neighbors; null if the path has the line in none. */
function findBestBetween(
  accepted: readonly LineCandidate[],
  place: TokenRange,
  before: number,
  after: number,
): LineCandidate | null {
  if (!accepted.some((one) => countShared(place, one) > 0)) return null;
  let best: LineCandidate | null = null;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [rank, one] of accepted.entries()) {
    // A candidate extends to the next pauses, where the lines beside it may be spoken.
    const own = findPlace(one.pairs, 0, one.pairs.length) ?? one;
    const free = Math.min(own.to, after) - Math.max(own.from, before);
    if (free < COMMON.minLengthRatio * (own.to - own.from) || free <= 0) continue;
    const worth = worthOf(one, rank);
    if (worth < highest) continue;
    best = one;
    highest = worth;
  }
  return best;
}

/** The takes of all lines of a paragraph, in a row. */
type Attempt = readonly LineCandidate[];
/** Where the path has each line of a paragraph; null where it has one in no candidate. */
type ChosenTakes = readonly (LineCandidate | null)[];

/** Moves each paragraph whose lines are from several attempts to a complete attempt that is as good. */
export function keepWholeAttempts(
  path: ScriptPath,
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
): ScriptPath {
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  let offset = 0;
  let before = 0;
  for (const [first, end] of listParagraphs(lines)) {
    const offsets: number[] = [];
    for (let i = first; i < end; i++) {
      offsets.push(offset);
      offset += lines[i]!.words.length;
    }
    const after = findFirst(pairs, offset) ?? kept.length;
    const accepted = candidates.slice(first, end).map((row) => row.filter((one) => one.accepted));
    const chosen = accepted.map((row, n) => findChosen(row, pairs, offsets[n]!));
    const found = chosen.filter((one) => one !== null);
    if (end - first > 1 && found.length > 0 && !isAttempt(chosen, accepted)) {
      const attempt = findBestAttempt(accepted, before, after);
      if (attempt && worthOfAttempt(attempt, accepted) >= worthOfAttempt(chosen, accepted) - SCRIPT.maxQualityLoss) {
        const all = [...found, ...attempt];
        // Takes may extend into the paragraphs beside theirs.
        const from = Math.max(before, Math.min(...all.map((one) => one.from)));
        kept.fill(0, from, Math.min(after, Math.max(...all.map((one) => one.to))));
        for (const [n, one] of attempt.entries()) {
          kept.fill(1, one.from, one.to);
          pairs.set(one.pairs, offsets[n]);
        }
      }
    }
    for (let k = offsets[0]!; k < offset; k++) before = Math.max(before, pairs[k]! + 1);
  }
  return { pairs, kept };
}

/** Returns the lines of each paragraph as `[first, end)`. A line without a paragraph is one of its own. */
function listParagraphs(lines: readonly ScriptLine[]): [first: number, end: number][] {
  const out: [number, number][] = [];
  for (const [i, { paragraph }] of lines.entries()) {
    const last = out.at(-1);
    if (last && paragraph !== undefined && lines[i - 1]!.paragraph === paragraph) last[1] = i + 1;
    else out.push([i, i + 1]);
  }
  return out;
}

/** Returns the first token of the path from a word of the script on; null if it has none. */
function findFirst(pairs: Int32Array, from: number): number | null {
  return pairs.subarray(from).find((token) => token >= 0) ?? null;
}

/** Returns the candidate in which the path has a line: the one with most of its words. */
function findChosen(row: readonly LineCandidate[], pairs: Int32Array, offset: number): LineCandidate | null {
  let best: LineCandidate | null = null;
  let most = 0;
  for (const one of row) {
    const own = pairs.subarray(offset, offset + one.pairs.length);
    const shared = own.filter((token) => token >= one.from && token < one.to).length;
    if (shared <= most) continue;
    most = shared;
    best = one;
  }
  return best;
}

/**
 * Returns whether takes follow each other with few words between them, none of which is a take of another line of the
 * paragraph. A line that is said again at once is no other attempt at the paragraph.
 */
const isAttempt = (takes: ChosenTakes, accepted: readonly LineCandidate[][]): boolean =>
  takes.every((one, n) => {
    const before = takes[n - 1];
    if (!one || !before) return one !== null && n === 0;
    const first = accepted[n]!.find(({ from }) => from >= before.to && from < one.from) ?? one;
    const others = accepted.filter((_, line) => line !== n);
    return follows(before, first, accepted) && !hasBetween(before, one, others);
  });

function follows(one: LineCandidate, next: LineCandidate, accepted: readonly LineCandidate[][]): boolean {
  const gap = next.from - one.to;
  return gap >= 0 && gap <= COMMON.manyWords && !hasBetween(one, next, accepted);
}

const hasBetween = (one: LineCandidate, next: LineCandidate, accepted: readonly LineCandidate[][]): boolean =>
  accepted.some((row) => row.some((other) => other.from >= one.to && other.to <= next.from));

function findBestAttempt(accepted: readonly LineCandidate[][], before: number, after: number): Attempt | null {
  let best: Attempt | null = null;
  let highest = Number.NEGATIVE_INFINITY;
  for (const start of accepted[0]!) {
    if (start.from < before || !start.complete) continue;
    const takes = [start];
    for (const row of accepted.slice(1)) {
      const next = row.find((one) => one.complete && follows(takes.at(-1)!, one, accepted));
      if (!next) break;
      takes.push(next);
    }
    if (takes.length < accepted.length || takes.at(-1)!.to > after) continue;
    const worth = worthOfAttempt(takes, accepted);
    if (worth < highest) continue;
    highest = worth;
    best = takes;
  }
  return best;
}

/** Returns the mean worth of the takes, of which later ones are worth more. */
function worthOfAttempt(takes: ChosenTakes, accepted: readonly LineCandidate[][]): number {
  const worths = takes.map((one, n) => (one ? worthOf(one, accepted[n]!.indexOf(one)) : takeWorth(0, 0)));
  return worths.reduce((sum, worth) => sum + worth, 0) / worths.length;
}
