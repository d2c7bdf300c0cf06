/** Plans a recording without a script: removes pauses, fillers and retakes. When in doubt, words are kept. */

import type { Word } from "../../speech";
import { type Span, toSeconds } from "../../time";
import { type AudioActivity, detectActivity, estimateEdgeMargin } from "../audio-activity";
import { assembleBasis, toBasis, toPacingOptions } from "../basis";
import {
  listChanges,
  type PlanContext,
  type PlanSteps,
  runStages,
  type Stage,
  type StagedPlan,
  type StageWord,
} from "../context";
import { type DecidedWord, type Decision, KEEP, toDecidedSpans } from "../decided-spans";
import { type FillerMatch, findFillers, findUnwrittenFillers, type UnwrittenFillers } from "../fillers/find-fillers";
import { findLexicon } from "../lexicon/find-lexicon";
import type { Lexicon } from "../lexicon/lexicon";
import { type AcousticRepetitions, findAcousticRepetitions } from "../retakes/acoustic-repetitions";
import {
  type DecidedStretch,
  decideByStretch,
  decideByStretches,
  divideAtStretches,
  findAlikeTakes,
  findUnclearTakes,
} from "../retakes/alike-takes";
import { findRetakes, type Retake } from "../retakes/find-retakes";
import {
  chooseTakes,
  findAssembledLines,
  groupTakesByLine,
  keepChosenTake,
  markAssembledLine,
  type RatedLine,
  toLineTakes,
} from "../retakes/takes-by-line";
import type { RemovalRule, RuleMatch } from "../rules";
import { coveredDuration, type DecidedSpan, findOverlapping, overlapDuration, subtract, sumCovered } from "../spans";
import { divideStretchedWords } from "../stretched-words";
import { listTakes } from "../take-list";
import { ACTIVITY, COMMON } from "../thresholds";
import { findDuplicatedWords, moveSilentWords, sortWords, type Token, tokenize, trimWordsAtPauses } from "../tokens";
import {
  decideNoise,
  findSyllablesInNoise,
  findUnderstoodSpeech,
  findUnrecognizedSpeech,
  findWordsInNoise,
  isVoiceWithoutWords,
  keepNotUnderstood,
  keepVoice,
  measureNoiseShare,
  type UnderstoodSpeech,
  unrecognizedRegion,
  unrecognizedSpeech,
} from "../understood-speech";

const NO_MODEL = "No speech model supports this language: the cut is based on voice activity alone.";
const MOSTLY_NOISE = "Recording is mostly music or noise: only pauses were removed.";
const LANGUAGE_NAMES = new Intl.DisplayNames("en", { type: "language" });

/** What is known of a recording without a script. `decided` has the decision on each of `words`. */
type UnscriptedState = {
  context: PlanContext;
  lexicon: Lexicon;
  activity: AudioActivity;
  /** Null without a transcript. */
  understood: UnderstoodSpeech | null;
  /** Words that are stretched over others which were not recognized. */
  unclear: readonly Span[];
  /** The detected voice has almost no words: it is music or noise. */
  isWordless: boolean;
  /** Words of the transcript decide, not pauses alone. */
  usesWords: boolean;
  /** Voice that is kept although no word of it is known. */
  voice: DecidedWord[];
  words: Word[];
  decided: DecidedWord[];
  tokens: Token[];
  fillers: UnwrittenFillers["spans"];
  /** The parts of words that were stretched over a pause into a filler. */
  wordPauses: Span[];
  /** The spans in which a listener answers. */
  answers: ReadonlySet<Span>;
  acousticRepetitions: AcousticRepetitions;
  /** Phrases that sound like what follows, where the take or the retake has no words. */
  alike: DecidedStretch[];
  retakes: Retake[];
  lines: RatedLine[];
  /** Regions that would be removed as noise, with evidence of speech. */
  spoken: Span[];
  isMostlyNoise: boolean;
  spans: DecidedSpan[];
};

