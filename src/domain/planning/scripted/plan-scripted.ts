/** Plans a recording with its script: keeps one take of each line, and nothing that is not in the script. */

import type { Span } from "../../time";
import { detectActivity, estimateEdgeMargin } from "../audio-activity";
import { assembleBasis, toBasis, toPacingOptions } from "../basis";
import { listChanges, type PlanSteps, runStages, type Stage, type StagedPlan, type StageWord } from "../context";
import { type DecidedWord, type Decision, toDecidedSpans } from "../decided-spans";
import { findLexicon } from "../lexicon/find-lexicon";
import { findAlikeTakes } from "../retakes/alike-takes";
import { findRetakes, isTake, type Retake } from "../retakes/find-retakes";
import { type EarlierTake, findEarlierTakes } from "../retakes/takes-by-line";
import { durationOf } from "../spans";
import { divideStretchedWords } from "../stretched-words";
import { listTakes } from "../take-list";
import { COMMON, FILLERS } from "../thresholds";
import { moveSilentWords, sortWords, tokenize } from "../tokens";
import { decideNoise, findUnrecognizedSpeech, toVoiceScores } from "../understood-speech";
import { type ConfirmedTake, confirmTakes, isWeak, listLineTakes } from "./confirm-takes";
import { keepDifferingWords, type SettledPath } from "./differing-words";
import { decideScriptedWords, type ExcisedTake, exciseDisfluencies } from "./excise-disfluencies";
import { createLineBias, findLineBounds, findPath, type ScriptPath } from "./find-path";
import { checkMatches, type LineCandidate } from "./line-candidates";
import { matchLines } from "./match-lines";
import { completeLines, moveToRetakes } from "./misaligned-lines";
import { addOutOfOrder, addParaphrases, addReplacedLines, keepLeftWords } from "./missing-lines";
import { findOtherSpeakers } from "./other-speakers";
import { listPathTakes, type PathTake, withAdjacentTokens } from "./path-takes";
import { measureSpeechPace, type PartialAlignment, rescueLines } from "./rescue-lines";
import { type ScriptedContext, type ScriptedRecording, splitCompounds } from "./script-lines";
import { isScriptMismatch } from "./script-mismatch";
import { keepWholeAttempts, settlePath } from "./settle-path";
import { dropUnspokenLines } from "./unspoken-lines";

/** What is known of a recording with a script. Rows of `candidates` and `takes` belong to the lines of the script. */
type ScriptedState = {
  context: ScriptedContext;
  recording: ScriptedRecording;
  candidates: LineCandidate[][];
  /** Retakes that transcript and audio show, and for each token whether it is repeated immediately. */
  earlierTakes: EarlierTake[];
  repeated: Uint8Array;
  /** The script's path through the tokens. Null before the search. */
  path: SettledPath | null;
  /** The takes on the path before lines were moved to retakes. */
  found: (PathTake | null)[];
  /** Nearly all lines that are spoken are read word for word. */
  isExact: boolean;
  partialAlignments: PartialAlignment[];
  retaken: EarlierTake[];
  confirmed: (ConfirmedTake | null)[];
  takes: (ConfirmedTake | null)[];
  outOfOrder: number[];
  /** The script belongs to another recording. */
  isMismatch: boolean;
  excised: ExcisedTake[];
  decided: DecidedWord[] | null;
};

/** The stages of planning with a script. */
export const SCRIPTED_STAGES: readonly Stage<ScriptedState>[] = [
  { name: "matches", run: findCandidates },
  { name: "retakes", run: findRepeated },
  { name: "path", run: searchPath },
  { name: "lines by audio", run: rescueMissedLines },
  { name: "unspoken lines", run: dropUnspoken },
  { name: "better takes", run: settle },
  { name: "whole attempts", run: unifyParagraphs },
  { name: "words beside lines", run: keepAdjacent },
  { name: "repeated lines", run: moveRepeated },
  { name: "incomplete lines", run: complete },
  { name: "words that differ", run: keepDiffering },
  { name: "exact takes", run: confirm },
  { name: "lines out of order", run: addLinesOutOfOrder },
  { name: "paraphrases", run: addParaphrasedLines },
  { name: "replaced lines", run: addReplaced },
  { name: "disfluencies", run: excise },
  { name: "words", run: decide },
];

