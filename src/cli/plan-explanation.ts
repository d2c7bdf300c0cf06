/** Explains in text why a plan removes or marks spans. */
import type { PlanJson } from "../domain/plan-json";
import { type ExplainedFinding, explainFindings, formatTime } from "../domain/planning/explain-rules";
import type { Finding } from "../domain/planning/rules";
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
