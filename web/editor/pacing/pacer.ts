/** Changes the pacing of a cut in the browser: its plan with other options, and with the edits by hand. Pure. */
import { listEdits, type PlanEdits } from "../../../src/domain/pacing/edits";
import { judgePlan } from "../../../src/domain/pacing/judge-plan";
import { type PacingOptions, type PlanBasis, repace } from "../../../src/domain/pacing/repace";
import { CUT_MODE_NAMES, CUT_MODES, type CutMode } from "../../../src/domain/plan";
import type { PlanJson } from "../../../src/domain/plan-json";
import { type Content, toDraft } from "../model/history";
import { type EditorPlan, getKeptDuration, readPlan } from "../model/plan";

/** The plan before the edits, and the edits. */
type Origin = { base: PlanJson; edits: PlanEdits };

export type Pacer = {
  /** The plan of `content` with other options. Edits by hand stay. */
  pace(content: Content, options: PacingOptions): EditorPlan;
  /** Duration of that plan, in microseconds. */
  measure(content: Content, options: PacingOptions): number;
  /** The options with which `content` was paced. */
  getOptions(content: Content): PacingOptions;
  /** The same object for plans that differ in their options only. */
  findOrigin(content: Content): object;
};

/** `plan` is that of the stored cut, which was made with `initial` options, and edited since. */
export function createPacer(plan: PlanJson, basis: PlanBasis, initial: PacingOptions): Pacer {
  /** Plans of this pacer, so that one change after another starts from the same edits. */
  const origins = new WeakMap<EditorPlan, Origin>();
  const getOptions = ({ pacing }: Content): PacingOptions => pacing ?? initial;
  const findOrigin = (content: Content): Origin => {
    const known = origins.get(content.plan);
    if (known) return known;
    const base = repace(plan, null, basis, getOptions(content)).plan;
    const origin = { base, edits: listEdits(base, toDraft(content).segments, []) };
    origins.set(content.plan, origin);
    return origin;
  };
  const pace = (content: Content, options: PacingOptions): EditorPlan => {
    const origin = findOrigin(content);
    const paced = readPlan(judgePlan(repace(origin.base, null, basis, options, origin.edits).plan, basis.spans));
    origins.set(paced, origin);
    return paced;
  };
  return { pace, getOptions, findOrigin, measure: (content, options) => getKeptDuration(pace(content, options)) };
}

/** The mode whose defaults these options are, or null. */
export const findMode = (options: PacingOptions): CutMode | null =>
  CUT_MODE_NAMES.find((mode) => isSameOptions({ ...options, ...CUT_MODES[mode] }, options)) ?? null;

const NAMES = [
  "min_silence_seconds",
  "padding_before_seconds",
  "padding_after_seconds",
  "remove_fillers",
  "remove_retakes",
  "remove_off_script",
  "remove_pauses",
] as const;

export const isSameOptions = (a: PacingOptions, b: PacingOptions): boolean =>
  NAMES.every((name) => a[name] === b[name]);

/** Sets the quiet before and after words, which is longer after them, from its mean. */
export function setPadding(options: PacingOptions, seconds: number): PacingOptions {
  const before = Math.round(80 * seconds) / 100;
  return {
    ...options,
    padding_before_seconds: before,
    padding_after_seconds: Math.round(100 * (2 * seconds - before)) / 100,
  };
}

export const getPadding = ({ padding_before_seconds: before, padding_after_seconds: after }: PacingOptions): number =>
  (before + after) / 2;

/** Durations in seconds of the gaps between spoken spans, longest last. */
export function listPauses({ spans }: PlanBasis, duration: number): number[] {
  const pauses: number[] = [];
  let end = 0;
  for (const span of [...spans, { start: duration, end: duration }]) {
    if (span.start > end) pauses.push((span.start - end) / 1e6);
    end = Math.max(end, span.end);
  }
  return pauses.sort((a, b) => a - b);
}

/** Number of pauses in `bins` steps from `min` to `max` seconds; the last one has all longer ones. */
export function countPauses(pauses: readonly number[], min: number, max: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const pause of pauses) {
    const bin = Math.floor(((pause - min) / (max - min)) * bins);
    if (bin >= 0) counts[Math.min(bin, bins - 1)]!++;
  }
  return counts;
}
