/** Stage 4, fillers: detects the "mm" and "uh" of a listener, who answers the speaker in another voice. */
import { ENERGY_HOP, type Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import { fromSeconds, type Span, type Ticks } from "../../time";
import type { VoiceFeatures } from "../../voice";
import type { AudioActivity } from "../audio-activity";
import { type PlanSteps, requestVoices } from "../context";
import { findOverlapping, overlapDuration } from "../spans";

/** The speaker's voice is measured this far around an answer. */
const CONTEXT_TICKS = fromSeconds(1.2);
/** A speaker hesitates in a lower and quieter voice, but not this much lower. */
const MIN_PITCH_CHANGE_SEMITONES = 5;
const MIN_LEVEL_CHANGE_DB = 6;
/** The voices are measured only if the energy contour differs by this much. */
const MIN_CONTOUR_CHANGE_DB = 4;
/** Fillers that only the speaker uses: a listener has nothing to say yet. */
const SPEAKERS_FILLERS = /^(?:u+h*m+|e+r+m*|e+h+m*)$/;

/** Returns the regions with another voice than the speech around them. `words` are those of the transcript. */
export function* findListenerAnswers(
  regions: readonly Span[],
  words: readonly Word[],
  activity: AudioActivity,
): PlanSteps<Set<Span>> {
  const possible = regions.filter((region) => !isSpeakersFiller(region, words) && hasOtherLevel(region, activity));
  const voices = yield* requestVoices(
    possible.flatMap((region) => [region, spanBefore(region), spanAfter(region, activity.duration)]),
  );
  return new Set(
    possible.filter((_, i) => {
      const [own = null, before = null, after = null] = voices.slice(3 * i, 3 * i + 3);
      return isOtherVoice(own, before) && isOtherVoice(own, after);
    }),
  );
}

const isSpeakersFiller = (region: Span, words: readonly Word[]): boolean =>
  words.some((word) => overlapDuration(word, region) > 0 && SPEAKERS_FILLERS.test(normalizeWords(word.text).join(" ")));

const spanBefore = ({ start }: Span): Span => ({ start: Math.max(0, start - CONTEXT_TICKS), end: start });
const spanAfter = ({ end }: Span, duration: Ticks): Span => ({
  start: end,
  end: Math.min(duration, end + CONTEXT_TICKS),
});

function hasOtherLevel(region: Span, activity: AudioActivity): boolean {
  const own = measureLevel(region, activity);
  return [spanBefore(region), spanAfter(region, activity.duration)].every(
    (span) => Math.abs(own - measureLevel(span, activity)) >= MIN_CONTOUR_CHANGE_DB,
  );
}

/** Returns the median level of the speech in a span in dB; NaN if there is none. */
function measureLevel(span: Span, { energy, speechRegions }: AudioActivity): number {
  const levels = findOverlapping(speechRegions, span).flatMap(({ start, end }) => [
    ...energy.subarray(Math.max(start, span.start) / ENERGY_HOP, Math.min(end, span.end) / ENERGY_HOP),
  ]);
  return Float32Array.from(levels).sort()[levels.length >> 1] ?? Number.NaN;
}

function isOtherVoice(a: VoiceFeatures, b: VoiceFeatures): boolean {
  if (!a || !b) return false;
  const semitones = 12 * Math.log2(a.pitch / b.pitch);
  return Math.abs(semitones) >= MIN_PITCH_CHANGE_SEMITONES && Math.abs(a.level - b.level) >= MIN_LEVEL_CHANGE_DB;
}
