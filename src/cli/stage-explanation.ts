/** Explains in text what each stage of planning changed, and the thresholds of the stages. */

import { formatTime } from "../domain/planning/explain-rules";
import type { StageChange, StageWord } from "../domain/planning/stages";
import { STAGE_THRESHOLDS } from "../domain/planning/thresholds";

/**
 * Returns a line for each stage, followed by the words that it keeps or removes:
 * `  - 00:12.340–00:13.120 the wall and` (removed), `  + 00:15.200–00:15.900 again` (kept).
 */
export function explainStages(stages: readonly StageChange[]): string[] {
  return stages.flatMap(({ stage, kept, removed }) => [
    `${stage}: ${count(removed.length)} removed, ${kept.length} kept`,
    ...[...toLines("-", removed), ...toLines("+", kept)],
  ]);
}

const count = (words: number): string => `${words} ${words === 1 ? "word" : "words"}`;

/** Words that are closer than this are listed together. */
const MAX_GAP_TICKS = 500_000;

function toLines(sign: "-" | "+", words: readonly StageWord[]): string[] {
  const groups: StageWord[][] = [];
  for (const word of words.toSorted((a, b) => a.start - b.start)) {
    const last = groups.at(-1);
    if (last && word.start - last.at(-1)!.end <= MAX_GAP_TICKS) last.push(word);
    else groups.push([word]);
  }
  return groups.map((group) => {
    const text = group.map((word) => (word.text === "" ? "(voice)" : word.text)).join(" ");
    return `  ${sign} ${formatTime(group[0]!.start)}–${formatTime(group.at(-1)!.end)} ${text}`;
  });
}

/** Returns a line for each threshold: `fillers.minPause 0.06 s: pause beside a filler …`. */
export const listThresholds = (): string[] =>
  STAGE_THRESHOLDS.flatMap(({ stage, thresholds }) =>
    Object.entries(thresholds).map(
      ([name, [value, unit, separates]]) => `${stage}.${name} ${Number(value.toFixed(3))} ${unit}: ${separates}`,
    ),
  );
