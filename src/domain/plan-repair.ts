/** Plans that were edited as a file: checked against the recording, snapped like an edit, with the texts as written. */
import type { FieldError } from "./errors";
import { findPlanFrameRate, type ProbedMedia } from "./media";
import type { Plan } from "./plan";
import { createTextIndex, editPlan, validateEdit } from "./plan-edit";
import { type PlanJson, planToJson } from "./plan-json";
import type { WrittenPlan, WrittenSegment } from "./plan-text";
import { findOverlapping, subtract } from "./planning/spans";
import { joinReviews, joinTexts } from "./segments";
import type { Word } from "./speech";
import { correctWords } from "./subtitles/corrected-words";
import { fromSeconds, type Span, spanFromSeconds, spanToSeconds, type Ticks, toSeconds } from "./time";

/** Containers and copies of a recording in another format differ in duration by less than this. */
const MAX_DURATION_DIFFERENCE_TICKS: Ticks = 500_000;
/** A smaller difference is caused by rounding. */
const MIN_REPORTED_DIFFERENCE_TICKS: Ticks = 10_000;

/** `words` are the transcript's words with the corrections of the plan's texts, for subtitles. */
export type RepairedPlan = { plan: PlanJson; words: Word[]; warnings: string[] };

/**
 * Returns the plan with its segments snapped to the recording, or the first errors, each with its segment. Without
 * `words`, segments without a text stay without one.
 */
export function repairPlan(
  written: WrittenPlan,
  words: readonly Word[],
  probed: ProbedMedia,
): ({ ok: true } & RepairedPlan) | { ok: false; errors: FieldError[] } {
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const { difference, errors: durationErrors } = compareDuration(written, clock.duration);
  if (durationErrors.length > 0) return { ok: false, errors: durationErrors };
  const segments = clampEnds(written, clock.duration);
  const errors = validateEdit(segments, clock).map(({ index, field, message }) => {
    const { start, end } = segments[index]!;
    const bound = field === null ? "" : `.${field}`;
    return { field: `segments[${index}]${bound}`, message: `${message} (${start} s to ${end} s)` };
  });
  if (errors.length > 0) return { ok: false, errors };

  const removed = listWrittenRemoved(written, clock.duration);
  const before = subtract({ start: 0, end: clock.duration }, removed);
  const old = createOldPlan(written, removed, before, probed);
  const edited = editPlan(old, segments, words, clock);
  const kept = withWrittenTexts(edited.segments, segments, words);
  const warnings: string[] = [];
  if (difference >= MIN_REPORTED_DIFFERENCE_TICKS)
    warnings.push(
      `The plan was made for a recording of ${written.sourceDurationSeconds} s, this one has ${toSeconds(clock.duration)} s.`,
    );
  if (kept.length < segments.length)
    warnings.push(`Segments that touch were joined: ${segments.length} in the plan, ${kept.length} in the cut.`);
  return {
    ok: true,
    plan: planToJson({ ...edited, segments: kept }),
    words: correctWords(words, segments.map(spanFromSeconds), removed.length > 0 ? before : []),
    warnings,
  };
}

function compareDuration(written: WrittenPlan, duration: Ticks): { difference: Ticks; errors: FieldError[] } {
  const { sourceDurationSeconds } = written;
  if (sourceDurationSeconds === null) return { difference: 0, errors: [] };
  const difference = Math.abs(fromSeconds(sourceDurationSeconds) - duration);
  if (difference <= MAX_DURATION_DIFFERENCE_TICKS) return { difference, errors: [] };
  const message = `is ${sourceDurationSeconds} s, but the recording has ${toSeconds(duration)} s: the plan was made for another one. Remove source_duration from the plan to use it anyway`;
  return { difference, errors: [{ field: "source_duration", message }] };
}

/** Clamps segments that end slightly after the recording. */
function clampEnds({ segments, sourceDurationSeconds }: WrittenPlan, duration: Ticks): WrittenSegment[] {
  const [last, writtenLast] = [toSeconds(duration), sourceDurationSeconds ?? 0];
  return segments.map((segment) =>
    segment.end > last && segment.end <= writtenLast ? { ...segment, end: last } : segment,
  );
}

type WrittenRemoved = WrittenPlan["removed"][number];

/** Returns the removed spans within the recording, sorted and disjoint. They only explain the cut. */
function listWrittenRemoved({ removed }: WrittenPlan, duration: Ticks): (WrittenRemoved & Span)[] {
  const out: (WrittenRemoved & Span)[] = [];
  const spans = removed.map(spanFromSeconds);
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const start = Math.max(0, span.start, out.at(-1)?.end ?? 0);
    const end = Math.min(duration, span.end);
    if (end > start) out.push({ ...span, start, end });
  }
  return out;
}

/** Reconstructs the plan before the edit: everything that the file does not list as removed was kept. */
function createOldPlan(
  written: WrittenPlan,
  removed: readonly (WrittenRemoved & Span)[],
  before: readonly Span[],
  probed: ProbedMedia,
): PlanJson {
  const empty = { start_frame: null, end_frame: null, text: "", review: null };
  return {
    source_duration: toSeconds(probed.info.duration),
    kept_duration: 0,
    frame_rate: findPlanFrameRate(probed),
    segments: before.map((span) => ({ ...spanToSeconds(span), ...empty })),
    removed: removed.map(spanToSeconds),
    takes: written.takes,
    missing: written.missing,
    warnings: written.warnings,
    language: written.language,
  };
}

/** Returns the segments with the texts and reviews of the written segments that each of them contains. */
function withWrittenTexts(
  kept: Plan["segments"],
  segments: readonly WrittenSegment[],
  words: readonly Word[],
): Plan["segments"] {
  const textIn = createTextIndex(words);
  const spans = segments.map(spanFromSeconds);
  return kept.map((segment) => {
    const inside = findOverlapping(spans, segment);
    const text = joinTexts(inside.map((span) => span.text ?? textIn(span)));
    return { ...segment, text, review: joinReviews(inside.map(({ review }) => review)) };
  });
}
