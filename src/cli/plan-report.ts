/** A plan as text: the removed spans with their reasons, and the recording drawn as one line. */
import type { PlanJson } from "../domain/plan-json";
import type { RemovalReason } from "../domain/planning/rules";
import { truncateText } from "../domain/timeline/one-line";
import { formatTextTable } from "./text-table";

/** `mark`: the character of a removed cell. Kept cells are full blocks. */
const REMOVALS: Record<RemovalReason, { text: string; mark: string }> = {
  silence: { text: "silence", mark: "·" },
  filler: { text: "filler", mark: "f" },
  retake: { text: "retake", mark: "r" },
  off_script: { text: "off script", mark: "o" },
  noise: { text: "noise", mark: "n" },
  manual: { text: "by hand", mark: "m" },
};
const KEPT_MARK = "█";
const MAX_TEXT_CHARACTERS = 60;
const REASONS = Object.keys(REMOVALS) as RemovalReason[];

/** Formats seconds as `1:02.3`, or `1:02:03.4` for an hour or more. */
export function formatClock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const hours = Math.floor(tenths / 36_000);
  const minutes = Math.floor(tenths / 600) % 60;
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Returns a table with one row per removed span. Control characters in its text are dropped. */
export function formatRemovedTable(plan: PlanJson): string[] {
  const rows = plan.removed.map((span) => [
    formatClock(span.start),
    formatClock(span.end),
    `${(span.end - span.start).toFixed(1)} s`,
    REMOVALS[span.reason].text,
    shortenText(span.text),
  ]);
  return formatTextTable([["from", "to", "length", "reason", "text"], ...rows], 3)
    .trimEnd()
    .split("\n");
}

/** Returns the recording as `width` cells, each showing the state of most of its time, and a legend of the marks. */
export function drawTimeline(plan: PlanJson, width: number): string[] {
  const cells = Array.from({ length: width }, (_, cell) => {
    const start = (cell * plan.source_duration) / width;
    const end = ((cell + 1) * plan.source_duration) / width;
    const shares = new Map<string, number>();
    const add = (mark: string, span: { start: number; end: number }) => {
      const share = Math.min(span.end, end) - Math.max(span.start, start);
      if (share > 0) shares.set(mark, (shares.get(mark) ?? 0) + share);
    };
    for (const segment of plan.segments) add(KEPT_MARK, segment);
    for (const span of plan.removed) add(REMOVALS[span.reason].mark, span);
    return [...shares].sort((a, b) => b[1] - a[1])[0]?.[0] ?? " ";
  });
  const used = REASONS.filter((reason) => plan.removed.some((span) => span.reason === reason));
  const legend = used.map((reason) => `${REMOVALS[reason].mark} ${REMOVALS[reason].text}`);
  return [cells.join(""), [`${KEPT_MARK} kept`, ...legend].join("  ")];
}

/** Returns the durations before and after, the removed time per reason, and the places that an editor should check. */
export function summarizePlan(plan: PlanJson): string[] {
  const removedSeconds = plan.source_duration - plan.kept_duration;
  const byReason = REASONS.map((reason) => ({
    reason,
    spans: plan.removed.filter((span) => span.reason === reason),
  }))
    .filter(({ spans }) => spans.length > 0)
    .map(({ reason, spans }) => {
      const seconds = spans.reduce((sum, span) => sum + span.end - span.start, 0);
      return `${REMOVALS[reason].text} ${spans.length} (${seconds.toFixed(1)} s)`;
    });
  const share = plan.source_duration > 0 ? Math.round((100 * removedSeconds) / plan.source_duration) : 0;
  return [
    `${formatClock(plan.source_duration)} -> ${formatClock(plan.kept_duration)}, ${removedSeconds.toFixed(1)} s (${share}%) removed`,
    ...(byReason.length > 0 ? [`removed: ${byReason.join(", ")}`] : []),
    ...plan.missing.map((line) => `not found in the recording: ${shortenText(line)}`),
    ...plan.segments.flatMap(({ start, end, review }) =>
      review === null ? [] : [`check ${formatClock(start)}-${formatClock(end)}: ${dropControlCharacters(review)}`],
    ),
    ...plan.warnings.map((warning) => `note: ${dropControlCharacters(warning)}`),
  ];
}

const dropControlCharacters = (text: string): string => text.replace(/\p{Cc}+/gu, " ").trim();

/** Shortens a text to a length that identifies its place, without control characters. Messages are never shortened. */
export const shortenText = (text: string): string => truncateText(dropControlCharacters(text), MAX_TEXT_CHARACTERS);
