/**
 * Planning as a list of stages: named pure functions that return the state after them. Their thresholds, in one table.
 */
import type { Plan } from "../plan";
import type { Span } from "../time";
import type { PlanBasis } from "./basis";
import type { PlanSteps } from "./context";
import { RETAKES, RETAKES_THRESHOLDS } from "./retakes/thresholds";
import { SCRIPT, SCRIPT_THRESHOLDS } from "./scripted/thresholds";
import {
  ACTIVITY,
  ACTIVITY_THRESHOLDS,
  COMMON,
  COMMON_THRESHOLDS,
  CUTTING,
  CUTTING_THRESHOLDS,
  FILLERS,
  FILLERS_THRESHOLDS,
  type Threshold,
} from "./thresholds";

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

/** A stage's thresholds as documented, and as the code reads them. */
type StageThresholds = {
  stage: string;
  thresholds: Readonly<Record<string, Threshold>>;
  values: Readonly<Record<string, number>>;
};

export const STAGE_THRESHOLDS: readonly StageThresholds[] = [
  { stage: "common", thresholds: COMMON_THRESHOLDS, values: COMMON },
  { stage: "activity", thresholds: ACTIVITY_THRESHOLDS, values: ACTIVITY },
  { stage: "cutting", thresholds: CUTTING_THRESHOLDS, values: CUTTING },
  { stage: "fillers", thresholds: FILLERS_THRESHOLDS, values: FILLERS },
  { stage: "retakes", thresholds: RETAKES_THRESHOLDS, values: RETAKES },
  { stage: "script", thresholds: SCRIPT_THRESHOLDS, values: SCRIPT },
];