/** Plans with a script; `mismatch` if the script does not match the speech. */
export function* planScripted(given: ScriptedContext): PlanSteps<StagedPlan | "mismatch"> {
  const { clock, options } = given;
  const { transcript } = yield* divideStretchedWords(given.analysis, given.language);
  const context = transcript ? { ...given, analysis: { ...given.analysis, transcript }, transcript } : given;
  const { state, results } = yield* runStages(SCRIPTED_STAGES, createState(context), ({ isMismatch }) => isMismatch);
  if (state.isMismatch) return "mismatch";
  const { recording, candidates, takes, earlierTakes } = state;
  const { activity, lines } = recording;
  const spans = toDecidedSpans(state.decided ?? [], activity, (region, noise) =>
    decideWordlessRegion(region, noise, context),
  );
  const basis = toBasis(spans, estimateEdgeMargin(activity), clock);
  const assembled = assembleBasis(basis, clock.duration, toPacingOptions(options));
  const lineTakes = listLineTakes(recording, candidates, takes, earlierTakes);
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lineTakes, assembled.segments),
    missing: lines.filter((line, i) => !takes[i] && !line.optional).map((line) => line.text),
    warnings: state.outOfOrder.map((line) => `Recorded out of order and left in place: ${lines[line]!.text}`),
    language: context.language,
    basis,
    listStages: () => listChanges(results, listWords),
  };
}

function createState(context: ScriptedContext): ScriptedState {
  const { analysis, clock, language, transcript } = context;
  const activity = detectActivity({ ...analysis, duration: clock.duration });
  const known = moveSilentWords(sortWords(transcript.words), activity);
  const words = sortWords([...known, ...findUnrecognizedSpeech(known, activity, analysis, COMMON.minWordDuration)]);
  const { lines, tokens } = splitCompounds(context.lines, tokenize(words, language));
  return {
    context,
    recording: { words, tokens, activity, lines, lexicon: findLexicon(language) },
    candidates: lines.map(() => []),
    earlierTakes: [],
    repeated: new Uint8Array(tokens.length),
    path: null,
    found: [],
    isExact: false,
    partialAlignments: [],
    retaken: [],
    confirmed: [],
    takes: lines.map(() => null),
    outOfOrder: [],
    isMismatch: false,
    excised: [],
    decided: null,
  };
}

/** Returns the words, kept as far as is known: those on the path, then those of the takes. */
function listWords({ recording, path, takes, decided }: ScriptedState): StageWord[] {
  if (decided) return decided.map(({ start, end, text, removal }) => ({ start, end, text, isKept: removal === null }));
  const { words, tokens } = recording;
  const isKept = new Uint8Array(words.length).fill(path ? 0 : 1);
  for (const [j, { word }] of tokens.entries()) if (path?.kept[j]) isKept[word] = 1;
  for (const take of takes) if (take) for (const { word } of tokens.slice(take.from, take.to)) isKept[word] = 1;
  return words.map(({ start, end, text }, i) => ({ start, end, text, isKept: isKept[i] === 1 }));
}

/** Finds the stretches that resemble each line, and rates them by audio. */
function* findCandidates(state: ScriptedState): PlanSteps<ScriptedState> {
  const { lines, tokens } = state.recording;
  const matches = yield* matchLines(lines, tokens);
  return { ...state, candidates: yield* checkMatches(matches, state.recording) };
}

function* findRepeated(state: ScriptedState): PlanSteps<ScriptedState> {
  const { words, tokens, lexicon, activity } = state.recording;
  const found = yield* findAlikeTakes(words, tokens, activity, lexicon);
  const { retakes } = yield* findRetakes(words, tokens, lexicon, { found, different: [] });
  const earlierTakes = findEarlierTakes(words, tokens, retakes).takes;
  return { ...state, earlierTakes, repeated: markRepeated(state.recording, retakes) };
}

function* searchPath(state: ScriptedState): PlanSteps<ScriptedState> {
  const { lines, tokens } = state.recording;
  const { candidates, repeated } = state;
  const bias = createLineBias(candidates, tokens.length);
  const boundsOf = findLineBounds(lines, candidates, tokens.length);
  const isAligned = state.context.transcript.forcing !== false;
  return withPath(state, yield* findPath(lines, tokens, { repeated, bias, boundsOf, isAligned }));
}

function withPath(state: ScriptedState, path: ScriptPath): ScriptedState {
  const { lines, tokens } = state.recording;
  const settled = { ...path, differing: new Uint8Array(tokens.length) };
  return { ...state, path: settled, found: listPathTakes(lines, settled, tokens) };
}

/** Aligns lines that were not found with the speech in their place, and searches again if some are there. */
function* rescueMissedLines(state: ScriptedState): PlanSteps<ScriptedState> {
  const { candidates: found, partialAlignments } = yield* rescueLines(state.found, state.candidates, state.recording);
  if (found.length === 0) return { ...state, partialAlignments };
  const candidates = state.candidates.map((row, line) =>
    found.filter((one) => one.line === line).reduce(insertCandidate, row),
  );
  return yield* searchPath({ ...state, candidates, partialAlignments });
}

function dropUnspoken(state: ScriptedState): ScriptedState {
  const { path, found, candidates, recording } = state;
  const spoken = dropUnspokenLines(path!, found, candidates, recording);
  return { ...withPath(state, spoken.path), isExact: spoken.isExact };
}

function settle(state: ScriptedState): ScriptedState {
  return withPath(state, settlePath(state.path!, state.recording, state.candidates));
}

