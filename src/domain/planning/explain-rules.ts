/** Explains why rules removed and marked spans, and how sure they are, from the scores on which they decided. */

import type { PlanJson } from "../plan-json";
import { formatClock, toMilliseconds } from "../subtitles/format";
import { type Span, spanFromSeconds, type Ticks, toSeconds } from "../time";
import { toOneLine } from "../timeline/one-line";
import {
  type Finding,
  isReviewRule,
  type RemovalReason,
  type RepetitionScores,
  type Rule,
  type RuleMatch,
  reasonOf,
} from "./rules";
import { rateLogProb, toShare } from "./spans";
import { COMMON, SCRIPT } from "./thresholds";

/** Longer lines of a script are cut off. */
const MAX_LINE_CHARACTERS = 60;

/**
 * Why a span was removed or marked. `reason` is null for a span that is kept and marked; `text` is the rule in words.
 */
export type ExplainedFinding = Finding & { reason: RemovalReason | null; confidence: number; text: string };

/** Returns an explanation for each rule of each removed span, and for each mark of a segment, in order of time. */
export function explainFindings(
  plan: Pick<PlanJson, "segments" | "removed">,
  findings: readonly Finding[],
): ExplainedFinding[] {
  const removed = plan.removed.flatMap((span) => {
    if (span.reason === "manual") return [byHand(span)];
    const own = findings.filter((one) => removes(one, span));
    // A finding has the times of its words. A single one explains the whole removed span.
    return own.length > 1 ? own : own.map((one) => ({ ...one, ...toTicks(span) }));
  });
  const segments = plan.segments.filter((segment) => segment.review !== null).map(toTicks);
  const marks = findings.filter((one) => isReviewRule(one.rule) && segments.some((segment) => overlaps(one, segment)));
  return [...removed, ...marks].toSorted((a, b) => a.start - b.start).map(explain);
}

type RemovedJson = PlanJson["removed"][number];

const removes = (finding: Finding, span: RemovedJson): boolean =>
  !isReviewRule(finding.rule) && reasonOf(finding.rule) === span.reason && overlaps(finding, toTicks(span));

const byHand = (span: RemovedJson): Finding => ({
  ...toTicks(span),
  rule: "manual.edit",
  scores: {},
});

const toTicks = ({ start, end }: { start: number; end: number }): Span => spanFromSeconds({ start, end });

const overlaps = (a: Span, b: Span) => a.start < b.end && b.start < a.end;

const explain = (finding: Finding): ExplainedFinding => ({
  ...finding,
  reason: isReviewRule(finding.rule) ? null : reasonOf(finding.rule),
  confidence: rateFinding(finding),
  text: explainRule(finding),
});

/** Formats a time as `00:12.340`, or `1:00:12.340` for an hour or more. */
export const formatTime = (time: Ticks): string => formatClock(toMilliseconds(time), ".").replace(/^00:|^0/, "");

const duration = (ticks: Ticks) => `${toSeconds(ticks).toFixed(2)} s`;
const percent = (share: number) => `${(100 * share).toFixed(0)}%`;
const score = (value: number) => value.toFixed(2);

type RuleText = { [R in Rule]: (scores: Extract<Finding, { rule: R }>["scores"]) => string };