/** The stages of planning without a script. */
export const UNSCRIPTED_STAGES: readonly Stage<UnscriptedState>[] = [
  { name: "understood speech", run: understandSpeech },
  { name: "unwritten fillers", run: removeUnwrittenFillers },
  { name: "written fillers", run: removeWrittenFillers },
  { name: "unrecognized speech", run: keepUnrecognizedSpeech },
  { name: "repetitions by audio", run: findRepetitionsByAudio },
  { name: "retakes", run: removeRetakes },
  { name: "best takes", run: chooseBestTakes },
  { name: "noise", run: divideIntoSpans },
  { name: "speech in noise", run: keepSpeechInNoise },
];

/**
 * Plans without a script. All fillers and retakes are found; the options decide at the end which of them are removed.
 */
export function* planUnscripted(given: PlanContext): PlanSteps<StagedPlan> {
  const { clock, options } = given;
  const { transcript, unclear } = yield* divideStretchedWords(given.analysis, given.language);
  const analysis = { ...given.analysis, transcript };
  const context = { ...given, analysis };
  const start: UnscriptedState = {
    context,
    lexicon: findLexicon(context.language),
    activity: detectActivity({ ...analysis, duration: clock.duration }),
    understood: null,
    unclear,
    isWordless: false,
    usesWords: false,
    voice: [],
    words: [],
    decided: [],
    tokens: [],
    fillers: [],
    wordPauses: [],
    answers: new Set(),
    acousticRepetitions: { found: [], different: [] },
    alike: [],
    retakes: [],
    lines: [],
    spoken: [],
    isMostlyNoise: false,
    spans: [],
  };
  const { state, results } = yield* runStages(UNSCRIPTED_STAGES, start);
  const { activity, understood, usesWords, isWordless, isMostlyNoise } = state;
  const basis = toBasis(state.spans, estimateEdgeMargin(activity), clock, state.wordPauses);
  const assembled = assembleBasis(basis, clock.duration, toPacingOptions(options));
  const lines = options.remove_retakes ? state.lines : [];
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lines.map(toLineTakes), assembled.segments).filter((take) => take.candidates.length > 1),
    missing: [],
    warnings: [
      ...(isMostlyNoise ? [MOSTLY_NOISE] : []),
      ...(understood ? (isWordless ? [] : describeNotUnderstood(understood, usesWords, context)) : [NO_MODEL]),
    ],
    language: usesWords ? context.language : null,
    basis,
    listStages: () => listChanges(results, listWords),
  };
}

const listWords = ({ decided }: UnscriptedState): StageWord[] =>
  decided.map(({ start, end, text, removal }) => ({ start, end, text, isKept: removal === null }));

/** Separates words that were understood from voice that was not, which is kept. */
function understandSpeech(state: UnscriptedState): UnscriptedState {
  const { analysis } = state.context;
  const { transcript, speech } = analysis;
  const understood = transcript && findUnderstoodSpeech(transcript, speech);
  const usesWords = understood !== null && understood.transcript.words.length > 0;
  const isWordless = transcript !== null && isVoiceWithoutWords(transcript, speech);
  const voice = usesWords ? keepNotUnderstood(understood, analysis) : keepVoice(speech, understood);
  return setWords(
    { ...state, understood, usesWords, isWordless, voice },
    usesWords ? moveSilentWords(sortWords(understood.transcript.words), state.activity) : [],
  );
}

/** Sets the words, all of them kept. Voice without a recognized word is marked. */
function setWords(state: UnscriptedState, words: Word[]): UnscriptedState {
  const removals = new Map(state.words.map((word, i) => [word, state.decided[i]!.removal]));
  const decided = words.map((word) => {
    const { start, end, text } = word;
    const isUnclear = text === "" || state.unclear.some((span) => span.start === start && span.end === end);
    const reviews = isUnclear ? [unrecognizedSpeech(word, state.context.analysis)] : [];
    return { start, end, text, removal: removals.get(word) ?? null, reviews };
  });
  return { ...state, words, decided };
}

