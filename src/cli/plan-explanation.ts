/**
 * Explains in text why a plan removes or marks spans, what each stage of planning changed, and the thresholds of the
 * stages.
 */

import type { PlanJson } from "../domain/plan-json";
import type { StageChange, StageWord } from "../domain/planning/context";
import { type ExplainedFinding, explainFindings, formatTime } from "../domain/planning/explain-rules";
import type { Finding } from "../domain/planning/rules";
import { STAGE_THRESHOLDS } from "../domain/planning/thresholds";
import type { RecognizedAgain } from "../work/cuts/recognized-again";

/**
 * Returns a line for each rule of each removed span and of each segment marked for review, in order of time:
 * `00:12.340–00:13.120 false_start.prefix: said again at 00:15.200, similarity 0.94`.
 */
export const explainPlan = (plan: PlanJson, findings: readonly Finding[]): string[] =>
  explainFindings(plan, findings).map(formatFinding);

const formatFinding = ({ start, end, rule, text }: ExplainedFinding): string =>
  `${formatTime(start)}–${formatTime(end)} ${rule}: ${text}`;

/** Returns a line about the second recognition and its duration, or no lines. */
export const describeRecognized = ({ windows, audio_ms, duration_ms }: RecognizedAgain): string[] =>
  windows === 0
    ? []
    : [
        `Recognized ${windows} ${windows === 1 ? "place" : "places"} a second time: ${(audio_ms / 1000).toFixed(1)} s of audio in ${(duration_ms / 1000).toFixed(1)} s.`,
      ];

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

/** Returns a line for each threshold: `retakes.maxClose 3.5 s: takes right before a pause …`. */
export const listThresholds = (): string[] =>
  STAGE_THRESHOLDS.flatMap(({ stage, thresholds }) =>
    Object.entries(thresholds).map(
      ([name, [value, unit, separates]]) => `${stage}.${name} ${Number(value.toFixed(3))} ${unit}: ${separates}`,
    ),
  );
