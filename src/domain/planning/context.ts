/** What planners have in common: what they are given, and how they ask the recogniser. */
import type { CutOptions } from "../plan";
import type { SourceClock } from "../segments";
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis } from "../speech";
import type { Rational } from "../time";

/** What every plan is made of. */
export type PlanContext = {
  listening: SpeechAnalysis;
  clock: SourceClock;
  frameRate: Rational | null;
  options: CutOptions;
  language: string | null;
};

/**
 * A planner: yields what it wants held against the sound, takes the results, returns the plan. Now and then it yields nothing: whoever runs
 * it may do something else first, for over hours of speech some of its steps take a while.
 */
export type PlanSteps<Result> = Generator<AlignmentRequest[], Result, ForcedAlignment[]>;

/** So many cells of a table are filled in some hundredths of a second. */
const CELLS_PER_YIELD = 2_000_000;

/** Counts what has been done; tells when it is time to yield. */
export function createYieldCounter(): (cells: number) => boolean {
  let done = 0;
  return (cells) => {
    done += cells;
    if (done < CELLS_PER_YIELD) return false;
    done = 0;
    return true;
  };
}
