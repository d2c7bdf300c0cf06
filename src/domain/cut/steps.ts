/** What planners have in common: what they are given, and how they ask the recogniser. */
import type { CutOptions } from "../plan";
import type { Clock } from "../segments";
import type { Forced, ForceRequest, Listening } from "../speech";
import type { Rational } from "../time";

/** What every plan is made of. */
export type PlanContext = {
  listening: Listening;
  clock: Clock;
  frameRate: Rational | null;
  options: CutOptions;
  language: string | null;
};

/** A planner: yields what it wants held against the sound, takes the results, returns the plan. */
export type PlanSteps<Result> = Generator<ForceRequest[], Result, Forced[]>;
