/**
 * Decides which voice to trust: stretches of the transcript, and voice without words. A recognizer also writes words
 * for noise, and for speech in a language that it does not know; their log probabilities are low, or the text is
 * repeated many times.
 */

import type { SpeechAnalysis, Transcript, Utterance, Word } from "../speech";
import type { Span, Ticks } from "../time";
import { type AudioActivity, measureLevel, QUIET_SHARE } from "./audio-activity";
import { fitRecognitionBudget, type PlanSteps, requestRecognitions, requestVoices } from "./context";
import { type DecidedWord, KEEP } from "./decided-spans";
import { isFillerText, type Lexicon } from "./lexicon/lexicon";
import type { RuleMatch } from "./rules";
import {
  coveredDuration,
  type DecidedSpan,
  durationOf,
  findOverlapping,
  intersect,
  mergeSpans,
  sumCovered,
  toShare,
} from "./spans";
import { ACTIVITY, COMMON } from "./thresholds";

/**
 * The words to plan with, the stretches that were not understood (sorted, disjoint), and where the recognizer wrote
 * words in them: there is sound at these positions, even without voice activity.
 */
export type UnderstoodSpeech = { transcript: Transcript; notUnderstood: Span[]; ignoredWords: Span[] };

/** A word with the part of its utterance up to the next word, and evidence, in ticks, that it was not understood. */
type RatedWord = Span & { evidence: Ticks };

/** Separates what was understood from what was not. */
export function findUnderstoodSpeech(transcript: Transcript, speech: readonly Span[]): UnderstoodSpeech {
  if (hasAlmostNoWords(transcript, speech, COMMON.voiceSample)) return ignoreWords(transcript, [...speech], true);
  const words = rateWords(transcript);
  const garbled = findGarbledWords(words);
  if (garbled.length === 0) return { transcript, notUnderstood: [], ignoredWords: [] };
  const spans = mergeSpans([...garbled, ...silentNeighbors(speech, words, garbled)]);
  const understood = ignoreWords(transcript, spans, false);
  return { ...understood, notUnderstood: joinBetweenWords(understood) };
}

/**
 * Returns how likely the speech is in the language of its transcript, 0 to 1: the share of the voice that was
 * understood in the first minutes. Null if there is too little voice.
 */
export function rateLanguage(transcript: Transcript, speech: readonly Span[]): number | null {
  const isFirst = ({ start }: Span) => start < ACTIVITY.languageSample;
  const voice = speech.filter(isFirst);
  const total = voice.reduce((sum, span) => sum + durationOf(span), 0);
  if (total < COMMON.voiceSample) return null;
  const { words, utterances, ...rest } = transcript;
  const first = { ...rest, words: words.filter(isFirst), utterances: utterances.filter(isFirst) };
  const { notUnderstood } = findUnderstoodSpeech(first, voice);
  return Number(toShare(1 - sumCovered(notUnderstood, voice) / total).toFixed(2));
}

/** Returns whether there are almost no words in the voice activity, of which there is at least `minVoice`. */
function hasAlmostNoWords({ words }: Transcript, speech: readonly Span[], minVoice: Ticks): boolean {
  const voice = speech.reduce((sum, span) => sum + durationOf(span), 0);
  return voice >= minVoice && sumCovered(mergeSpans(words), speech) < ACTIVITY.minCoveredShare * voice;
}

/** Returns whether the detected voice is music or noise: it is long, and has almost no words. */
export const isVoiceWithoutWords = (transcript: Transcript, speech: readonly Span[]): boolean =>
  hasAlmostNoWords(transcript, speech, ACTIVITY.maxWindow);

/**
 * Returns the words in order. Evidence against a word is -1 to 1 times its duration, by its log probability and that of
 * its utterance: from those of the clearest part of the recording to those of garbled speech. Utterances that
 * repeat more than takes do are garbled.
 */
