/** The JSON form of a plan, as the API and the CLI show it, and as it is stored. */
import type { RenderSegment } from "./media";
import type { Plan } from "./plan";
import type { RemovalReason, RemovalRule } from "./planning/rules";
import { fromSeconds, type Rational, toSeconds } from "./time";

/**
 * Times are in seconds on the source's clock, with at most six decimals. `chosen` is an index into `candidates`. Plans
 * that were stored before rules were recorded have no `rule`, and plans edited from them have null; the same applies to
 * `language`.
 */
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
  removed: { start: number; end: number; reason: RemovalReason; rule?: RemovalRule | null; text: string }[];
  takes: {
    line: string;
    chosen: number;
    candidates: { start: number; end: number; score: number; complete: boolean }[];
  }[];
  missing: string[];
  warnings: string[];
  language?: string | null;
};

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
      rule: span.rule,
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
    language: plan.language,
  };
}

export const planSegments = (plan: PlanJson): RenderSegment[] =>
  plan.segments.map((segment) => ({
    start: fromSeconds(segment.start),
    end: fromSeconds(segment.end),
    startFrame: segment.start_frame,
    endFrame: segment.end_frame,
  }));
