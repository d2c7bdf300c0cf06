/** Plans random recordings, for properties that hold for every plan. */
import { expect } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import type { CutOptions } from "../../../../src/domain/plan";
import type { StagedPlan } from "../../../../src/domain/planning/context";
import { planCut } from "../../../../src/work/cuts/plan-cut";
import {
  createRandomAligner,
  createRandomMatches,
  createRandomRecognizer,
  createRandomVoices,
  type PlanInput,
  recordings,
} from "./arbitrary-recordings";

const EXPECTED = new Set(["no_speech", "script_mismatch", "transcription_unavailable"]);

/** Returns the plan; null when planning fails with one of the expected errors. */
export async function planOf(input: PlanInput, overrides: Partial<CutOptions> = {}): Promise<StagedPlan | null> {
  try {
    const options = { ...input.options, ...overrides };
    const engine = {
      forcedAlign: createRandomAligner(input.seed),
      recognize: createRandomRecognizer(input.seed),
      measureVoices: createRandomVoices(input.seed),
      compareAudio: createRandomMatches(input.seed),
    };
    return await planCut({ ...input, analysis: input.analysis, options, ...engine });
  } catch (error) {
    if (error instanceof AppError && EXPECTED.has(error.code)) return null;
    throw error;
  }
}

const RUNS = 300;
/** Minimum share of the recordings with a plan. About 0.7 of them have one. */
const MIN_PLANNED = 0.55;

/** Checks the plans of random recordings, most of which must have one. */
export async function checkAny(
  holds: (plan: StagedPlan, input: PlanInput) => void | Promise<void>,
  plan: (input: PlanInput) => Promise<StagedPlan | null> = planOf,
): Promise<void> {
  let planned = 0;
  const property = fc.asyncProperty(recordings, async (input) => {
    const found = await plan(input);
    if (found === null) return;
    planned++;
    await holds(found, input);
  });
  await fc.assert(property, { numRuns: RUNS });
  expect(planned).toBeGreaterThan(RUNS * MIN_PLANNED);
}

/** Checks the plan of the recording that a failed run reported, by its seed and path. */
export async function checkReported(
  seed: number,
  path: string,
  holds: (plan: StagedPlan, input: PlanInput) => void,
  plan: (input: PlanInput) => Promise<StagedPlan | null>,
): Promise<void> {
  const property = fc.asyncProperty(recordings, async (input) => holds((await plan(input))!, input));
  await fc.assert(property, { seed, path, numRuns: 1 });
}
