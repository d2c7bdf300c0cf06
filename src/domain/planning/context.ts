/** Shared by both planners: their input, and their queries to the speech engine. */

import type { CutOptions, Plan } from "../plan";
import type { SourceClock } from "../segments";
import type {
  AlignmentRequest,
  AudioMatch,
  AudioPair,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  SpeechAnalysis,
} from "../speech";
import type { Rational, Span, Ticks } from "../time";
import type { VoiceFeatures } from "../voice";
import type { PlanBasis } from "./basis";
import { ACTIVITY } from "./thresholds";

/** The input of every planner. */
export type PlanContext = {
  analysis: SpeechAnalysis;
  clock: SourceClock;
  frameRate: Rational | null;
  options: CutOptions;
  language: string | null;
};

/** The queries of a planner about the recording: the types of a request and of its result, by kind. */
type SpeechQueries = {
  align: { request: AlignmentRequest; result: ForcedAlignment };
  recognize: { request: RecognitionRequest; result: Recognition };
  measure_voice: { request: Span; result: VoiceFeatures };
  compare_audio: { request: AudioPair; result: AudioMatch | null };
};

export type SpeechQueryKind = keyof SpeechQueries;
export type SpeechRequest<Kind extends SpeechQueryKind> = SpeechQueries[Kind]["request"];
export type SpeechResult<Kind extends SpeechQueryKind> = SpeechQueries[Kind]["result"];

/** A batch of requests of one kind. */
export type SpeechQuery = {
  [Kind in SpeechQueryKind]: { kind: Kind; requests: SpeechRequest<Kind>[] };
}[SpeechQueryKind];
/** The results of a query, in the order of its requests. */
export type SpeechReply = { [Kind in SpeechQueryKind]: { kind: Kind; results: SpeechResult<Kind>[] } }[SpeechQueryKind];

/**
 * A planner: yields queries, receives their replies, and returns the plan. It sometimes yields null, to which the reply
 * is null, because its steps take long for hours of speech, so that the caller can run other work first.
 */
export type PlanSteps<Result> = Generator<SpeechQuery | null, Result, SpeechReply | null>;

/** Aligns texts with windows of the recording. Returns the results in the order of the requests. */
export function* requestAlignments(requests: AlignmentRequest[]): PlanSteps<ForcedAlignment[]> {
  if (requests.length === 0) return [];
  return getResults("align", yield { kind: "align", requests });
}

/** Aligns the requests of several items. Returns the results of each item. */
export function* requestAlignmentsOf(
  items: readonly { requests: readonly AlignmentRequest[] }[],
): PlanSteps<ForcedAlignment[][]> {
  const results = (yield* requestAlignments(items.flatMap(({ requests }) => requests))).values();
  return items.map(({ requests }) => requests.map(() => results.next().value!));
}

/** Returns the first requests, as many as fit the budget of second recognitions of a recording of this duration. */
export function fitRecognitionBudget<Request extends RecognitionRequest>(
  requests: readonly Request[],
  duration: Ticks,
): Request[] {
  let left = Math.max(ACTIVITY.minBudget, ACTIVITY.maxRecognizedShare * duration);
  return requests.filter(({ window }) => {
    left -= window.end - window.start;
    return left >= 0;
  });
}

/** Recognizes windows of the recording again. Returns the results in the order of the requests. */
export function* requestRecognitions(requests: RecognitionRequest[]): PlanSteps<Recognition[]> {
  if (requests.length === 0) return [];
  return getResults("recognize", yield { kind: "recognize", requests });
}

/** Measures the voice in parts of the recording. Returns the results in the order of the spans. */
export function* requestVoices(requests: Span[]): PlanSteps<VoiceFeatures[]> {
  if (requests.length === 0) return [];
  return getResults("measure_voice", yield { kind: "measure_voice", requests });
}

/** Compares the audio of takes and retakes. Returns the results in the order of the pairs. */
export function* requestAudioMatches(requests: AudioPair[]): PlanSteps<(AudioMatch | null)[]> {
  if (requests.length === 0) return [];
  return getResults("compare_audio", yield { kind: "compare_audio", requests });
}

function getResults<Kind extends SpeechQueryKind>(kind: Kind, reply: SpeechReply | null): SpeechResult<Kind>[] {
  if (reply?.kind !== kind) throw new Error(`planner received no reply of the kind ${kind}`);
  return reply.results;
}

/** Filling this many cells of a table takes a few hundredths of a second. */
const CELLS_PER_YIELD = 2_000_000;

/** Returns a function that counts processed cells and returns true when it is time to yield. */
export function createYieldCounter(): (cells: number) => boolean {
  let done = 0;
  return (cells) => {
    done += cells;
    if (done < CELLS_PER_YIELD) return false;
    done = 0;
    return true;
  };
}

/** Returns whether an alignment has words. A recognizer without forced alignment returns none. */
export const isUsableAlignment = (alignment: ForcedAlignment | null | undefined): alignment is ForcedAlignment =>
  alignment != null && alignment.words.length > 0 && Number.isFinite(alignment.meanLogProb);

/** Returns the best alignment among several readings of a line; null if none is usable. */
export function findBestAlignment(results: readonly (ForcedAlignment | undefined)[]): ForcedAlignment | null {
  let best: ForcedAlignment | null = null;
  for (const alignment of results)
    if (isUsableAlignment(alignment) && (!best || alignment.meanLogProb > best.meanLogProb)) best = alignment;
  return best;
}

/** A stage. One that asks the recognizer returns its steps. */
export type Stage<State> = { name: string; run: (state: State) => State | PlanSteps<State> };

/** A word of a recording, and whether it is kept as far as is known. */
export type StageWord = Span & { text: string; isKept: boolean };
/** The words that were removed before a stage and are kept after it, and the other way around. */
export type StageChange = { stage: string; kept: StageWord[]; removed: StageWord[] };

/** A plan, what it was assembled from, and a function that returns what each stage changed. */
export type StagedPlan = Plan & { basis: PlanBasis; listStages: () => StageChange[] };

/** The state after a stage. */
export type StageResult<State> = { name: string; state: State };

/** Runs the stages in order, and returns the state after each. Stops after the first state that `isDone`. */
export function* runStages<State>(
  stages: readonly Stage<State>[],
  start: State,
  isDone: (state: State) => boolean = () => false,
): PlanSteps<{ state: State; results: StageResult<State>[] }> {
  const results: StageResult<State>[] = [];
  let state = start;
  for (const { name, run } of stages) {
    if (isDone(state)) break;
    const result = run(state);
    state = isSteps(result) ? yield* result : result;
    results.push({ name, state });
  }
  return { state, results };
}

/** Returns what each stage changed of the words that `listWords` returns. */
export function listChanges<State>(
  results: readonly StageResult<State>[],
  listWords: (state: State) => StageWord[],
): StageChange[] {
  let before = new Map<number, boolean>();
  return results.map(({ name, state }) => {
    const words = listWords(state);
    const changed = words.filter(({ start, isKept }) => (before.get(start) ?? true) !== isKept);
    before = new Map(words.map(({ start, isKept }) => [start, isKept]));
    return {
      stage: name,
      kept: changed.filter(({ isKept }) => isKept),
      removed: changed.filter(({ isKept }) => !isKept),
    };
  });
}

const isSteps = <State>(result: State | PlanSteps<State>): result is PlanSteps<State> =>
  typeof result === "object" && result !== null && Symbol.iterator in result;
