/** Plans a recording without a script: removes pauses, fillers and retakes. When in doubt, words are kept. */
import type { Candidate, Plan } from "../../plan";
import type { SpeechAnalysis } from "../../speech";
import { fromSeconds, type Span, toSeconds } from "../../time";
import { assembleSegments } from "../assemble-segments";
import { type AudioActivity, detectActivity, estimateEdgeMargin } from "../audio-activity";
import type { PlanContext, PlanSteps } from "../context";
import { type DecidedWord, type Decision, KEEP, toDecidedSpans } from "../decided-spans";
import { findFillers } from "../fillers/filler-words";
import { type FillerMatch, findUnwrittenFillers, type UnwrittenFillers } from "../fillers/unwritten-fillers";
import { findAcousticRepetitions } from "../retakes/acoustic-repetitions";
import { findRetakes } from "../retakes/find-retakes";
import { groupTakesByLine } from "../retakes/takes-by-line";
import { coveredDuration, type DecidedSpan, durationOf, findOverlapping, overlapDuration } from "../spans";
import { type LineTakes, listTakes } from "../take-list";
import { sortWords, type Token, tokenize } from "../tokens";
import {
  findUnderstoodSpeech,
  isVoiceWithoutWords,
  measureNotUnderstood,
  type UnderstoodSpeech,
} from "../understood-speech";
import { decideNoise, findUnrecognizedSpeech, unrecognizedSpeech } from "../unrecognized-speech";
import { findDuplicatedWords, trimWordsAtPauses } from "../word-timing";
import { chooseTakes, findAssembledLines, type RatedLine, type RatedTake } from "./choose-takes";
import { findSyllablesInNoise, findWordsInNoise } from "./words-in-noise";

/** Shorter voice without words is part of a word. */
const MIN_UNRECOGNIZED_TICKS = fromSeconds(0.25);
/** If more of the loud time than this would be removed as noise, nothing is. */
const MAX_NOISE_SHARE = 0.8;

const NO_MODEL = "No speech model supports this language: the cut is based on voice activity alone.";
const MOSTLY_NOISE = "Recording is mostly music or noise: only pauses were removed.";
const LANGUAGE_NAMES = new Intl.DisplayNames("en", { type: "language" });

/** Plans without a script. */
export function* planUnscripted(context: PlanContext): PlanSteps<Plan> {
  const { analysis, clock, options } = context;
  const activity = detectActivity({ ...analysis, duration: clock.duration });
  const understood = analysis.transcript && findUnderstoodSpeech(analysis.transcript, analysis.speech);
  const isWordless = analysis.transcript !== null && isVoiceWithoutWords(analysis.transcript, analysis.speech);
  const usesWords = understood !== null && understood.transcript.words.length > 0;
  const { words, fillers, lines } = usesWords
    ? yield* decideWords(understood, activity, context)
    : { words: keepVoice(analysis.speech, understood), fillers: [], lines: [] };
  const divide = (decide: (region: Span, noise: boolean) => Decision | null) =>
    toDecidedSpans(
      words,
      activity,
      (region, noise) => decide(region, noise) ?? decideWordlessRegion(region, noise, fillers, analysis, usesWords),
    );
  const divided = divide(() => null);
  // Music and applause are as loud as speech: without the noise nothing would be left.
  const isMostlyNoise = isWordless || measureNoiseShare(divided, activity) > MAX_NOISE_SHARE;
  const spoken = isMostlyNoise
    ? []
    : [
        ...(yield* findSyllablesInNoise(divided, activity)),
        ...(understood ? yield* findWordsInNoise(divided, activity) : []),
      ];
  const keepSpoken = (region: Span): Decision | null =>
    spoken.some((span) => overlapDuration(span, region) > 0)
      ? { removal: null, reviews: [unrecognizedSpeech(region, analysis)] }
      : null;
  const spans = isMostlyNoise ? divide(() => KEEP) : spoken.length > 0 ? divide(keepSpoken) : divided;
  const assembled = assembleSegments(spans, clock, options, estimateEdgeMargin(activity));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lines, assembled.segments).filter((take) => take.candidates.length > 1),
    missing: [],
    warnings: [
      ...(isMostlyNoise ? [MOSTLY_NOISE] : []),
      ...(understood ? (isWordless ? [] : describeNotUnderstood(understood, usesWords, context)) : [NO_MODEL]),
    ],
    language: usesWords ? context.language : null,
  };
}

