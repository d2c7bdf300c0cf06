/** The JSON form of a plan, as the API and the CLI show it, and as it is stored. */
import type { Static } from "@sinclair/typebox";
import type { RenderSegment } from "./media";
import type { Plan } from "./plan";
import type { planSchema } from "./plan-schema";
import { fromSeconds, toSeconds } from "./time";

export type PlanJson = Static<typeof planSchema>;

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
