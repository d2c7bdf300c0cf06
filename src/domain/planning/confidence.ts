/** How sure planning is that a span should go, from the rule that applied and its scores. */
import type { RepetitionScores, RuleMatch } from "./rules";

const clamp = (value: number): number => Math.min(1, Math.max(0, value));
/** Returns where a value is between two bounds, 0 to 1. */
const between = (value: number, low: number, high: number): number => clamp((value - low) / (high - low));

/**
 * Returns the confidence that an editor would remove the span, 0 to 1. Above 0.5 the span is removed, below it is kept
 * and marked.
 */
export function rateFinding(match: RuleMatch): number {
  return Math.round(100 * rate(match)) / 100;
}

function rate(match: RuleMatch): number {
  switch (match.rule) {
    case "pause.long":
    case "pause.leading":
    case "pause.trailing":
    case "pause.beside_removed":
      return 0.99;
    case "manual.edit":
      return 1;
    case "filler.written":
      return 0.8 + 0.15 * between(match.scores.pause, 0, 300_000);
    case "filler.unwritten": {
      const { alignment, otherAlignment, confidence } = match.scores;
      const lead = otherAlignment === null ? 0.5 : alignment - otherAlignment;
      return 0.55 + 0.25 * between(lead, -1.5, 1.5) + 0.15 * (1 - (confidence ?? 0));
    }
    case "filler.spelled_out":
      return 0.75;
    case "filler.within_line":
    case "false_start.within_line":
      return 0.65 + 0.3 * between(match.scores.alignmentWithout - match.scores.alignment, -0.03, 0.3);
    case "filler.wordless_voice":
      return 0.7;
    case "stutter.word":
      return rateRepetition(match.scores, 0.7);
    case "false_start.prefix":
    case "false_start.inside_phrase":
    case "false_start.broken_off":
    case "false_start.between_takes":
      return rateRepetition(match.scores, 0.6);
    case "retake.after_remark":
    case "retake.repeated_line":
      return rateRepetition(match.scores, 0.7);
    case "retake.repeated_later":
      return rateRepetition(match.scores, 0.55);
    case "remark.between_takes":
      return 0.85;
    case "retake.worse_take":
    case "retake.last_good_take":
    case "retake.within_take": {
      const { keptQuality } = match.scores;
      if (keptQuality === null) return 0.6;
      return (match.rule === "retake.within_take" ? 0.6 : 0.7) + 0.28 * between(keptQuality, 0.6, 0.95);
    }
    case "off_script.no_line":
      return 0.8;
    case "off_script.unrecognized":
      return 0.6;
    case "noise.outside_speech":
      return 0.9;
    case "noise.unvoiced":
      return 0.9 - 0.6 * match.scores.voicedShare;
    case "review.uncertain_retake":
    case "review.different_ending":
      return 0.45;
    case "review.different_words":
    case "review.different_sound":
    case "review.assembled_takes":
      return 0.35;
    case "review.deliberate_repetition":
    case "review.other_speaker":
    case "review.list":
      return 0.25;
    case "review.differs_from_script":
    case "review.unrecognized_speech":
      return 0.2;
  }
}

/** `base` is for a single word that is said again in other words. */
function rateRepetition({ words, similarity, alignment }: RepetitionScores, base: number): number {
  const audio = alignment === null ? similarity : Math.max(similarity, between(alignment, -3, -0.5));
  return base + (0.98 - base) * (0.5 * between(words, 1, 5) + 0.5 * between(audio, 0.6, 1));
}
