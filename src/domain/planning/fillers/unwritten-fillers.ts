/**
 * Stage 4, fillers: finds those that the recognizer spells as another word or omits. Short isolated regions are
 * force-aligned with "um", "uh" and "hmm", and with the words that they could be instead.
 */
import type { AlignmentRequest, ForcedAlignment, Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { isUsableAlignment } from "../alignments";
import type { AudioActivity } from "../audio-activity";
import { type PlanSteps, requestAlignments } from "../context";
import type { RuleMatch } from "../rules";
import { durationOf } from "../spans";
import { ARTICLES, FILLER_HOMOPHONES, isClear, isFillerText, MAX_FILLER_TICKS } from "./filler-words";
import { findListenerAnswers } from "./listener-answers";
import { confirmFillers, findWordsIn } from "./second-recognition";

const MIN_FILLER_TICKS = fromSeconds(0.09);
const MAX_REGION_TICKS = fromSeconds(0.9);
const MIN_PAUSE_TICKS = fromSeconds(0.14);
/** Minimum pause on both sides of an isolated article, and of anything in noise, which hides the edges of words. */
const MIN_WIDE_PAUSE_TICKS = fromSeconds(0.25);
const NOISY_CONTRAST_DB = 22;
const PADDING_TICKS = fromSeconds(0.15);
const FILLER_TEXTS = ["Um.", "Uh,", "Hmm."];
/** Words that a short isolated region could be if the recognizer found no word in it. */
const SHORT_WORDS = ["So.", "No.", "Yes.", "And.", "But.", "The.", "I.", "It.", "A.", "Then.", "Come.", "That."];
/** Minimum mean log probability of a filler if no word was recognized, and if one was. */
const MIN_FILLER_ALIGNMENT = -3.25;
const MIN_FILLER_ALIGNMENT_OVER_WORD = -4.5;
/** Minimum lead of a filler's alignment over the recognized word's, and maximum lag behind some short word's. */
const MIN_LEAD_OVER_WORD = 0.5;
const MAX_LAG_BEHIND_SHORT_WORD = 1;
/** A word with at least this confidence was said, and is not a filler. */
const MAX_CONFIDENCE = 0.68;
/** Longer words are never misrecognized fillers. */
const MAX_WORD_CHARACTERS = 5;
/** An article is not spoken apart from its noun: alone, it is a filler even if the article aligns about as well. */
const MAX_LAG_BEHIND_ARTICLE = 0.25;
/** Homophones are fillers unless the word aligns much better. */
const MAX_LAG_BEHIND_HOMOPHONE = 3;
/** Synthetic voices read "hmm" letter by letter. */
const SPELLED_HMM = "H. M. M.";
const MIN_SPELLED_ALIGNMENT = -2.35;
const MIN_SPELLED_TICKS = fromSeconds(0.45);
const MAX_SPELLED_WORDS = 4;

export type FillerMatch = RuleMatch<"filler.written" | "filler.unwritten" | "filler.spelled_out">;
/** The filler spans, the rules for words that are fillers, by index, and the spans said by a listener. */
export type UnwrittenFillers = {
  spans: (Span & { match: FillerMatch })[];
  words: Map<number, FillerMatch>;
  answers: ReadonlySet<Span>;
};

/** A short isolated region. `words` were recognized in it, `pause` is the shorter of the surrounding pauses. */
type FillerCandidate = {
  region: Span;
  pause: Ticks;
  words: number[];
  kind: "filler" | "spelled";
  requests: AlignmentRequest[];
};

/** Aligns each short isolated region of a recording and returns the fillers. */
export function* findUnwrittenFillers(words: readonly Word[], activity: AudioActivity): PlanSteps<UnwrittenFillers> {
  const candidates = listFillerCandidates(words, activity);
  const results = yield* requestAlignments(candidates.flatMap((candidate) => candidate.requests));
  const matches: { candidate: FillerCandidate; match: FillerMatch }[] = [];
  let at = 0;
  for (const candidate of candidates) {
    const scores = results.slice(at, at + candidate.requests.length).map(scoreOf);
    at += candidate.requests.length;
    const match = candidate.kind === "spelled" ? matchSpelled(scores) : matchFiller(candidate, words, scores);
    if (match !== null) matches.push({ candidate, match });
  }
  const aligned = matches.flatMap(({ candidate: { region }, match }) =>
    match.rule === "filler.written" ? [] : [{ region, alignment: match.scores.alignment }],
  );
  const confirmed = yield* confirmFillers(aligned, words, activity);
  const refuted = new Set(aligned.filter((_, i) => !confirmed[i]).map(({ region }) => region));
  const fillers = matches.filter(({ candidate }) => !refuted.has(candidate.region));
  const answers = yield* findListenerAnswers(
    fillers.map(({ candidate }) => candidate.region),
    words,
    activity,
  );
  const found: UnwrittenFillers = { spans: [], words: new Map(), answers };
  for (const { candidate, match } of fillers) {
    if (answers.has(candidate.region)) continue;
    found.spans.push({ ...candidate.region, match });
    for (const word of candidate.words) found.words.set(word, match);
  }
  return found;
}

const scoreOf = (alignment: ForcedAlignment) =>
  isUsableAlignment(alignment) ? alignment.meanLogProb : Number.NEGATIVE_INFINITY;

function listFillerCandidates(words: readonly Word[], activity: AudioActivity): FillerCandidate[] {
  const { speechRegions, duration, contrast } = activity;
  const minPause = contrast < NOISY_CONTRAST_DB ? MIN_WIDE_PAUSE_TICKS : MIN_PAUSE_TICKS;
  return speechRegions.flatMap((region, i) => {
    const length = durationOf(region);
    const before = region.start - (speechRegions[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (speechRegions[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const pause = Math.min(before, after);
    if (length < MIN_FILLER_TICKS || length > MAX_FILLER_TICKS || pause < minPause) return [];
    if (!isClear(region, activity)) return [];
    const inside = findWordsIn(words, region);
    const window = {
      start: Math.max(0, region.start - PADDING_TICKS),
      end: Math.min(duration, region.end + PADDING_TICKS),
    };
    const toCandidate = (kind: FillerCandidate["kind"], texts: readonly string[]): FillerCandidate => ({
      region,
      pause,
      words: inside,
      kind,
      requests: texts.map((text) => ({ window, text })),
    });
    const spelled =
      length >= MIN_SPELLED_TICKS && inside.length <= MAX_SPELLED_WORDS ? [toCandidate("spelled", [SPELLED_HMM])] : [];
    if (inside.length > 1 || length > MAX_REGION_TICKS) return spelled;
    const others = inside[0] === undefined ? SHORT_WORDS : toReadings(words[inside[0]]!.text);
    return [toCandidate("filler", [...FILLER_TEXTS, ...others]), ...spelled];
  });
}

/** Returns a word as written when it stands alone: a recognizer expects a capital letter and punctuation. */
function toReadings(text: string): string[] {
  const plain = text.replace(/(?<![^\p{L}\p{N}'])[^\p{L}\p{N}']+$/u, "");
  const capital = plain.slice(0, 1).toUpperCase() + plain.slice(1);
  return [...new Set([text, `${capital}.`, `${capital},`])];
}

function matchSpelled([score = MIN_FILLER_ALIGNMENT_OVER_WORD]: readonly number[]): FillerMatch | null {
  if (score < MIN_SPELLED_ALIGNMENT) return null;
  const scores = { alignment: score, otherAlignment: null, confidence: null };
  return { rule: "filler.spelled_out", scores };
}

/** Decides by how well a region aligns with each filler and with each word that it could be instead. */
function matchFiller(
  { region, pause, words: [index] }: FillerCandidate,
  words: readonly Word[],
  scores: readonly number[],
): FillerMatch | null {
  const alignment = Math.max(...scores.slice(0, FILLER_TEXTS.length));
  const otherAlignment = Math.max(...scores.slice(FILLER_TEXTS.length));
  const word = index === undefined ? null : words[index]!;
  if (word && isFillerText(word.text))
    return { rule: "filler.written", scores: { duration: durationOf(region), pause } };
  if (!isFillerAlignment(alignment, otherAlignment, word, pause)) return null;
  return {
    rule: "filler.unwritten",
    scores: {
      alignment,
      otherAlignment: Number.isFinite(otherAlignment) ? otherAlignment : null,
      confidence: word?.confidence ?? null,
    },
  };
}

function isFillerAlignment(filler: number, other: number, word: Word | null, pause: Ticks): boolean {
  if (word === null) return filler >= MIN_FILLER_ALIGNMENT && filler >= other - MAX_LAG_BEHIND_SHORT_WORD;
  const normal = normalizeWords(word.text).join(" ");
  if (filler < MIN_FILLER_ALIGNMENT_OVER_WORD || normal.length > MAX_WORD_CHARACTERS) return false;
  if (ARTICLES.has(normal) && pause >= MIN_WIDE_PAUSE_TICKS) return filler >= other - MAX_LAG_BEHIND_ARTICLE;
  const lead = FILLER_HOMOPHONES.has(normal) ? -MAX_LAG_BEHIND_HOMOPHONE : MIN_LEAD_OVER_WORD;
  return word.confidence < MAX_CONFIDENCE && filler >= other + lead;
}
