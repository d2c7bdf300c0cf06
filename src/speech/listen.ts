/** Listens to a whole recording: loudness, voice activity and, when the language is known, the transcript. */
import type { EnergyContour, Transcript } from "../domain/speech";
import { type Span, TICKS_PER_SECOND } from "../domain/time";
import { createEnergyMeter, gainFor } from "./energy";
import { HEARD_LANGUAGE } from "./frames";
import type { Moonshine } from "./moonshine";
import type { Checkpoint } from "./order-control";
import { amplify, type PcmReader } from "./pcm";
import { type Segment, segmentsOf } from "./segmentation";
import type { AddedModels } from "./sherpa-models";
import { type Sound, transcribe } from "./transcribe";
import { placeEdges, type VoiceDetector, voiceSpans, WINDOW_SAMPLES } from "./vad";

/** Samples read at a time: 32 s, whole windows of the voice detector. */
const CHUNK_SAMPLES = 1_000 * WINDOW_SAMPLES;

/** Without `added` everything is transcribed by the built-in recogniser. */
export type Models = { detector: VoiceDetector; moonshine: Moonshine; added?: AddedModels };
export type Heard = { duration: number; speech: Span[]; energy: EnergyContour; transcript: Transcript | null };

/** How the work divides: shares of measuring, detecting and recognising in the whole. */
const MEASURED = 0.02;
const DETECTED = 0.1;

/**
 * Listens to `pcm`. `language` null leaves the transcript out, `HEARD_LANGUAGE` lets a model tell it. `onProgress` gets a share that only grows; `check` is called between
 * steps and may throw to stop.
 */
export async function listen(
  models: Models,
  pcm: PcmReader,
  language: string | null,
  onProgress: (share: number) => void,
  check: Checkpoint,
): Promise<Heard> {
  const duration = Math.round((pcm.samples * TICKS_PER_SECOND) / 16_000);
  const meter = createEnergyMeter(pcm.samples);
  for (let at = 0; at < pcm.samples; at += CHUNK_SAMPLES) {
    await check();
    meter.add(await pcm.read(at, CHUNK_SAMPLES));
    onProgress(MEASURED * Math.min(1, (at + CHUNK_SAMPLES) / pcm.samples));
  }
  const energy = meter.contour();

  const gain = gainFor(energy);
  const run = models.detector.start();
  const probabilities = new Float32Array(Math.ceil(pcm.samples / WINDOW_SAMPLES));
  for (let at = 0; at < pcm.samples; at += CHUNK_SAMPLES) {
    await check();
    probabilities.set(await run.add(amplify(await pcm.read(at, CHUNK_SAMPLES), gain)), at / WINDOW_SAMPLES);
    onProgress(MEASURED + (DETECTED - MEASURED) * Math.min(1, (at + CHUNK_SAMPLES) / pcm.samples));
  }
  const speech = await placeEdges(voiceSpans(probabilities), energy, duration, check);
  if (language === null) return { duration, speech, energy, transcript: null };

  const segments = segmentsOf(speech, energy, duration);
  const share = (done: number) => onProgress(DETECTED + (1 - DETECTED) * done);
  const transcript = await transcribed(models, { pcm, energy }, segments, language, share, check);
  return { duration, speech, energy, transcript };
}

/** The transcript by whichever recogniser knows the language; null when none does. */
async function transcribed(
  models: Models,
  sound: Sound,
  segments: Segment[],
  language: string,
  onHeard: (share: number) => void,
  check: Checkpoint,
): Promise<Transcript | null> {
  const asked = language === HEARD_LANGUAGE ? null : language;
  const chosen = models.added
    ? await models.added.choose(asked, sound, segments, check)
    : { language: asked ?? "en", added: null };
  if (!chosen) return null;
  if (!chosen.added) {
    return { language: chosen.language, ...(await transcribe(models.moonshine, sound, segments, onHeard, check)) };
  }
  const { wordTimes, forcing } = chosen.added.capabilities;
  const heard = await chosen.added.transcribe(sound, segments, onHeard, check);
  return { language: chosen.language, ...heard, forcing, ...(wordTimes === "estimated" ? { wordTimes } : {}) };
}
