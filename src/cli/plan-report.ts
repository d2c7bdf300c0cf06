/** A plan as text for people: what was removed and why, and the recording drawn as one line. */
import type { PlanJson } from "../domain/plan-json";

type Reason = PlanJson["removed"][number]["reason"];

const REASONS: Record<Reason, string> = {
  silence: "silence",
  filler: "filler",
  retake: "retake",
  off_script: "off script",
  noise: "noise",
  manual: "by hand",
};

/** What stands for a removed cell of the line; kept cells are full blocks. */
const MARKS: Record<Reason, string> = {
  silence: "·",
  filler: "f",
  retake: "r",
  off_script: "o",
  noise: "n",
  manual: "m",
};
const KEPT = "█";
const TEXT_CHARACTERS = 60;

/** `1:02.3`, or `1:02:03.4` from an hour on. */
export function clock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const hours = Math.floor(tenths / 36_000);
  const minutes = Math.floor(tenths / 600) % 60;
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** One line for each removed span, the times lined up. Control characters of the text are left out. */
export function removedTable(plan: PlanJson): string[] {
  const rows = plan.removed.map((span) => [
    clock(span.start),
    clock(span.end),
    `${(span.end - span.start).toFixed(1)} s`,
    REASONS[span.reason],
    shortened(span.text),
  ]);
  const head = ["from", "to", "length", "why", "what was said"];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => (column < 3 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd(),
  );
}

/** The recording as `width` cells; each shows what most of its time is. The second line explains the marks that occur. */
export function timeline(plan: PlanJson, width: number): string[] {
  const cells = Array.from({ length: width }, (_, cell) => {
    const start = (cell * plan.source_duration) / width;
    const end = ((cell + 1) * plan.source_duration) / width;
    const shares = new Map<string, number>();
    const add = (mark: string, span: { start: number; end: number }) => {
      const share = Math.min(span.end, end) - Math.max(span.start, start);
      if (share > 0) shares.set(mark, (shares.get(mark) ?? 0) + share);
    };
    for (const segment of plan.segments) add(KEPT, segment);
    for (const span of plan.removed) add(MARKS[span.reason], span);
    return [...shares].sort((a, b) => b[1] - a[1])[0]?.[0] ?? " ";
  });
  const reasons = (Object.keys(MARKS) as Reason[]).filter((reason) => plan.removed.some((r) => r.reason === reason));
  return [cells.join(""), [`${KEPT} kept`, ...reasons.map((r) => `${MARKS[r]} ${REASONS[r]}`)].join("  ")];
}

/** `49.8 s -> 23.1 s: 26.7 s removed in 11 places`, then how many for each reason. */
export function summary(plan: PlanJson): string[] {
  const gone = plan.source_duration - plan.kept_duration;
  const byReason = (Object.keys(REASONS) as Reason[])
    .map((reason) => ({ reason, spans: plan.removed.filter((span) => span.reason === reason) }))
    .filter(({ spans }) => spans.length > 0)
    .map(({ reason, spans }) => {
      const seconds = spans.reduce((sum, span) => sum + span.end - span.start, 0);
      return `${REASONS[reason]} ${spans.length} (${seconds.toFixed(1)} s)`;
    });
  const share = plan.source_duration > 0 ? Math.round((100 * gone) / plan.source_duration) : 0;
  return [
    `${clock(plan.source_duration)} -> ${clock(plan.kept_duration)}, ${gone.toFixed(1)} s (${share}%) removed`,
    ...(byReason.length > 0 ? [`removed: ${byReason.join(", ")}`] : []),
    ...plan.missing.map((line) => `not found in the recording: ${shortened(line)}`),
    ...plan.segments
      .filter((segment) => segment.review !== null)
      .map((segment) => `please check ${clock(segment.start)}-${clock(segment.end)}: ${plain(segment.review ?? "")}`),
    ...plan.warnings.map((warning) => `note: ${plain(warning)}`),
  ];
}

const plain = (text: string): string => text.replace(/\p{Cc}+/gu, " ").trim();

/** For what was said: enough of it to find the place. What the user is told is never shortened. */
function shortened(text: string): string {
  const characters = [...plain(text)];
  return characters.length > TEXT_CHARACTERS
    ? `${characters.slice(0, TEXT_CHARACTERS - 1).join("")}…`
    : characters.join("");
}
