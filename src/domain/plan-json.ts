/** The plan as the API, the CLI and the exports' JSON show it. */
import type { RenderSegment } from "./media";
import type { Plan, RemovalReason } from "./plan";
import { fromSeconds, type Rational, toSeconds } from "./time";

/** Times are seconds on the source's clock with at most six decimals; `chosen` indexes `candidates`. */
export type PlanJson = {
  source_duration: number;
  kept_duration: number;
  frame_rate: Rational | null;
  segments: {
    start: number;
    end: number;
    start_frame: number | null;
    end_frame: number | null;
    text: string;
    review: string | null;
  }[];
  removed: { start: number; end: number; reason: RemovalReason; text: string }[];
  takes: {
    line: string;
    chosen: number;
    candidates: { start: number; end: number; score: number; complete: boolean }[];
  }[];
  missing: string[];
  warnings: string[];
};

/** The JSON form of a plan. */
export function planToJson(plan: Plan): PlanJson {
  return {
    source_duration: toSeconds(plan.sourceDuration),
    kept_duration: toSeconds(plan.keptDuration),
    frame_rate: plan.frameRate && { num: plan.frameRate.num, den: plan.frameRate.den },
    segments: plan.segments.map((segment) => ({
      start: toSeconds(segment.start),
      end: toSeconds(segment.end),
      start_frame: segment.startFrame,
      end_frame: segment.endFrame,
      text: segment.text,
      review: segment.review,
    })),
    removed: plan.removed.map((span) => ({
      start: toSeconds(span.start),
      end: toSeconds(span.end),
      reason: span.reason,
      text: span.text,
    })),
    takes: plan.takes.map((take) => ({
      line: take.line,
      chosen: take.chosen,
      candidates: take.candidates.map((candidate) => ({
        start: toSeconds(candidate.start),
        end: toSeconds(candidate.end),
        score: candidate.score,
        complete: candidate.complete,
      })),
    })),
    missing: [...plan.missing],
    warnings: [...plan.warnings],
  };
}

/** The kept segments of a stored plan, for the renderer. */
export const planSegments = (plan: PlanJson): RenderSegment[] =>
  plan.segments.map((segment) => ({
    start: fromSeconds(segment.start),
    end: fromSeconds(segment.end),
    startFrame: segment.start_frame,
    endFrame: segment.end_frame,
  }));