function withRemovals(state: UnscriptedState, removals: Iterable<[number, RuleMatch<RemovalRule>]>): UnscriptedState {
  const decided = state.decided.slice();
  for (const [i, removal] of removals) decided[i] = { ...decided[i]!, removal };
  return { ...state, decided };
}

/** Returns the activity without the regions that were not understood. */
function toUnderstoodActivity({ activity, understood }: UnscriptedState): AudioActivity {
  const notUnderstood = understood?.notUnderstood ?? [];
  const speechRegions = activity.speechRegions.filter((region) => coveredDuration(notUnderstood, region) === 0);
  return { ...activity, speechRegions };
}

function* removeUnwrittenFillers(state: UnscriptedState): PlanSteps<UnscriptedState> {
  if (!state.usesWords) return state;
  const trimmed = trimWordsAtPauses(state.words, state.activity);
  const unwritten = yield* findUnwrittenFillers(trimmed, toUnderstoodActivity(state), state.lexicon);
  const known = state.words.map((word, i) =>
    spansDistantFiller(unwritten.spans, word, trimmed[i]!) ? trimmed[i]! : word,
  );
  const wordPauses = state.words.flatMap((word, i) => subtract(word, [known[i]!]));
  const { spans: fillers, answers } = unwritten;
  const found = setWords({ ...state, fillers, answers, wordPauses }, known);
  return withRemovals(found, withoutAnswers(found, unwritten.words));
}

function removeWrittenFillers(state: UnscriptedState): UnscriptedState {
  return withRemovals(state, withoutAnswers(state, findFillers(state.words, state.activity, state.lexicon)));
}

/** Returns the fillers that are not the answers of a listener. */
const withoutAnswers = ({ answers, words }: UnscriptedState, found: ReadonlyMap<number, FillerMatch>) =>
  [...found].filter(([i]) => [...answers].every((answer) => overlapDuration(answer, words[i]!) === 0));

/** Adds voice without words, and the tokens of all words that are said once and are no fillers. */
function keepUnrecognizedSpeech(state: UnscriptedState): UnscriptedState {
  if (!state.usesWords) return state;
  const { context, activity, words } = state;
  const found = findUnrecognizedSpeech(
    words,
    toUnderstoodActivity(state),
    context.analysis,
    COMMON.minWordDuration,
    state.fillers,
  );
  const duplicated = findDuplicatedWords(words, activity);
  const next = setWords(state, sortWords([...words, ...found]));
  const tokens = tokenize(next.words, context.language).filter(
    ({ word }) => next.decided[word]!.removal === null && !duplicated.has(next.words[word]!),
  );
  return { ...next, tokens };
}

function* findRepetitionsByAudio(state: UnscriptedState): PlanSteps<UnscriptedState> {
  const { words, tokens, context, lexicon, activity } = state;
  if (!state.usesWords) return state;
  const { found, different } = yield* findAcousticRepetitions(words, tokens, context.clock.duration, lexicon);
  const alike = yield* findAlikeTakes(words, tokens, activity, lexicon);
  const stretches = yield* findUnclearTakes(words, tokens, activity, lexicon);
  return { ...state, acousticRepetitions: { found: [...found, ...alike], different }, alike: stretches };
}

function* removeRetakes(state: UnscriptedState): PlanSteps<UnscriptedState> {
  const { words, tokens, lexicon, acousticRepetitions } = state;
  const { retakes, possible } = yield* findRetakes(words, tokens, lexicon, acousticRepetitions, "compare");
  const decided = state.decided.slice();
  const isFiller = state.decided.map(({ removal }) => removal !== null);
  for (const { from, to, match } of retakes)
    for (let i = from; i < to; i++) if (!isFiller[i]) decided[i] = { ...decided[i]!, removal: match };
  for (const { from, to, match } of possible)
    for (let i = from; i < to; i++) decided[i] = { ...decided[i]!, reviews: [...decided[i]!.reviews, match] };
  const voice = decideByStretches(divideAtStretches(state.voice, state.alike), state.alike);
  return { ...state, voice, decided: decideByStretches(decided, state.alike), retakes };
}