const TEXTS: RuleText = {
  "pause.long": ({ pause, minPause }) =>
    `pause of ${duration(pause)}, pauses of ${duration(minPause)} and more are shortened`,
  "pause.leading": ({ pause }) => `silence of ${duration(pause)} before the first sound`,
  "pause.trailing": ({ pause }) => `silence of ${duration(pause)} after the last sound`,
  "pause.beside_removed": ({ pause }) => `silence of ${duration(pause)} next to a removed span`,
  "filler.written": ({ duration: length, pause }) =>
    `filler word of ${duration(length)}, pause of ${duration(Math.max(0, pause))} next to it`,
  "filler.unwritten": ({ alignment, otherAlignment, confidence }) =>
    [
      `sounds like a filler: alignment ${score(alignment)}`,
      ...(otherAlignment === null ? [] : [`as another word ${score(otherAlignment)}`]),
      ...(confidence === null ? [] : [`confidence of the transcribed word ${score(confidence)}`]),
    ].join(", "),
  "filler.spelled_out": ({ alignment }) => `"hmm" transcribed letter by letter: alignment ${score(alignment)}`,
  "filler.within_line": ({ alignment, alignmentWithout, duration: length }) =>
    `sound of ${duration(length)} that is not in the line: alignment ${score(alignment)}, without it ${score(alignmentWithout)}`,
  "filler.wordless_voice": ({ duration: length, voicedShare }) =>
    `voice of ${duration(length)} without words (${percent(voicedShare)} voice)`,
  "stutter.word": (scores) => `word repeated at ${repetition(scores)}`,
  "false_start.prefix": (scores) => `said again at ${repetition(scores)}`,
  "false_start.inside_phrase": (scores) => `said again at ${repetition(scores)}`,
  "false_start.broken_off": (scores) => `broken off, said again at ${repetition(scores)}`,
  "false_start.between_takes": (scores) => `earlier start of the words at ${formatTime(scores.repeatedAt)}`,
  "false_start.within_line": ({ alignment, alignmentWithout }) =>
    `the line starts over after it: alignment ${score(alignment)}, without it ${score(alignmentWithout)}`,
  "retake.after_remark": (scores) => `said again after a remark, at ${repetition(scores)}`,
  "retake.repeated_line": (scores) => `line said again at ${repetition(scores)}`,
  "retake.repeated_later": (scores) => `said again at ${repetition(scores)}; the words between are kept`,
  "retake.worse_take": takes,
  "retake.last_good_take": takes,
  "retake.within_take": takes,
  "remark.between_takes": (scores) => `remark between two takes, the retake starts at ${formatTime(scores.repeatedAt)}`,
  "off_script.no_line": ({ minSimilarity }) =>
    `matches no line of the script (similarity below ${score(minSimilarity)})`,
  "off_script.unrecognized": ({ duration: length, voicedShare }) =>
    `voice of ${duration(length)} without words (${percent(voicedShare)} voice)`,
  "noise.outside_speech": ({ duration: length }) => `sound of ${duration(length)} away from any voice`,
  "noise.unvoiced": ({ duration: length, voicedShare }) =>
    `sound of ${duration(length)} with ${percent(voicedShare)} voice`,
  "manual.edit": () => "removed by hand",
  "review.unrecognized_speech": ({ duration: length, voicedShare }) =>
    `kept: speech of ${duration(length)} without words (${percent(voicedShare)} voice)`,
  "review.different_words": (scores) => `kept: like ${repetition(scores)}, but with other words`,
  "review.different_sound": (scores) => `kept: like ${repetition(scores)}, but a word sounds different`,
  "review.different_ending": (scores) => `kept: like ${repetition(scores)}, but with another ending`,
  "review.deliberate_repetition": (scores) => `kept: like ${repetition(scores)}, repeated without being broken off`,
  "review.other_speaker": (scores) => `kept: like ${repetition(scores)}, in another voice`,
  "review.list": (scores) => `kept: like ${repetition(scores)}, perhaps an item of a list`,
  "review.uncertain_retake": (scores) => `kept: perhaps said again at ${repetition(scores)}`,
  "review.assembled_takes": ({ line, quality }) =>
    `kept: take of "${toOneLine(line, MAX_LINE_CHARACTERS)}" with the quality ${score(quality)}, next to words of another attempt`,
  "review.differs_from_script": ({ line, similarity, alignment }) =>
    [
      `kept: differs from "${toOneLine(line, MAX_LINE_CHARACTERS)}", similarity ${score(similarity)}`,
      ...(alignment === null ? [] : [`alignment ${score(alignment)}`]),
    ].join(", "),
};

/** Returns a rule and its scores in words: `said again at 00:15.200 (5 words, similarity 0.94)`. */
export const explainRule = (finding: Finding): string =>
  (TEXTS[finding.rule] as (scores: unknown) => string)(finding.scores);

function repetition({ repeatedAt, words, similarity, alignment }: RepetitionScores): string {
  const count = words === 0 ? "" : `${words} ${words === 1 ? "word" : "words"}, `;
  const audio = alignment === null ? "" : `, alignment ${score(alignment)}`;
  return `${formatTime(repeatedAt)} (${count}similarity ${score(similarity)}${audio})`;
}

