/** Hesitations that the recogniser spells as something else, or leaves out: short sounds apart, held against "um", "uh" and "hmm". */

import type { ForceRequest, Word } from "../speech";
import { normalWords } from "../text/normal";
import { fromSeconds, type Span, type Ticks } from "../time";

import { isFillerText } from "./fillers";
import { usable } from "./forced";
import { firstEndingAfter, overlap, type Sound } from "./sound";
import type { PlanSteps } from "./steps";

const SHORTEST = fromSeconds(0.09);
const LONGEST = fromSeconds(0.9);
const QUIET = fromSeconds(0.14);
/** Quiet on both sides of a hesitation that is spelled like a common word. */
const WIDE_QUIET = fromSeconds(0.25);
const PAD = fromSeconds(0.15);
const SOUNDS = ["Um.", "Uh,", "Hmm."];
/** A hesitation fits one of them at least this well. */
const FITS = -3.25;
/** It fits better than the word it was taken for, by little when the recogniser was not sure of that word, else by much. */
const BETTER = 0.2;
const MUCH_BETTER = 2;
const UNSURE = 0.68;
const VERY_UNSURE = 0.55;
/** What "um", "uh" and "er" are taken for. */
const SOUND_ALIKES = new Set(
  "a ah am an and arm are come dumb er err ham heard her him hum i if of oh on or some sum the them thumb up us burke burt bert but".split(
    " ",
  ),
);
/** Small words that somebody may say apart, but seldom between two pauses. */
const SMALL = new Set("a an and but her if of or the".split(" "));

/** The stretches that are hesitations, and the indices of the words that stand for them. */
export type Hesitations = { spans: Span[]; words: Set<number> };

type Suspect = { island: Span; quiet: Ticks; word: number | null; requests: ForceRequest[] };

/** Listens to each short sound that stands apart in a recording with at most one word in it. */
export function* hearHesitations(words: readonly Word[], sound: Sound): PlanSteps<Hesitations> {
  const suspects = suspectsIn(words, sound);
  const answers = yield suspects.flatMap((suspect) => suspect.requests);
  const found: Hesitations = { spans: [], words: new Set() };
  let at = 0;
  for (const suspect of suspects) {
    const scores = answers
      .slice(at, at + suspect.requests.length)
      .map((one) => (usable(one) ? one.meanLogProb : Number.NEGATIVE_INFINITY));
    at += suspect.requests.length;
    const best = Math.max(...scores.slice(0, SOUNDS.length));
    const own = scores[SOUNDS.length] ?? Number.NEGATIVE_INFINITY;
    if (!isHesitation(suspect, words, best, own)) continue;
    found.spans.push(suspect.island);
    if (suspect.word !== null) found.words.add(suspect.word);
  }
  return found;
}

function suspectsIn(words: readonly Word[], { islands, duration }: Sound): Suspect[] {
  return islands.flatMap((island, i) => {
    const length = island.end - island.start;
    const before = island.start - (islands[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (islands[i + 1]?.start ?? Number.POSITIVE_INFINITY) - island.end;
    const quiet = Math.min(before, after);
    if (length < SHORTEST || length > LONGEST || quiet < QUIET) return [];
    const inside = wordsIn(words, island);
    if (inside.length > 1) return [];
    const word = inside[0] ?? null;
    const window = { start: Math.max(0, island.start - PAD), end: Math.min(duration, island.end + PAD) };
    const texts = word === null ? SOUNDS : [...SOUNDS, words[word]!.text];
    return [{ island, quiet, word, requests: texts.map((text) => ({ window, text })) }];
  });
}

/** `best`: how well it fits a hesitation; `own`: how well it fits the word it was taken for. */
function isHesitation({ quiet, word }: Suspect, words: readonly Word[], best: number, own: number): boolean {
  if (word === null) return best >= FITS;
  const { text, confidence } = words[word]!;
  if (isFillerText(text)) return true;
  if (best < FITS) return false;
  const normal = normalWords(text).join(" ");
  if (SMALL.has(normal) && quiet >= WIDE_QUIET && best >= own + MUCH_BETTER) return true;
  if (SOUND_ALIKES.has(normal)) return confidence < UNSURE;
  return confidence < VERY_UNSURE && quiet >= WIDE_QUIET && best >= own + BETTER && normal.length <= LONGEST_WORD;
}

/** Longer words are never a misheard hesitation. */
const LONGEST_WORD = 6;

/** The words that lie for the most part in a span, or that fill most of it. */
function wordsIn(words: readonly Word[], span: Span): number[] {
  const out: number[] = [];
  for (let i = Math.max(0, firstEndingAfter(words, span.start) - 2); i < words.length; i++) {
    const word = words[i]!;
    if (word.start >= span.end) break;
    if (overlap(word, span) > 0.5 * Math.min(word.end - word.start, span.end - span.start)) out.push(i);
  }
  return out;
}
