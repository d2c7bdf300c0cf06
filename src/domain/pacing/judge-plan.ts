/** Adds to a plan how sure its removals are, and its marks with their rules: they are stored beside it. */
import type { PlanJson } from "../plan-json";
import { joinFindings } from "../planning/assemble-segments";
import { rateFinding } from "../planning/explain-rules";
import { type Finding, isReviewRule, type ReviewRule } from "../planning/rules";
import { type DecidedSpan, findOverlapping, overlapDuration } from "../planning/spans";
import { COMMON } from "../planning/thresholds";
import { fromSeconds, type Span, spanFromSeconds, toSeconds } from "../time";

/** `confidence` is null for spans removed by hand, and in plans of older versions. */
type JudgedRemoval = PlanJson["removed"][number] & { confidence: number | null };
type Mark = { start: number; end: number; rule: ReviewRule; confidence: number };
/** `segment` is the index of the segment in which the mark ends. */
type FoundMark = Mark & { finding: Finding; segment: number };

/** `review` is missing in plans of older versions. */
export type JudgedPlan = Omit<PlanJson, "removed"> & { removed: JudgedRemoval[]; review?: Mark[] };

/** Pauses are removed by their duration, which is certain. */
const PAUSE_CONFIDENCE = 0.99;

/** Returns a plan with confidences. `spans` are those from which it was assembled; null if they are not known. */
export function judgePlan(plan: PlanJson, spans: readonly DecidedSpan[] | null): JudgedPlan {
  if (spans === null) return { ...plan, removed: plan.removed.map((span) => ({ ...span, confidence: null })) };
  return {
    ...plan,
    removed: plan.removed.map((span) => ({ ...span, confidence: rateRemoval(span, spans) })),
    review: joinNotUnderstood(
      plan.segments.flatMap((segment, index) => (segment.review === null ? [] : listMarks(segment, index, spans))),
    ),
  };
}

function rateRemoval(removed: PlanJson["removed"][number], spans: readonly DecidedSpan[]): number | null {
  if (removed.reason === "manual") return null;
  if (removed.reason === "silence") return PAUSE_CONFIDENCE;
  const time = spanFromSeconds({ start: removed.start, end: removed.end });
  let [sum, total] = [0, 0];
  for (const { finding, shared } of listFindings(time, spans)) {
    if (isReviewRule(finding.rule)) continue;
    const weight = finding.rule === removed.rule ? shared : shared / 1000;
    sum += weight * rateFinding(finding);
    total += weight;
  }
  return total === 0 ? null : Math.round((100 * sum) / total) / 100;
}

const isSame = (a: Finding, b: Finding): boolean => joinFindings([a, b]).length === 1;

/**
 * Joins the marks of a stretch that was not understood, which pauses divide into segments: they have the same scores.
 */
function joinNotUnderstood(marks: readonly FoundMark[]): Mark[] {
  const out: FoundMark[] = [];
  for (const mark of marks) {
    const last = out.at(-1);
    const isContinued =
      last?.rule === "review.unrecognized_speech" &&
      mark.segment <= last.segment + 1 &&
      isSame(last.finding, mark.finding);
    if (last && isContinued) Object.assign(last, { end: mark.end, segment: mark.segment });
    else out.push({ ...mark });
  }
  return out.map(({ finding: _, segment: __, ...mark }) => mark);
}

/** Returns the marks of a segment. Marks of one rule are one if they have the same scores or no word between them. */
function listMarks(segment: PlanJson["segments"][number], index: number, spans: readonly DecidedSpan[]): FoundMark[] {
  const time = spanFromSeconds({ start: segment.start, end: segment.end });
  const marks: FoundMark[] = [];
  for (const { finding } of listFindings(time, spans)) {
    const { rule } = finding;
    if (!isReviewRule(rule)) continue;
    const start = toSeconds(Math.max(time.start, finding.start));
    const end = toSeconds(Math.min(time.end, finding.end));
    const last = marks.at(-1);
    const isNear = last !== undefined && finding.start - fromSeconds(last.end) < COMMON.minWordDuration;
    if (last?.rule !== rule || !(isNear || isSame(last.finding, finding)))
      marks.push({ start, end, rule, confidence: rateFinding(finding), finding, segment: index });
    else {
      last.end = Math.max(last.end, end);
      last.confidence = Math.max(last.confidence, rateFinding(finding));
    }
  }
  return marks;
}

const listFindings = (time: Span, spans: readonly DecidedSpan[]): { finding: Finding; shared: number }[] =>
  findOverlapping(spans, time)
    .flatMap(({ findings }) => findings)
    .map((finding) => ({ finding, shared: overlapDuration(finding, time) }))
    .filter(({ shared }) => shared > 0);
