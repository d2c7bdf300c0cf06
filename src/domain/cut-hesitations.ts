/** Hesitations that the recogniser spells as something else, or leaves out: short sounds apart, held against "um", "uh" and "hmm". */
import { firstEndingAfter, overlap, type Sound } from "./cut-sound";
import type { PlanSteps } from "./cut-unscripted";
import { isFillerText } from "./fillers";
import { usable } from "./script-alignment";
import type { Word } from "./speech";
import { fromSeconds, type Span } from "./time";

const SHORTEST = fromSeconds(0.12);
const LONGEST = fromSeconds(0.9);
const QUIET = fromSeconds(0.15);
const PAD = fromSeconds(0.15);
const SOUNDS = ["Um.", "Uh,", "Hmm."];
/** A hesitation fits one of them at least this well, and better than the word it was taken for. */
const FITS = -2.9;
const BETTER = 0.2;
/** A hesitation is never taken for a longer word. */
const LONGEST_WORD = 5;

/** The stretches that are hesitations, and the indices of the words that stand for them. */
export type Hesitations = { spans: Span[]; words: Set<number> };

/** Listens to each short sound that stands apart in a recording with at most one word in it. */
export function* hearHesitations(words: readonly Word[], sound: Sound): PlanSteps<Hesitations> {
  const { islands } = sound;
  const suspects = islands.flatMap((island, i) => {
    const length = island.end - island.start;
    const before = island.start - (islands[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (islands[i + 1]?.start ?? Number.POSITIVE_INFINITY) - island.end;
    if (length < SHORTEST || length > LONGEST || before < QUIET || after < QUIET) return [];
    const inside = wordsIn(words, island);
    if (inside.length > 1 || inside.some((k) => letters(words[k]!.text) > LONGEST_WORD)) return [];
    const window = { start: Math.max(0, island.start - PAD), end: Math.min(sound.duration, island.end + PAD) };
    const taken = inside[0] === undefined ? [] : [words[inside[0]]!.text];
    return [{ island, word: inside[0], requests: [...SOUNDS, ...taken].map((text) => ({ window, text })) }];
  });
  const answers = yield suspects.flatMap((suspect) => suspect.requests);
  const found: Hesitations = { spans: [], words: new Set() };
  let at = 0;
  for (const { island, word, requests } of suspects) {
    const scores = answers.slice(at, at + requests.length).map((one) => (usable(one) ? one.meanLogProb : -99));
    at += requests.length;
    const best = Math.max(...scores.slice(0, SOUNDS.length));
    const spelled = word !== undefined && isFillerText(words[word]!.text);
    if (!spelled && (best < FITS || best < (scores[SOUNDS.length] ?? -99) + BETTER)) continue;
    if (!spelled && word === undefined && best === -99) continue;
    found.spans.push(island);
    if (word !== undefined) found.words.add(word);
  }
  return found;
}

const letters = (text: string) => text.replace(/[^\p{L}]/gu, "").length;

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