type DecidedTranscript = { words: DecidedWord[]; fillers: UnwrittenFillers["spans"]; lines: LineTakes[] };

function* decideWords(
  understood: UnderstoodSpeech,
  activity: AudioActivity,
  context: PlanContext,
): PlanSteps<DecidedTranscript> {
  const { options, language, clock, analysis } = context;
  const { transcript, notUnderstood } = understood;
  const speechRegions = activity.speechRegions.filter((region) => coveredDuration(notUnderstood, region) === 0);
  const understoodActivity = { ...activity, speechRegions };
  const transcribed = sortWords(transcript.words);
  const trimmed = trimWordsAtPauses(transcribed, activity);
  const unwritten: UnwrittenFillers = options.remove_fillers
    ? yield* findUnwrittenFillers(trimmed, understoodActivity)
    : { spans: [], words: new Map(), answers: new Set() };
  const known = transcribed.map((word, i) =>
    spansDistantFiller(unwritten.spans, word, trimmed[i]!) ? trimmed[i]! : word,
  );
  const fillers = new Map<Span, FillerMatch>();
  const written = options.remove_fillers ? findFillers(known, activity) : [];
  const answers = [...unwritten.answers];
  for (const [i, match] of [...unwritten.words, ...written]) {
    if (answers.every((answer) => overlapDuration(answer, known[i]!) === 0)) fillers.set(known[i]!, match);
  }
  const unrecognized = findUnrecognizedSpeech(
    known,
    understoodActivity,
    analysis,
    MIN_UNRECOGNIZED_TICKS,
    unwritten.spans,
  );
  const words = sortWords([...known, ...unrecognized]);
  const decided: DecidedWord[] = words.map((word) => {
    const { start, end, text } = word;
    const reviews = text === "" ? [unrecognizedSpeech(word, analysis)] : [];
    const removal = fillers.get(word) ?? null;
    return { start, end, text, removal, reviews: removal ? [] : reviews };
  });
  const kept = keepNotUnderstood(understood, analysis);
  if (!options.remove_retakes) return { words: [...decided, ...kept], fillers: unwritten.spans, lines: [] };
  const duplicated = findDuplicatedWords(known, activity);
  const tokens = tokenize(words, language).filter(
    ({ word }) => !fillers.has(words[word]!) && !duplicated.has(words[word]!),
  );
  const acousticRepetitions = yield* findAcousticRepetitions(words, tokens, clock.duration);
  const { retakes, possible } = yield* findRetakes(words, tokens, acousticRepetitions, "compare");
  for (const { from, to, match } of retakes) {
    for (let i = from; i < to; i++) if (!fillers.has(words[i]!)) decided[i] = { ...decided[i]!, removal: match };
  }
  for (const { from, to, match } of possible) {
    for (let i = from; i < to; i++) decided[i] = { ...decided[i]!, reviews: [...decided[i]!.reviews, match] };
  }
  const rated = chooseTakes(
    groupTakesByLine(words, tokens, retakes),
    { words, tokens, activity },
    (i) => decided[tokens[i]!.word]!.removal !== null,
  );
  for (const line of rated) keepChosenTake(decided, tokens, line);
  const isRemoved = (i: number) => decided[tokens[i]!.word]!.removal !== null;
  for (const line of findAssembledLines(rated, tokens, isRemoved)) markAssembledLine(decided, tokens, line);
  return { words: [...decided, ...kept], fillers: unwritten.spans, lines: rated.map(toLineTakes) };
}

/** Returns the voice activity and the untrusted words, as words without text that are kept. */
const keepVoice = (speech: readonly Span[], understood: UnderstoodSpeech | null): DecidedWord[] =>
  [...speech, ...(understood?.ignoredWords ?? [])].map(({ start, end }) => ({ start, end, text: "", ...KEEP }));

