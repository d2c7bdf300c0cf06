/** Compares two cuts of one recording. Pure. */
import { type EditorPlan, findSpanIndex, type Range } from "./plan";

/** `only` says which of the two cuts keeps the range. */
export type Difference = Range & { only: "first" | "second" };

/** Returns the ranges that only one of two plans keeps, in order. */
export function comparePlans(first: EditorPlan, second: EditorPlan): Difference[] {
  const bounds = [...first.spans, ...second.spans].flatMap(({ start, end }) => [start, end]);
  const times = [...new Set(bounds)]
    .filter((time) => time <= Math.min(first.duration, second.duration))
    .sort((a, b) => a - b);
  const differences: Difference[] = [];
  for (const [index, start] of times.entries()) {
    const end = times[index + 1];
    if (end === undefined) break;
    const inFirst = first.spans[findSpanIndex(first, start)]!.isKept;
    const inSecond = second.spans[findSpanIndex(second, start)]!.isKept;
    if (inFirst === inSecond) continue;
    const only = inFirst ? "first" : "second";
    const last = differences.at(-1);
    if (last && last.end === start && last.only === only) last.end = end;
    else differences.push({ start, end, only });
  }
  return differences;
}
