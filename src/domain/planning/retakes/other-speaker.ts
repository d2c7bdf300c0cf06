/** Detects whether a repetition is another speaker's answer: both the pitch and the level of the voice change. */
import { fromSeconds, type Span } from "../../time";
import type { VoiceFeatures } from "../../voice";
import { type PlanSteps, requestVoices } from "../context";
import type { Token } from "../tokens";
import type { Repetition } from "./repetition";

/** A single word is too short to measure, so speech before the take and after the retake is included. */
const WORD_CONTEXT_TICKS = fromSeconds(0.8);
/** The onset of a longer take shows its voice. */
const MAX_MEASURED_TICKS = fromSeconds(1.5);
/**
 * A single speaker's pitch or level may vary by more than this, but rarely both between two takes of the same words.
 * Another speaker has another voice, and another distance from the microphone or another line.
 */
const MIN_PITCH_CHANGE_SEMITONES = 3;
const MIN_LEVEL_CHANGE_DB = 6;

/** Measures a take and its retake. Returns whether the voices differ; false if one of them has none. */
export function* hasOtherSpeaker(
  tokens: readonly Token[],
  { from, end, retakeStart, matched }: Repetition,
): PlanSteps<boolean> {
  const context = end - from === 1 ? WORD_CONTEXT_TICKS : 0;
  const start = Math.max(0, tokens[from]!.start - context);
  const take = { start, end: Math.min(tokens[end - 1]!.end, start + MAX_MEASURED_TICKS) };
  const restart = tokens[retakeStart]!.start;
  const last = tokens[Math.max(retakeStart, retakeStart + matched - 1)]!;
  const retake: Span = { start: restart, end: Math.min(last.end + context, restart + MAX_MEASURED_TICKS) };
  const [a = null, b = null] = yield* requestVoices([take, retake]);
  return isOtherVoice(a, b);
}

/** Returns whether two stretches have different voices. */
export function isOtherVoice(a: VoiceFeatures, b: VoiceFeatures): boolean {
  if (!a || !b) return false;
  return (
    Math.abs(12 * Math.log2(a.pitch / b.pitch)) >= MIN_PITCH_CHANGE_SEMITONES &&
    Math.abs(a.level - b.level) >= MIN_LEVEL_CHANGE_DB
  );
}
