/**
 * Detects other voices: a listener who answers the speaker, or repeats the words. Both the pitch and the level change.
 */

import type { Word } from "../speech";
import { normalizeWords } from "../text/normalize";
import type { Span, Ticks } from "../time";
import type { VoiceFeatures } from "../voice";
import { type AudioActivity, measureLevel } from "./audio-activity";
import { type PlanSteps, requestVoices } from "./context";
import { isFillerText, type Lexicon } from "./lexicon/lexicon";
import type { Repetition } from "./retakes/repetition";
import { findOverlapping, intersect, overlapDuration } from "./spans";
import { COMMON, FILLERS, RETAKES } from "./thresholds";
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
  const listSpans = (region: Span) => [region, spanBefore(region), spanAfter(region, activity.duration)];
  const voices = (yield* requestVoices(possible.flatMap(listSpans))).values();
  const found = new Set<Span>();
  for (const region of possible) {
    const [own = null, ...around] = listSpans(region).map(() => voices.next().value ?? null);
    if (around.every((other) => isOtherVoice(own, other, FILLERS.minPitchChangeSemitones))) found.add(region);
  }
  return found;
}

/** Returns whether a filler was recognized that only the speaker uses: a listener has nothing to say yet. */
const isSpeakersFiller = (region: Span, words: readonly Word[], lexicon: Lexicon): boolean =>
  words.some(
    ({ text, ...word }) =>
      overlapDuration(word, region) > 0 &&
      isFillerText(text, lexicon) &&
      !lexicon.answers.test(normalizeWords(text, lexicon.language).join(" ")),
  );

const spanBefore = ({ start }: Span): Span => ({ start: Math.max(0, start - COMMON.voiceSample), end: start });
const spanAfter = ({ end }: Span, duration: Ticks): Span => ({
  start: end,
  end: Math.min(duration, end + COMMON.voiceSample),
});

/** Returns whether the speech on both sides of a region has another level. */
function hasOtherLevel(region: Span, activity: AudioActivity): boolean {
  const measureSpeech = (span: Span) =>
    measureLevel(
      findOverlapping(activity.speechRegions, span).map((one) => intersect(one, span)),
      activity,
    );
  const own = measureSpeech(region);
  return [spanBefore(region), spanAfter(region, activity.duration)].every((span) => {
    const level = measureSpeech(span);
    return Number.isFinite(level) && Math.abs(own - level) >= COMMON.minLevelChangeDb;
  });
}

/** Measures a take and its retake. Returns whether the voices differ; false if one of them has none. */
export function* hasOtherSpeaker(
  tokens: readonly Token[],
  { from, end, retakeStart, matched }: Repetition,
): PlanSteps<boolean> {
  const context = end - from === 1 ? RETAKES.wordContext : 0;
  const start = Math.max(0, tokens[from]!.start - context);
  const take = { start, end: Math.min(tokens[end - 1]!.end, start + COMMON.voiceSample) };
  const restart = tokens[retakeStart]!.start;
  const last = tokens[Math.max(retakeStart, retakeStart + matched - 1)]!;
  const retake: Span = { start: restart, end: Math.min(last.end + context, restart + COMMON.voiceSample) };
  return yield* haveOtherVoices(take, retake);
}

/** Measures two stretches. Returns whether their voices differ; false if one of them has none. */
export function* haveOtherVoices(one: Span, other: Span): PlanSteps<boolean> {
  const [a = null, b = null] = yield* requestVoices([one, other]);
  return isOtherVoice(a, b);
}

const SEMITONES_PER_OCTAVE = 12;

/** Returns whether two stretches have different voices. */
export function isOtherVoice(
  a: VoiceFeatures,
  b: VoiceFeatures,
  minSemitones: number = RETAKES.minPitchChangeSemitones,
): boolean {
  if (!a || !b || Math.abs(a.level - b.level) < COMMON.minLevelChangeDb) return false;
  return Math.abs(SEMITONES_PER_OCTAVE * Math.log2(a.pitch / b.pitch)) >= minSemitones;
}