/** Keeps an earlier take of a line where it is clearly better, and marks takes next to words of another attempt. */
function chooseBestTakes(state: UnscriptedState): UnscriptedState {
  const { words, tokens, activity, retakes } = state;
  const decided = state.decided.slice();
  const isRemoved = (i: number) => decided[tokens[i]!.word]!.removal !== null;
  const lines = chooseTakes(groupTakesByLine(words, tokens, retakes), { words, tokens, activity }, isRemoved);
  for (const line of lines) keepChosenTake(decided, tokens, line);
  for (const line of findAssembledLines(lines, tokens, isRemoved)) markAssembledLine(decided, tokens, line);
  return { ...state, decided, lines };
}

/** Divides the recording into spans. If almost all of it would be removed as noise, nothing is. */
function divideIntoSpans(state: UnscriptedState): UnscriptedState {
  const spans = divide(state, () => null);
  // Music and applause are as loud as speech: without the noise nothing would be left.
  const isMostlyNoise = state.isWordless || measureNoiseShare(spans, state.activity) > ACTIVITY.maxNoiseShare;
  return { ...state, isMostlyNoise, spans: isMostlyNoise ? divide(state, () => KEEP) : spans };
}

function* keepSpeechInNoise(state: UnscriptedState): PlanSteps<UnscriptedState> {
  const { spans, activity, understood, lexicon, context } = state;
  if (state.isMostlyNoise) return state;
  const syllables = yield* findSyllablesInNoise(spans, activity);
  const words = understood ? yield* findWordsInNoise(spans, activity, lexicon) : [];
  const spoken = [...syllables, ...words];
  if (spoken.length === 0) return state;
  const keepSpoken = (region: Span): Decision | null =>
    spoken.some((span) => overlapDuration(span, region) > 0)
      ? { removal: null, reviews: [unrecognizedRegion(region, understood, context.analysis)] }
      : null;
  return { ...state, spoken, spans: divide(state, keepSpoken) };
}

/** Returns the spans of the recording. `decide` may decide on a region without words first. */
const divide = (state: UnscriptedState, decide: (region: Span, noise: boolean) => Decision | null): DecidedSpan[] =>
  toDecidedSpans(
    [...state.decided, ...state.voice],
    state.activity,
    (region, noise) =>
      decide(region, noise) ?? decideByStretch(region, decideWordlessRegion(region, noise, state), state.alike),
  );

function describeNotUnderstood(
  { notUnderstood }: UnderstoodSpeech,
  usesWords: boolean,
  { analysis, language }: PlanContext,
): string[] {
  if (usesWords && notUnderstood.length === 0) return [];
  const name = LANGUAGE_NAMES.of(language ?? "en");
  const cause = `it is probably not ${name}, or is covered by noise or music`;
  if (!usesWords) return [`Speech was not understood: ${cause}. Only pauses were removed.`];
  const ticks = sumCovered(notUnderstood, analysis.speech);
  return [`${toSeconds(ticks).toFixed(1)} s of speech were not understood: ${cause}. Only pauses were removed there.`];
}

/** Returns whether a word extends into a filler on the far side of a pause. */
const spansDistantFiller = (fillers: readonly Span[], word: Span, trimmed: Span): boolean =>
  findOverlapping(fillers, word).some((span) => overlapDuration(span, trimmed) === 0);

function decideWordlessRegion(
  region: Span,
  noise: boolean,
  { fillers, usesWords, understood, context: { analysis } }: UnscriptedState,
): Decision {
  const filler = fillers.find((span) => overlapDuration(span, region) > 0);
  if (filler) return { removal: filler.match, reviews: [] };
  const removal = decideNoise(region, noise, analysis);
  if (removal) return { removal, reviews: [] };
  return { removal: null, reviews: usesWords ? [unrecognizedRegion(region, understood, analysis)] : [] };
}
