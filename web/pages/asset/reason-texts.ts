/** Why a span was removed, in plain words. */
import type { RemovalReason } from "../../editor/model/plan";
import { REASON_NAMES } from "../../editor/reasons";

const RULES: Record<string, string> = {
  "pause.long": "a pause longer than the shortest one that is removed",
  "pause.leading": "silence before the first words",
  "pause.trailing": "silence after the last words",
  "pause.beside_removed": "silence beside something that was removed",
  "filler.written": "a filler word with a pause beside it",
  "filler.unwritten": "it sounds like a filler word",
  "filler.spelled_out": "a hum that was read letter by letter",
  "filler.within_line": "a sound that is not in the line of the script",
  "filler.wordless_voice": "a voice without words",
  "stutter.word": "the word is repeated",
  "false_start.prefix": "broken off, and said again right after",
  "false_start.inside_phrase": "broken off in the middle, and said again",
  "false_start.broken_off": "broken off, and said again",
  "false_start.between_takes": "another start of what follows",
  "false_start.within_line": "the line starts again after it",
  "retake.after_remark": "said again after a remark",
  "retake.repeated_line": "the line is said again later",
  "retake.repeated_later": "said again later; the words between are kept",
  "retake.worse_take": "another take of the line is better",
  "retake.last_good_take": "a later take of the line is good",
  "retake.within_take": "a repetition within the take",
  "remark.between_takes": "a remark between two takes",
  "off_script.no_line": "it resembles no line of the script",
  "off_script.unrecognized": "a voice without words, away from the script",
  "noise.outside_speech": "a sound away from any voice",
  "noise.unvoiced": "a sound that is not a voice",
};

export const describeReason = (reason: RemovalReason): string => REASON_NAMES[reason];

/** Returns what the rule says; null for rules that are newer than this page, and where the reason says it all. */
export const describeRule = (rule: string | null): string | null => (rule === null ? null : (RULES[rule] ?? null));

/** Returns the server's note about a kept span as a sentence. */
export const describeReview = (review: string): string => `${review[0]?.toUpperCase() ?? ""}${review.slice(1)}`;
