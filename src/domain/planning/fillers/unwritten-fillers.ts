/** Hesitations that the recogniser spells as something else, or leaves out: short sounds apart, held against "um", "uh" and "hmm". */

import type { AlignmentRequest, ForcedAlignment, Word } from "../../speech";
import { normalWords } from "../../text/normal";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { isUsableAlignment } from "../alignments";
import { type AudioActivity, indexEndingAfter, overlapDuration } from "../audio-activity";
import type { PlanSteps } from "../context";
import { isFillerText } from "./filler-words";

const SHORTEST = fromSeconds(0.09);
const LONGEST = fromSeconds(0.9);
const QUIET = fromSeconds(0.14);
/** Quiet on both sides of an article that is said apart, and of anything in noise, which swallows the edges of words. */
const WIDE_QUIET = fromSeconds(0.25);
const NOISY = 22;
const PAD = fromSeconds(0.15);
const SOUNDS = ["Um.", "Uh,", "Hmm."];
/** What else a short sound apart may be, when nothing was heard in it. */
const WORDS = ["So.", "No.", "Yes.", "And.", "But.", "The.", "I.", "It.", "A.", "Then.", "Come.", "That."];
/** A hesitation fits one of the sounds at least this well. */
const FITS = -3.25;
const MAY_FIT = -4.5;
/** How much better than the word it was taken for; what is no word fits hardly worse than some word. */
const BETTER = 0.5;
const HARDLY_WORSE = -1;
/** A recogniser is less sure than this of a word that was none. */
const UNSURE = 0.68;
/** Longer words are never a misheard hesitation. */
const LONGEST_WORD = 5;
/** Nobody says an article apart from its noun: it is a hesitation even when the article fits about as well. */
const ARTICLES = new Set(["a", "an", "the"]);
const ARTICLE_MAY_FIT = 0.25;
/** What "um", "uh" and "er" are taken for, and what is seldom said apart: a hesitation unless it fits the word much better. */
const SOUND_ALIKES = new Set("dumb dump bert burt burke thumb them her sum err un ham".split(" "));
const ALIKE_MAY_FIT = 3;
/** Voices that read a script aloud spell "hmm". */
const SPELLED = "H. M. M.";
const SPELLED_FITS = -2.35;
const SPELLED_LONGEST = fromSeconds(1.25);
const SPELLED_SHORTEST = fromSeconds(0.45);
const SPELLED_MOST_WORDS = 4;

/** The stretches that are hesitations, and the indices of the words that stand for them. */
export type UnwrittenFillers = { spans: Span[]; words: Set<number> };

/** A short sound apart. `words` are those heard in it. */
type FillerCandidate = {
  region: Span;
  quiet: Ticks;
  words: number[];
  kind: "sound" | "spelled";
  requests: AlignmentRequest[];
};

/** Listens to each short sound that stands apart in a recording. */
export function* findUnwrittenFillers(words: readonly Word[], activity: AudioActivity): PlanSteps<UnwrittenFillers> {
  const candidates = listFillerCandidates(words, activity);
  const answers = yield candidates.flatMap((candidate) => candidate.requests);
  const found: UnwrittenFillers = { spans: [], words: new Set() };
  let at = 0;
  for (const candidate of candidates) {
    const scores = answers.slice(at, at + candidate.requests.length).map(scoreOf);
    at += candidate.requests.length;
    const is =
      candidate.kind === "spelled" ? (scores[0] ?? MAY_FIT) >= SPELLED_FITS : isSound(candidate, words, scores);
    if (!is) continue;
    found.spans.push(candidate.region);
    for (const word of candidate.words) found.words.add(word);
  }
  return found;
}

const scoreOf = (alignment: ForcedAlignment) =>
  isUsableAlignment(alignment) ? alignment.meanLogProb : Number.NEGATIVE_INFINITY;

function listFillerCandidates(
  words: readonly Word[],
  { speechRegions, duration, contrast }: AudioActivity,
): FillerCandidate[] {
  const least = contrast < NOISY ? WIDE_QUIET : QUIET;
  return speechRegions.flatMap((region, i) => {
    const length = region.end - region.start;
    const before = region.start - (speechRegions[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (speechRegions[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const quiet = Math.min(before, after);
    if (length < SHORTEST || length > SPELLED_LONGEST || quiet < least) return [];
    const inside = wordsIn(words, region);
    const window = { start: Math.max(0, region.start - PAD), end: Math.min(duration, region.end + PAD) };
    const ask = (kind: FillerCandidate["kind"], texts: readonly string[]): FillerCandidate => ({
      region,
      quiet,
      words: inside,
      kind,
      requests: texts.map((text) => ({ window, text })),
    });
    const spelled =
      length >= SPELLED_SHORTEST && inside.length <= SPELLED_MOST_WORDS ? [ask("spelled", [SPELLED])] : [];
    if (inside.length > 1 || length > LONGEST) return spelled;
    return [
      ask("sound", [...SOUNDS, ...(inside[0] === undefined ? WORDS : readings(words[inside[0]]!.text))]),
      ...spelled,
    ];
  });
}

/** A word as it would be written if it were all that was said: a recogniser expects a capital and a mark. */
function readings(text: string): string[] {
  const plain = text.replace(/[^\p{L}\p{N}']+$/u, "");
  const capital = plain.slice(0, 1).toUpperCase() + plain.slice(1);
  return [...new Set([text, `${capital}.`, `${capital},`])];
}

/** Whether a sound is a hesitation, from how well it fits each of the sounds, and the words that it may be instead. */
function isSound(
  { quiet, words: [index] }: FillerCandidate,
  words: readonly Word[],
  scores: readonly number[],
): boolean {
  const best = Math.max(...scores.slice(0, SOUNDS.length));
  const own = Math.max(...scores.slice(SOUNDS.length));
  if (index === undefined) return best >= FITS && best >= own + HARDLY_WORSE;
  const { text, confidence } = words[index]!;
  if (isFillerText(text)) return true;
  const normal = normalWords(text).join(" ");
  if (best < MAY_FIT || normal.length > LONGEST_WORD) return false;
  if (ARTICLES.has(normal) && quiet >= WIDE_QUIET) return best >= own - ARTICLE_MAY_FIT;
  return confidence < UNSURE && best >= own + (SOUND_ALIKES.has(normal) ? -ALIKE_MAY_FIT : BETTER);
}

/** The words that lie for the most part in a span, or that fill most of it. */
function wordsIn(words: readonly Word[], span: Span): number[] {
  const out: number[] = [];
  for (let i = Math.max(0, indexEndingAfter(words, span.start) - 2); i < words.length; i++) {
    const word = words[i]!;
    if (word.start >= span.end) break;
    if (overlapDuration(word, span) > 0.5 * Math.min(word.end - word.start, span.end - span.start)) out.push(i);
  }
  return out;
}