function rateWords(transcript: Transcript): RatedWord[] {
  const utterances = transcript.utterances.toSorted((a, b) => a.start - b.start);
  const words = sortByMiddle(transcript.words);
  const clear = Math.max(ACTIVITY.minClearLogProb, findClearLogProb(utterances));
  const rate = (logProb: number) =>
    1 - 2 * toShare((logProb - ACTIVITY.garbledLogProb) / (clear - ACTIVITY.garbledLogProb));
  const phrases = listPhrases(words);
  const same = Map.groupBy(phrases, (phrase) => phrase);
  let next = 0;
  return utterances.flatMap((utterance, i) => {
    const from = next;
    const isLast = i === utterances.length - 1;
    while (next < words.length && (isLast || middleOf(words[next]!) < utterance.end)) next++;
    const own = words.slice(from, next);
    const isGarbled = isRepeated(utterance, phrases.slice(from, next), same);
    return own.map((word, n) => {
      const evidence = isGarbled ? 1 : (rate(Math.log(word.confidence)) + rate(utterance.meanLogProb)) / 2;
      return {
        start: n === 0 ? Math.min(utterance.start, word.start) : word.start,
        end: Math.max(word.end, own[n + 1]?.start ?? utterance.end),
        evidence: evidence * durationOf(word),
      };
    });
  });
}

/** Returns the log probability that the clearest utterances have at least. They are `minShare` of the speech. */
function findClearLogProb(utterances: readonly Utterance[]): number {
  let left = COMMON.minShare * utterances.reduce((sum, utterance) => sum + durationOf(utterance), 0);
  for (const utterance of utterances.toSorted((a, b) => b.meanLogProb - a.meanLogProb)) {
    left -= durationOf(utterance);
    if (left <= 0) return utterance.meanLogProb;
  }
  return 0;
}

