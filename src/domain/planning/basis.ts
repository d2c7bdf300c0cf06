/**
 * What a plan is assembled from when all decisions on words are made: the browser and the server assemble it again with
 * other options.
 */
import { type CutMode, type CutOptions, MANUAL_MODE, type Plan } from "../plan";
import type { SourceClock } from "../segments";
import type { FrameTimes, Span, Ticks } from "../time";
import { assembleSegments, clipFindings, joinFindings, mainRule } from "./assemble-segments";
import { type Finding, isReviewRule, type RemovalRule, type ReviewRule } from "./rules";
import { type DecidedSpan, isKept, overlapDuration, roundScore, subtract } from "./spans";

/**
 * The decided spans as if every option removed, the margin of hidden edges, and the frames to which segments are
 * snapped. `wordPauses` are parts of words that a recognizer stretched into a filler: they stay when the filler does.
 * Sorted by start.
 */
export type PlanBasis = {
  spans: readonly DecidedSpan[];
  wordPauses: readonly Span[];
  edgeMargin: Ticks;
  frames: FrameTimes | null;
};

/** Options of a cut, and those that only an editor chooses. */
export type PacingOptions = Omit<CutOptions, "mode"> & {
  mode: CutMode;
  remove_off_script: boolean;
  remove_pauses: boolean;
};

export const toPacingOptions = (options: CutOptions): PacingOptions => ({
  ...options,
  mode: options.mode === MANUAL_MODE ? "natural" : options.mode,
  remove_off_script: true,
  remove_pauses: true,
});

/** Creates a basis. Each span has its findings once, with scores of three decimals, as they are stored. */
export const toBasis = (
  spans: readonly DecidedSpan[],
  edgeMargin: Ticks,
  { duration, frames }: SourceClock,
  wordPauses: readonly Span[] = [],
): PlanBasis => ({
  spans: spans.map((span) => ({ ...span, findings: joinFindings(clipFindings(span)).map(roundScores) })),
  wordPauses: wordPauses
    .map(({ start, end }) => ({ start: Math.max(0, start), end: Math.min(duration, end) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start),
  edgeMargin,
  frames,
});

function roundScores(finding: Finding): Finding {
  const scores = Object.fromEntries(
    Object.entries(finding.scores).map(([name, value]) => [
      name,
      typeof value === "number" ? roundScore(value) : value,
    ]),
  );
  return { ...finding, scores } as Finding;
}

/** Returns the segments and the removed spans of a cut with these options. */
export const assembleBasis = (
  { spans, wordPauses, edgeMargin, frames }: PlanBasis,
  duration: Ticks,
  options: PacingOptions,
): Pick<Plan, "segments" | "removed" | "keptDuration" | "findings"> => {
  const selected = selectRemovals(spans, options);
  const whole = options.remove_fillers ? selected : keepWordPauses(selected, wordPauses);
  return assembleSegments(whole, { duration, frames }, options, edgeMargin);
};

type RemovalChoice = Pick<PacingOptions, "remove_fillers" | "remove_retakes" | "remove_off_script">;

/** Keeps the spans that the options do not remove. A filler between removed spans goes with them. */
function selectRemovals(spans: readonly DecidedSpan[], choice: RemovalChoice): readonly DecidedSpan[] {
  if (choice.remove_fillers && choice.remove_retakes && choice.remove_off_script) return spans;
  const selected = spans.map((span) => {
    const isRestored = !isKept(span) && !isRemovedBy(mainRule(span.findings), choice);
    const findings = span.findings.filter(({ rule }) => !isReviewRule(rule) || isMarkedBy(rule, choice));
    return isRestored
      ? { ...span, reason: null, findings: findings.filter(({ rule }) => isReviewRule(rule)) }
      : { ...span, findings };
  });
  return selected.map((span, i) =>
    spans[i]!.reason === "filler" && isKept(span) && isBetweenRemoved(selected, spans, i) ? spans[i]! : span,
  );
}

function isRemovedBy(rule: RemovalRule, choice: RemovalChoice): boolean {
  switch (rule.slice(0, rule.indexOf("."))) {
    case "filler":
      return choice.remove_fillers;
    case "stutter":
    case "false_start":
    case "retake":
    case "remark":
      return choice.remove_retakes;
    case "off_script":
      return choice.remove_off_script;
    default:
      return true;
  }
}

/** Returns whether a mark is of interest: what may be a retake is not when retakes stay. */
const isMarkedBy = (rule: ReviewRule, { remove_retakes }: RemovalChoice): boolean =>
  remove_retakes || rule === "review.unrecognized_speech" || rule === "review.differs_from_script";

/** Adds the pauses that are parts of words, unless a removed span is beside them. */
function keepWordPauses(spans: readonly DecidedSpan[], wordPauses: readonly Span[]): readonly DecidedSpan[] {
  let out = spans;
  for (const pause of wordPauses) {
    const spoken = out.filter(({ reason }) => reason !== "noise");
    const gaps = subtract(pause, spoken).filter((gap) =>
      [spoken.findLast(({ end }) => end <= gap.start), spoken.find(({ start }) => start >= gap.end)].every(
        (neighbor) => neighbor === undefined || isKept(neighbor),
      ),
    );
    if (gaps.length === 0) continue;
    const others = out.flatMap((span) =>
      span.reason === "noise" && overlapDuration(span, pause) > 0
        ? subtract(span, gaps).map((part) => ({ ...span, ...part }))
        : [span],
    );
    const added = gaps.map((gap): DecidedSpan => ({ ...gap, text: "", reason: null, findings: [] }));
    out = [...others, ...added].sort((a, b) => a.start - b.start);
  }
  return out;
}

/**
 * Returns whether the nearest words before and after a filler are removed, at the ends of the recording one of them.
 */
function isBetweenRemoved(selected: readonly DecidedSpan[], all: readonly DecidedSpan[], i: number): boolean {
  const isWords = (n: number) => all[n]!.reason !== "filler" && all[n]!.reason !== "noise";
  let [before, after] = [i - 1, i + 1];
  while (before >= 0 && !isWords(before)) before--;
  while (after < all.length && !isWords(after)) after++;
  const neighbors = [selected[before], selected[after]].filter((span) => span !== undefined);
  return neighbors.length > 0 && neighbors.every((span) => !isKept(span));
}