function unifyParagraphs(state: ScriptedState): ScriptedState {
  return withPath(state, keepWholeAttempts(state.path!, state.recording.lines, state.candidates));
}

function keepAdjacent(state: ScriptedState): ScriptedState {
  return withPath(state, withAdjacentTokens(state.path!, state.recording, state.repeated));
}

function* moveRepeated(state: ScriptedState): PlanSteps<ScriptedState> {
  const { candidates, earlierTakes, recording } = state;
  return { ...state, ...(yield* moveToRetakes(state.path!, candidates, earlierTakes, recording)) };
}

function* complete(state: ScriptedState): PlanSteps<ScriptedState> {
  return { ...state, path: yield* completeLines(state.path!, state.recording, state.repeated) };
}

function* keepDiffering(state: ScriptedState): PlanSteps<ScriptedState> {
  const { path, candidates, recording, repeated, isExact } = state;
  const pace = measureSpeechPace(candidates, recording);
  return { ...state, path: yield* keepDifferingWords(path!, recording, repeated, isExact, pace) };
}

/** Aligns the takes of the path, and finds out whether the script is that of the recording. */
function* confirm(state: ScriptedState): PlanSteps<ScriptedState> {
  const { recording, candidates, found } = state;
  const onPath = listPathTakes(recording.lines, state.path!, recording.tokens);
  const confirmed = yield* confirmTakes(onPath, candidates, recording);
  const takes = confirmed.map((take) => (take && isWeak(take) ? null : take));
  return { ...state, confirmed, takes, isMismatch: isScriptMismatch(recording, takes, found) };
}

function addLinesOutOfOrder(state: ScriptedState): ScriptedState {
  const takes = state.takes.slice();
  const { candidates, retaken, recording, confirmed } = state;
  const outOfOrder = addOutOfOrder(takes, candidates, retaken, recording.lines, confirmed);
  return { ...state, takes, outOfOrder };
}

function addParaphrasedLines(state: ScriptedState): ScriptedState {
  const takes = state.takes.slice();
  const { partialAlignments, candidates, recording, repeated, isExact } = state;
  addParaphrases(takes, partialAlignments, candidates, recording, repeated, isExact);
  return { ...state, takes };
}

/**
 * Adds what is said in place of missing lines, and of lines with a weak take that is too short for them. Otherwise
 * their weak takes stay.
 */
function* addReplaced(state: ScriptedState): PlanSteps<ScriptedState> {
  const { candidates, path, recording, repeated, confirmed, isExact } = state;
  const isLong = ({ from, to, line }: ConfirmedTake) =>
    to - from >= COMMON.minLengthRatio * recording.lines[line]!.words.length;
  const takes = state.takes.map((take, i) => take ?? (confirmed[i] && isLong(confirmed[i]) ? confirmed[i] : null));
  const pace = measureSpeechPace(candidates, recording);
  yield* addReplacedLines(takes, candidates, path!, recording, repeated, isExact, pace);
  const all = takes.map((take, i) => take ?? confirmed[i] ?? null);
  return { ...state, ...keepLeftWords(all, path!, recording) };
}

function* excise(state: ScriptedState): PlanSteps<ScriptedState> {
  const kept = state.takes.filter((take) => take !== null);
  return { ...state, excised: yield* exciseDisfluencies(kept, state.recording) };
}

/** Decides on every word. If the script is read word for word, another speaker who says a line is a prompter. */
function* decide(state: ScriptedState): PlanSteps<ScriptedState> {
  const { excised, candidates, path, retaken, recording, context, isExact } = state;
  const others = isExact ? new Map() : yield* findOtherSpeakers(excised, candidates, retaken, recording);
  return { ...state, decided: decideScriptedWords(excised, candidates, path!, retaken, others, recording, context) };
}

/**
 * Returns the candidates of a line with another one, in order of time. It replaces overlapping ones that were not
 * accepted.
 */
function insertCandidate(row: readonly LineCandidate[], candidate: LineCandidate): LineCandidate[] {
  const others = row.filter((one) => one.accepted || one.to <= candidate.from || one.from >= candidate.to);
  return [...others, candidate].sort((a, b) => a.from - b.from);
}

/** Returns 1 for each token that is repeated immediately. */
function markRepeated({ words, tokens }: ScriptedRecording, retakes: readonly Retake[]): Uint8Array {
  const repeatedWords = new Uint8Array(words.length);
  for (const retake of retakes) if (isTake(retake)) repeatedWords.fill(1, retake.from, retake.to);
  return Uint8Array.from(tokens, (token) => repeatedWords[token.word]!);
}

function decideWordlessRegion(region: Span, noise: boolean, { analysis }: ScriptedContext): Decision {
  const scores = toVoiceScores(region, analysis);
  const rule = durationOf(region) <= FILLERS.maxWordlessFiller ? "filler.wordless_voice" : "off_script.unrecognized";
  return { removal: decideNoise(region, noise, analysis) ?? { rule, scores }, reviews: [] };
}