function takes({
  line,
  quality,
  keptQuality,
  keptAt,
}: Extract<Finding, { rule: "retake.worse_take" }>["scores"]): string {
  const own = `take of "${toOneLine(line, MAX_LINE_CHARACTERS)}", quality ${score(quality)}`;
  if (keptAt === null || keptQuality === null) return `${own}; no take of this line is kept`;
  return `${own}; the kept take at ${formatTime(keptAt)} has ${score(keptQuality)}`;
}

const SURE = 0.99;
const LIKELY = 0.8;
const PROBABLE = 0.7;
const POSSIBLE = 0.6;
const DOUBTFUL = 0.4;
const UNLIKELY = 0.2;

/**
 * Returns the confidence that an editor would remove the span of a finding, 0 to 1. Above 0.5 the span is removed,
 * below it is kept and marked.
 */
export const rateFinding = (match: RuleMatch): number => Number(rate(match).toFixed(2));

function rate(match: RuleMatch): number {
  switch (match.rule) {
    case "pause.long":
    case "pause.leading":
    case "pause.trailing":
    case "pause.beside_removed":
      return SURE;
    case "manual.edit":
      return 1;
    case "filler.written":
      return raise(LIKELY, between(match.scores.pause, 0, COMMON.minTakePause));
    case "filler.unwritten": {
      const { alignment, otherAlignment, confidence } = match.scores;
      const lead = otherAlignment === null ? 0 : alignment - otherAlignment;
      const isFiller = between(lead, COMMON.clearAlignment, -COMMON.clearAlignment);
      // A filler that lags the other word needs a review, however unsure that word is.
      return raise(POSSIBLE, lead < 0 ? isFiller : (isFiller + 1 - (confidence ?? 0)) / 2);
    }
    case "filler.within_line":
    case "false_start.within_line": {
      const gain = match.scores.alignmentWithout - match.scores.alignment;
      return raise(POSSIBLE, between(gain, 0, SCRIPT.clearGain));
    }
    case "stutter.word":
    case "retake.after_remark":
    case "retake.repeated_line":
      return rateRepetition(match.scores, PROBABLE);
    case "false_start.prefix":
    case "false_start.inside_phrase":
    case "false_start.broken_off":
    case "false_start.between_takes":
    case "retake.repeated_later":
      return rateRepetition(match.scores, POSSIBLE);
    case "retake.worse_take":
    case "retake.last_good_take":
      return raise(PROBABLE, between(match.scores.keptQuality ?? 0, POSSIBLE, 1));
    case "retake.within_take":
      return raise(POSSIBLE, between(match.scores.keptQuality ?? 0, PROBABLE, 1));
    case "remark.between_takes":
    case "off_script.no_line":
    case "noise.outside_speech":
      return LIKELY;
    case "noise.unvoiced":
      return raise(POSSIBLE, 1 - 3 * match.scores.voicedShare);
    case "filler.spelled_out":
    case "filler.wordless_voice":
      return PROBABLE;
    case "off_script.unrecognized":
      return POSSIBLE;
    case "review.uncertain_retake":
    case "review.different_ending":
    case "review.different_words":
    case "review.different_sound":
    case "review.assembled_takes":
      return DOUBTFUL;
    case "review.deliberate_repetition":
    case "review.other_speaker":
    case "review.list":
    case "review.differs_from_script":
    case "review.unrecognized_speech":
      return UNLIKELY;
  }
}

/** Returns a confidence that evidence, 0 to 1, raises. */
const raise = (confidence: number, evidence: number): number => confidence + (SURE - confidence) * evidence;

/** Returns where a value is between two bounds, 0 to 1. */
const between = (value: number, low: number, high: number): number => toShare((value - low) / (high - low));

/** More words are less likely to be said again on purpose. */
function rateRepetition({ words, similarity, alignment }: RepetitionScores, base: number): number {
  const likeness = Math.max(similarity, alignment === null ? 0 : rateLogProb(alignment));
  return raise(base, (between(words, 1, COMMON.manyWords) + between(likeness, POSSIBLE, 1)) / 2);
}
