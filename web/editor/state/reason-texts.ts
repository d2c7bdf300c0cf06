/** Explains in plain words why a span was removed. */
import type { RemovalReason } from "../model/plan";
import { REASON_NAMES } from "../reasons";

const RULES: Record<string, string> = {
  "pause.long": "a pause longer than the limit",
  "pause.leading": "silence before the first words",
  "pause.trailing": "silence after the last words",
  "pause.beside_removed": "silence next to removed audio",
  "filler.written": "a filler word next to a pause",
  "filler.unwritten": "sounds like a filler word",
  "filler.spelled_out": "a hum that was transcribed letter by letter",
  "filler.within_line": "a sound that is not in the script line",
  "filler.wordless_voice": "voice without words",
  "stutter.word": "a repeated word",
  "false_start.prefix": "broken off, and said again right away",
  "false_start.inside_phrase": "broken off in the middle, and said again",
  "false_start.broken_off": "broken off, and said again",
  "false_start.between_takes": "an earlier start of what follows",
  "false_start.within_line": "the line starts over after it",
  "retake.after_remark": "said again after a remark",
  "retake.repeated_line": "the line is said again later",
  "retake.repeated_later": "said again later; the words between are kept",
  "retake.worse_take": "another take of the line is better",
  "retake.last_good_take": "a later take of the line is good",
  "retake.within_take": "a repetition within the take",
  "remark.between_takes": "a remark between two takes",
  "off_script.no_line": "matches no line of the script",
  "off_script.unrecognized": "voice without words, outside the script",
  "noise.outside_speech": "a sound outside of speech",
  "noise.unvoiced": "a sound that is not a voice",
};

export const describeReason = (reason: RemovalReason): string => REASON_NAMES[reason];

/**
 * Returns the text of a rule. Returns null for rules that are newer than this page, and for rules that add nothing to
 * the reason.
 */
export const describeRule = (rule: string | null): string | null => (rule === null ? null : (RULES[rule] ?? null));

/** Returns the server's note about a kept span as a sentence. */
export const describeReview = (review: string): string => `${review[0]?.toUpperCase() ?? ""}${review.slice(1)}`;
