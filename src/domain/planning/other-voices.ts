/**
 * Detects other voices: a listener who answers the speaker, or repeats the words. Both the pitch and the level change.
 */

import { ENERGY_HOP, type Word } from "../speech";
import { normalizeWords } from "../text/normalize";
import type { Span, Ticks } from "../time";
import type { VoiceFeatures } from "../voice";
import type { AudioActivity } from "./audio-activity";
import { type PlanSteps, requestVoices } from "./context";
import { isFillerText, type Lexicon } from "./lexicon/lexicon";
import type { Repetition } from "./retakes/repetition";
import { RETAKES } from "./retakes/thresholds";
import { findOverlapping, overlapDuration } from "./spans";
import { COMMON, FILLERS } from "./thresholds";
import type { Token } from "./tokens";

/** Returns the regions with another voice than the speech around them. `words` are those of the transcript. */
export function* findListenerAnswers(
  regions: readonly Span[],
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<Set<Span>> {
  const possible = regions.filter(
    (region) => !isSpeakersFiller(region, words, lexicon) && hasOtherLevel(region, activity),
  );
  const voices = yield* requestVoices(
    possible.flatMap((region) => [region, spanBefore(region), spanAfter(region, activity.duration)]),
  );
  return new Set(
    possible.filter((_, i) => {
      const [own = null, before = null, after = null] = voices.slice(3 * i, 3 * i + 3);
      return isListenersVoice(own, before) && isListenersVoice(own, after);
    }),
  );
}

/** Returns whether a filler was recognized that only the speaker uses: a listener has nothing to say yet. */
const isSpeakersFiller = (region: Span, words: readonly Word[], lexicon: Lexicon): boolean =>
  words.some(
    ({ text, ...word }) =>
      overlapDuration(word, region) > 0 &&
      isFillerText(text, lexicon) &&
      !lexicon.answers.test(normalizeWords(text, lexicon.language).join(" ")),
  );

const spanBefore = ({ start }: Span): Span => ({ start: Math.max(0, start - FILLERS.listenerContext), end: start });
const spanAfter = ({ end }: Span, duration: Ticks): Span => ({
  start: end,
  end: Math.min(duration, end + FILLERS.listenerContext),
});

function hasOtherLevel(region: Span, activity: AudioActivity): boolean {
  const own = measureLevel(region, activity);
  return [spanBefore(region), spanAfter(region, activity.duration)].every(
    (span) => Math.abs(own - measureLevel(span, activity)) >= FILLERS.minContourChangeDb,
  );
}

/** Returns the median level of the speech in a span in dB, or NaN without speech. */
function measureLevel(span: Span, { energy, speechRegions }: AudioActivity): number {
  const levels = findOverlapping(speechRegions, span).flatMap(({ start, end }) => [
    ...energy.subarray(Math.max(start, span.start) / ENERGY_HOP, Math.min(end, span.end) / ENERGY_HOP),
  ]);
  return Float32Array.from(levels).sort()[levels.length >> 1] ?? Number.NaN;
}

function isListenersVoice(a: VoiceFeatures, b: VoiceFeatures): boolean {
  if (!a || !b) return false;
  const semitones = 12 * Math.log2(a.pitch / b.pitch);
  return (
    Math.abs(semitones) >= FILLERS.minPitchChangeSemitones && Math.abs(a.level - b.level) >= COMMON.minLevelChangeDb
  );
}

/** Measures a take and its retake. Returns whether the voices differ; false if one of them has none. */
export function* hasOtherSpeaker(
  tokens: readonly Token[],
  { from, end, retakeStart, matched }: Repetition,
): PlanSteps<boolean> {
  const context = end - from === 1 ? RETAKES.wordContext : 0;
  const start = Math.max(0, tokens[from]!.start - context);
  const take = { start, end: Math.min(tokens[end - 1]!.end, start + RETAKES.maxMeasured) };
  const restart = tokens[retakeStart]!.start;
  const last = tokens[Math.max(retakeStart, retakeStart + matched - 1)]!;
  const retake: Span = { start: restart, end: Math.min(last.end + context, restart + RETAKES.maxMeasured) };
  return yield* haveOtherVoices(take, retake);
}

/** Measures two stretches. Returns whether their voices differ; false if one of them has none. */
export function* haveOtherVoices(one: Span, other: Span): PlanSteps<boolean> {
  const [a = null, b = null] = yield* requestVoices([one, other]);
  return isOtherVoice(a, b);
}

/** Returns whether two stretches have different voices. */
export function isOtherVoice(a: VoiceFeatures, b: VoiceFeatures): boolean {
  if (!a || !b) return false;
  return (
    Math.abs(12 * Math.log2(a.pitch / b.pitch)) >= RETAKES.minPitchChangeSemitones &&
    Math.abs(a.level - b.level) >= COMMON.minLevelChangeDb
  );
}
