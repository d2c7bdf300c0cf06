/** The rules of planning. Every removed span, and every span that an editor should check, names its deciding rule. */
import type { Span, Ticks } from "../time";

/** Rules that remove. The README of this folder documents each rule, its stage and its thresholds. */
export const REMOVAL_RULES = [
  "pause.long",
  "pause.leading",
  "pause.trailing",
  "pause.beside_removed",
  "filler.written",
  "filler.unwritten",
  "filler.spelled_out",
  "filler.within_line",
  "filler.wordless_voice",
  "stutter.word",
  "false_start.prefix",
  "false_start.inside_phrase",
  "false_start.broken_off",
  "false_start.between_takes",
  "false_start.within_line",
  "retake.after_remark",
  "retake.repeated_line",
  "retake.repeated_later",
  "retake.worse_take",
  "retake.last_good_take",
  "retake.within_take",
  "remark.between_takes",
  "off_script.no_line",
  "off_script.unrecognized",
  "noise.outside_speech",
  "noise.unvoiced",
  "manual.edit",
] as const;

/** Rules that keep a span and mark it for review. */
export const REVIEW_RULES = [
  "review.unrecognized_speech",
  "review.different_words",
  "review.different_sound",
  "review.different_ending",
  "review.deliberate_repetition",
  "review.other_speaker",
  "review.list",
  "review.uncertain_retake",
  "review.assembled_takes",
  "review.differs_from_script",
] as const;

export type RemovalRule = (typeof REMOVAL_RULES)[number];
export type ReviewRule = (typeof REVIEW_RULES)[number];
export type Rule = RemovalRule | ReviewRule;

/** `pause` is the whole pause between speech, `minPause` the shortest pause that is shortened. */
type PauseScores = { pause: Ticks; minPause: Ticks };
/** `pause` is the longer of the pauses on both sides. */
type WrittenFillerScores = { duration: Ticks; pause: Ticks };
/** Mean log probabilities of the best filler and the best alternative; confidence of the transcribed word. Or null. */
type FillerAlignmentScores = { alignment: number; otherAlignment: number | null; confidence: number | null };
/** Mean log probabilities of the line with the stretch and with the stretch muted. */
type ExcisionScores = { alignment: number; alignmentWithout: number; duration: Ticks };
/** `voicedShare` is the share of the stretch with voice activity, 0 to 1. */
type VoiceScores = { duration: Ticks; voicedShare: number };
/**
 * `repeatedAt` is where the words are repeated, `pause` the pause before it. `similarity` is 0 to 1 and compares
 * `words` words of the span with the transcript there. `alignment` is the mean log probability of the repeated words;
 * null if the text alone decided.
 */
export type RepetitionScores = {
  repeatedAt: Ticks;
  pause: Ticks;
  words: number;
  similarity: number;
  alignment: number | null;
};
/** Qualities of this take and of the kept one, 0 to 1. The kept take starts at `keptAt`; null if none is kept. */
type TakeScores = { line: string; quality: number; keptQuality: number | null; keptAt: Ticks | null };

/** The scores on which each rule decides. */
export type RuleScores = {
  "pause.long": PauseScores;
  "pause.leading": PauseScores;
  "pause.trailing": PauseScores;
  "pause.beside_removed": PauseScores;
  "filler.written": WrittenFillerScores;
  "filler.unwritten": FillerAlignmentScores;
  "filler.spelled_out": FillerAlignmentScores;
  "filler.within_line": ExcisionScores;
  "filler.wordless_voice": VoiceScores;
  "stutter.word": RepetitionScores;
  "false_start.prefix": RepetitionScores;
  "false_start.inside_phrase": RepetitionScores;
  "false_start.broken_off": RepetitionScores;
  "false_start.between_takes": RepetitionScores;
  "false_start.within_line": ExcisionScores;
  "retake.after_remark": RepetitionScores;
  "retake.repeated_line": RepetitionScores;
  "retake.repeated_later": RepetitionScores;
  "retake.worse_take": TakeScores;
  "retake.last_good_take": TakeScores;
  "retake.within_take": TakeScores;
  "remark.between_takes": RepetitionScores;
  "off_script.no_line": { minSimilarity: number };
  "off_script.unrecognized": VoiceScores;
  "noise.outside_speech": VoiceScores;
  "noise.unvoiced": VoiceScores;
  "manual.edit": Record<string, never>;
  "review.unrecognized_speech": VoiceScores;
  "review.different_words": RepetitionScores;
  "review.different_sound": RepetitionScores;
  "review.different_ending": RepetitionScores;
  "review.deliberate_repetition": RepetitionScores;
  "review.other_speaker": RepetitionScores;
  "review.list": RepetitionScores;
  "review.uncertain_retake": RepetitionScores;
  "review.assembled_takes": { line: string; quality: number };
  "review.differs_from_script": { line: string; similarity: number; alignment: number | null };
};

/** A rule that applied, with its scores. Plain data. */
export type RuleMatch<R extends Rule = Rule> = { [K in R]: { rule: K; scores: RuleScores[K] } }[R];

/** A rule that applied to a span of the recording. */
export type Finding = Span & RuleMatch;

export const REMOVAL_REASONS = ["silence", "filler", "retake", "off_script", "noise", "manual"] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

/** Keyed by the first part of a rule's name. */
const REASONS: Record<string, RemovalReason> = {
  pause: "silence",
  filler: "filler",
  stutter: "retake",
  false_start: "retake",
  retake: "retake",
  remark: "off_script",
  off_script: "off_script",
  noise: "noise",
  manual: "manual",
};

/** Returns the reason that the plan shows for a removal rule. */
export const reasonOf = (rule: RemovalRule): RemovalReason => REASONS[rule.slice(0, rule.indexOf("."))]!;

/** Returns the text that the plan shows for a span that is kept and marked. */
export function reviewText(rule: ReviewRule): string {
  if (rule === "review.unrecognized_speech") return "unclear speech";
  if (rule === "review.assembled_takes") return "joins two attempts";
  return rule === "review.differs_from_script" ? "differs from the script" : "maybe a retake";
}

export const isReviewRule = (rule: Rule): rule is ReviewRule => rule.startsWith("review.");