/** Returns for each word the phrase that begins with it. */
function listPhrases(words: readonly Word[]): string[] {
  const texts = words.map(({ text }) => text.toLowerCase().replace(/[^\p{L}\p{N}']/gu, ""));
  return texts.map((_, i) => texts.slice(i, i + COMMON.minSureMatchWords).join(" "));
}

/**
 * Returns whether most phrases of an utterance are repeated at once, as in a loop, or more often in the recording than
 * takes are. Clear speech is understood nevertheless. `same`: the phrases of the recording, by their text.
 */
function isRepeated(
  { meanLogProb }: Utterance,
  phrases: readonly string[],
  same: ReadonlyMap<string, readonly string[]>,
): boolean {
  const repeated = phrases.filter((phrase, i) => {
    if (same.get(phrase)!.length > ACTIVITY.maxTakes) return meanLogProb < ACTIVITY.minRepeatedLogProb;
    if (meanLogProb >= ACTIVITY.minClearLogProb) return false;
    return phrases.slice(Math.max(0, i - ACTIVITY.maxLoopWords), i).includes(phrase);
  });
  return repeated.length >= COMMON.minSameShare * phrases.length;
}

/**
 * Returns the words that were not understood: the most likely sequence of two states, by the evidence and a cost for
 * each change. `margins` are the differences between both states up to a word.
 */
function findGarbledWords(words: readonly RatedWord[]): RatedWord[] {
  const cost = COMMON.voiceSample;
  let margin = 0;
  const margins = words.map(({ evidence }) => {
    margin = Math.min(cost, Math.max(-cost, margin)) + evidence;
    return margin;
  });
  let minMargin = 0;
  const isGarbled = margins.toReversed().map((value) => {
    const isNext = value > minMargin;
    minMargin = isNext ? -cost : cost;
    return isNext;
  });
  return words.filter((_, i) => isGarbled[words.length - 1 - i]);
}

/** Returns voice outside of utterances whose nearest word was not understood: nothing was recognized there. */
function silentNeighbors(speech: readonly Span[], words: readonly Span[], garbled: readonly Span[]): Span[] {
  const isGarbled = new Set(garbled);
  let next = 0;
  return speech.filter((span) => {
    while (next < words.length && words[next]!.end <= span.start) next++;
    const after = words[next];
    if (after && after.start < span.end) return false;
    const before = words[next - 1];
    const isAfterNearer = after && (!before || after.start - span.end < span.start - before.end);
    const nearest = isAfterNearer ? after : before;
    return nearest !== undefined && isGarbled.has(nearest);
  });
}

/** Joins stretches that have no word between them: no voice between them was understood. Sorted, disjoint. */
function joinBetweenWords({ transcript: { words }, notUnderstood }: UnderstoodSpeech): Span[] {
  const out: Span[] = [];
  for (const { start, end } of notUnderstood) {
    const last = out.at(-1);
    if (last && !words.some((word) => word.start < start && word.end > last.end)) last.end = end;
    else out.push({ start, end });
  }
  return out;
}

const middleOf = ({ start, end }: Span) => (start + end) / 2;

const sortByMiddle = (words: readonly Word[]) => words.toSorted((a, b) => middleOf(a) - middleOf(b));

/** Removes the words with their middle in one of the spans from a transcript; all of them if `takesAll`. */
function ignoreWords(transcript: Transcript, notUnderstood: Span[], takesAll: boolean): UnderstoodSpeech {
  const words: Word[] = [];
  const ignoredWords: Span[] = [];
  let next = 0;
  for (const word of sortByMiddle(transcript.words)) {
    const middle = middleOf(word);
    while (next < notUnderstood.length && notUnderstood[next]!.end <= middle) next++;
    const span = notUnderstood[next];
    if (takesAll || (span && span.start <= middle)) ignoredWords.push({ start: word.start, end: word.end });
    else words.push(word);
  }
  return { transcript: { ...transcript, words }, notUnderstood, ignoredWords };
}

/** Returns the share of a stretch with voice activity, 0 to 1. */
export const measureVoicedShare = (span: Span, { speech }: Pick<SpeechAnalysis, "speech">): number =>
  coveredDuration(speech, span) / durationOf(span);

/** Returns whether enough of a stretch is voice: at least `minShare`. */
export const isVoiced = (span: Span, analysis: Pick<SpeechAnalysis, "speech">): boolean =>
  measureVoicedShare(span, analysis) >= COMMON.minShare;

/**
 * Returns the voiced regions of at least `minDuration` without a recognized word, as words without text: each may be a
 * take of the next line, or a line that was not recognized. Regions that overlap one of `except` are omitted.
 */
export function findUnrecognizedSpeech(
  words: readonly Word[],
  activity: AudioActivity,
  analysis: Pick<SpeechAnalysis, "speech">,
  minDuration: Ticks,
  except: readonly Span[] = [],
): Word[] {
  const taken = mergeSpans([...words, ...except].filter(({ start, end }) => start < end));
  return activity.speechRegions
    .filter((region) => durationOf(region) >= minDuration && isVoiced(region, analysis))
    .filter((region) => findOverlapping(taken, region).length === 0)
    .map(({ start, end }) => ({ text: "", start, end, confidence: 0 }));
}

/** Returns the rule that removes a wordless region as noise; null if it is voice. `noise`: away from any voice. */
export function decideNoise(
  region: Span,
  noise: boolean,
  analysis: Pick<SpeechAnalysis, "speech">,
): RuleMatch<"noise.outside_speech" | "noise.unvoiced"> | null {
  const scores = toVoiceScores(region, analysis);
  if (noise) return { rule: "noise.outside_speech", scores };
  return isVoiced(region, analysis) ? null : { rule: "noise.unvoiced", scores };
}

/** Returns the rule that marks unrecognized speech for review. */
export const unrecognizedSpeech = (
  region: Span,
  analysis: Pick<SpeechAnalysis, "speech">,
): RuleMatch<"review.unrecognized_speech"> => ({
  rule: "review.unrecognized_speech",
  scores: toVoiceScores(region, analysis),
});

/** Returns the same rule for a region, with the scores of the stretch around it: all its regions have one mark. */
export const unrecognizedRegion = (
  region: Span,
  understood: UnderstoodSpeech | null,
  analysis: Pick<SpeechAnalysis, "speech">,
): RuleMatch<"review.unrecognized_speech"> =>
  unrecognizedSpeech(findOverlapping(understood?.notUnderstood ?? [], region)[0] ?? region, analysis);

export const toVoiceScores = (region: Span, analysis: Pick<SpeechAnalysis, "speech">) => ({
  duration: durationOf(region),
  voicedShare: measureVoicedShare(region, analysis),
});

/** Returns the voice activity and the untrusted words, as words without text that are kept. */
export const keepVoice = (speech: readonly Span[], understood: UnderstoodSpeech | null): DecidedWord[] =>
  [...speech, ...(understood?.ignoredWords ?? [])].map(({ start, end }) => ({ start, end, text: "", ...KEEP }));

/** Returns the parts of stretches that were not understood that are kept. Each stretch has one mark. */
export function keepNotUnderstood(understood: UnderstoodSpeech, analysis: SpeechAnalysis): DecidedWord[] {
  const speech = understood.notUnderstood.flatMap((stretch) =>
    findOverlapping(analysis.speech, stretch).map((span) => intersect(span, stretch)),
  );
  return keepVoice(speech, understood).map((word) => ({
    ...word,
    reviews: [unrecognizedRegion(word, understood, analysis)],
  }));
}

/**
 * Returns the spans removed as noise that contain a syllable: for a while they have pitch, and are as loud as the
 * recording's speech and louder than their surroundings. A language that the recognizer does not know leaves no other
 * evidence.
 */
export function* findSyllablesInNoise(spans: readonly DecidedSpan[], activity: AudioActivity): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= ACTIVITY.minVoiced);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - COMMON.minLevelChangeDb;
  const loud = noise.filter((span) => {
    const around = { start: Math.max(0, span.start - ACTIVITY.voiceEdge), end: span.end + ACTIVITY.voiceEdge };
    const level = measureLevel([span], activity, 1 - ACTIVITY.minVoiced / durationOf(span));
    return level >= minLevel && level - measureLevel([around], activity, QUIET_SHARE) >= COMMON.minBelowVoiceDb;
  });
  const windows = loud.map(({ start, end }) => ({ start, end: Math.min(end, start + ACTIVITY.surroundings) }));
  const voices = yield* requestVoices(windows);
  return loud.filter((_, i) => {
    const voice = voices[i];
    return voice && voice.voiced >= ACTIVITY.minVoiced && voice.level >= minLevel;
  });
}

/** Returns the spans removed as noise in which words are recognized. */
export function* findWordsInNoise(
  spans: readonly DecidedSpan[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= COMMON.minPhrase);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - ACTIVITY.maxBelowSpeechDb;
  const loud = noise
    .map((span) => ({ span, level: measureLevel([span], activity) }))
    .filter(({ level }) => level >= minLevel)
    .sort((a, b) => b.level - a.level);
  const windows = fitRecognitionBudget(
    loud.flatMap(({ span }) => toWindows(span, activity.duration)),
    activity.duration,
  );
  const results = yield* requestRecognitions(windows.map(({ window }) => ({ window })));
  return windows.flatMap(({ span }, i) => {
    const { words, meanLogProb } = results[i]!;
    const isSpoken = words.some(
      ({ text, confidence }) => confidence >= COMMON.minConfidence && !isFillerText(text, lexicon),
    );
    return isSpoken && meanLogProb >= COMMON.clearAlignment ? [span] : [];
  });
}

type NoiseWindow = { span: Span; window: Span };

/** Returns windows that cover a span, each short enough to be recognized as one. */
function toWindows(span: Span, duration: Ticks): NoiseWindow[] {
  const count = Math.ceil(durationOf(span) / ACTIVITY.maxWindow);
  const length = durationOf(span) / count;
  return Array.from({ length: count }, (_, i) => ({
    span,
    window: {
      start: Math.max(0, Math.round(span.start + i * length) - ACTIVITY.voiceEdge),
      end: Math.min(duration, Math.round(span.start + (i + 1) * length) + ACTIVITY.voiceEdge),
    },
  }));
}

/** Returns the share of the loud time that is removed as noise, 0 to 1. */
export function measureNoiseShare(
  spans: readonly DecidedSpan[],
  { speechRegions, noiseRegions }: AudioActivity,
): number {
  const sum = (all: readonly Span[]) => all.reduce((total, span) => total + durationOf(span), 0);
  return sum(spans.filter((span) => span.reason === "noise")) / Math.max(1, sum(speechRegions) + sum(noiseRegions));
}
