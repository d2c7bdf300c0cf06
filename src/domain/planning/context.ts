/** What both planners share: their input, and how they ask for forced alignments. */
import type { CutOptions } from "../plan";
import type { SourceClock } from "../segments";
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis } from "../speech";
import type { Rational } from "../time";

/** The input of every planner. */
export type PlanContext = {
  analysis: SpeechAnalysis;
  clock: SourceClock;
  frameRate: Rational | null;
  options: CutOptions;
  language: string | null;
};

/**
 * A planner: yields alignment requests, receives their results in the same order, and returns the plan. It sometimes yields no requests:
 * its steps take long on hours of speech, so the caller can run other work first.
 */
export type PlanSteps<Result> = Generator<AlignmentRequest[], Result, ForcedAlignment[]>;

/** Filling this many cells of a table takes some hundredths of a second. */
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