/** Returns the parts of stretches that were not understood that are kept and marked. */
function keepNotUnderstood(understood: UnderstoodSpeech, analysis: SpeechAnalysis): DecidedWord[] {
  const speech = understood.notUnderstood.flatMap((stretch) =>
    findOverlapping(analysis.speech, stretch).map(({ start, end }) => ({
      start: Math.max(start, stretch.start),
      end: Math.min(end, stretch.end),
    })),
  );
  return keepVoice(speech, understood).map((word) => ({ ...word, reviews: [unrecognizedSpeech(word, analysis)] }));
}

function describeNotUnderstood(
  { notUnderstood }: UnderstoodSpeech,
  usesWords: boolean,
  { analysis, language }: PlanContext,
): string[] {
  if (usesWords && notUnderstood.length === 0) return [];
  const name = LANGUAGE_NAMES.of(language ?? "en");
  const cause = `it is probably not ${name}, or is covered by noise or music`;
  if (!usesWords) return [`Speech was not understood: ${cause}. Only pauses were removed.`];
  const ticks = measureNotUnderstood(notUnderstood, analysis.speech);
  return [`${toSeconds(ticks).toFixed(1)} s of speech were not understood: ${cause}. Only pauses were removed there.`];
}

/** Returns the share of the loud time that is removed as noise, 0 to 1. */
function measureNoiseShare(spans: readonly DecidedSpan[], { speechRegions, noiseRegions }: AudioActivity): number {
  const sum = (all: readonly Span[]) => all.reduce((total, span) => total + durationOf(span), 0);
  const loud = sum(speechRegions) + sum(noiseRegions);
  return loud === 0 ? 0 : sum(spans.filter((span) => span.reason === "noise")) / loud;
}

/** Keeps the chosen take, and removes the last one if that is another. */
function keepChosenTake(decided: DecidedWord[], tokens: readonly Token[], { text, takes, chosen }: RatedLine): void {
  const last = takes[takes.length - 1]!;
  const best = takes[chosen]!;
  if (best === last) return;
  const scores = { line: text, quality: last.score, keptQuality: best.score, keptAt: best.start };
  const removal = { rule: "retake.worse_take", scores } as const;
  for (const { word } of tokens.slice(last.from, last.to)) decided[word] = { ...decided[word]!, removal };
  for (const { word } of tokens.slice(best.from, best.to)) decided[word] = { ...decided[word]!, removal: null };
}

/** Marks the kept take of a line that is adjacent to words of another attempt. */
function markAssembledLine(decided: DecidedWord[], tokens: readonly Token[], { text, takes, chosen }: RatedLine): void {
  const { from, to, score } = takes[chosen]!;
  const match = { rule: "review.assembled_takes", scores: { line: text, quality: score } } as const;
  for (const index of new Set(tokens.slice(from, to).map(({ word }) => word)))
    decided[index] = { ...decided[index]!, reviews: [...decided[index]!.reviews, match] };
}

const toLineTakes = ({ text, takes, chosen }: RatedLine): LineTakes => ({
  line: text,
  chosen: toCandidate(takes[chosen]!),
  others: takes.filter((_, i) => i !== chosen).map(toCandidate),
});

const toCandidate = ({ start, end, score, complete }: RatedTake): Candidate => ({ start, end, score, complete });

/** Returns whether a word extends into a filler on the far side of a pause. */
const spansDistantFiller = (fillers: readonly Span[], word: Span, trimmed: Span): boolean =>
  findOverlapping(fillers, word).some((span) => overlapDuration(span, trimmed) === 0);

function decideWordlessRegion(
  region: Span,
  noise: boolean,
  fillers: UnwrittenFillers["spans"],
  analysis: SpeechAnalysis,
  usesWords: boolean,
): Decision {
  const filler = fillers.find((span) => overlapDuration(span, region) > 0);
  if (filler) return { removal: filler.match, reviews: [] };
  const removal = decideNoise(region, noise, analysis);
  if (removal) return { removal, reviews: [] };
  return { removal: null, reviews: usesWords ? [unrecognizedSpeech(region, analysis)] : [] };
}
