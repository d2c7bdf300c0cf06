/** Listens to a whole recording: loudness, voice activity and, when the language is known, the transcript. */
import { ENERGY_STEPS_PER_DB, type EnergyContour, type Transcript } from "../domain/speech";
import { type Span, TICKS_PER_SECOND } from "../domain/time";
import { computeGain, createEnergyMeter } from "./energy";
import { DETECT_LANGUAGE } from "./ipc-protocol";
import type { Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import { NO_LOG, type RecordLog } from "./record-log";
import { createSegments, type SpeechSegment } from "./segmentation";
import type { Checkpoint } from "./task-control";
import { type AudioWithEnergy, transcribe } from "./transcribe";
import type { TranscriberSelector } from "./transcriber-selector";
import { findSpeechSpans, refineEdges, STATE_VALUES, type VoiceDetector, WINDOW_SAMPLES } from "./vad";

/** Samples read at a time: 32 s, whole windows of the voice detector. */
const CHUNK_SAMPLES = 1_000 * WINDOW_SAMPLES;

/** How many of them one record of the log holds: a second or two of work. */
const CHUNKS_PER_RECORD = 16;

/** Without `added` everything is transcribed by the built-in recogniser. */
export type SpeechModels = { detector: VoiceDetector; moonshine: Moonshine; added?: TranscriberSelector };
export type Heard = { duration: number; speech: Span[]; energy: EnergyContour; transcript: Transcript | null };

/** How the work divides: shares of measuring, detecting and recognising in the whole. */
const ENERGY_SHARE = 0.02;
const VAD_SHARE = 0.1;

/**
 * Listens to `pcm`. `language` null leaves the transcript out, `HEARD_LANGUAGE` lets a model tell it. `onProgress` gets a share that only grows; `check` is called between
 * steps and may throw to stop. What is done goes to `log`, and what it holds of an earlier run is not done again: the result is the same.
 */
export async function analyze(
  models: SpeechModels,
  pcm: PcmReader,
  language: string | null,
  onProgress: (share: number) => void,
  check: Checkpoint,
  log: RecordLog = NO_LOG,
): Promise<Heard> {
  const duration = Math.round((pcm.samples * TICKS_PER_SECOND) / 16_000);
  const energy = await measureEnergy(pcm, onProgress, check, log);
  const speech =
    log.takeJson<Span[]>("speech") ?? (await detectSpeech(models.detector, pcm, energy, onProgress, check, log));
  if (language === null) return { duration, speech, energy, transcript: null };

  const segments = createSegments(speech, energy, duration);
  const share = (done: number) => onProgress(VAD_SHARE + (1 - VAD_SHARE) * done);
  const transcript = await transcribeSegments(models, { pcm, energy }, segments, language, share, check, log);
  return { duration, speech, energy, transcript };
}

/** The contour; in the log it is whole steps, which it consists of. */
async function measureEnergy(
  pcm: PcmReader,
  onProgress: (share: number) => void,
  check: Checkpoint,
  log: RecordLog,
): Promise<EnergyContour> {
  const saved = log.take("energy");
  if (saved !== null) {
    const steps = new Int16Array(saved.buffer, saved.byteOffset, saved.length >> 1);
    const energy = new Float32Array(steps.length);
    for (let n = 0; n < steps.length; n++) energy[n] = steps[n]! / ENERGY_STEPS_PER_DB;
    return energy;
  }
  const meter = createEnergyMeter(pcm.samples);
  for (let at = 0; at < pcm.samples; at += CHUNK_SAMPLES) {
    await check();
    meter.add(await pcm.read(at, CHUNK_SAMPLES));
    onProgress(ENERGY_SHARE * Math.min(1, (at + CHUNK_SAMPLES) / pcm.samples));
  }
  const energy = meter.contour();
  if (log !== NO_LOG) {
    const steps = new Int16Array(energy.length);
    for (let n = 0; n < energy.length; n++) steps[n] = Math.round(energy[n]! * ENERGY_STEPS_PER_DB);
    await log.put("energy", toBytes(steps));
  }
  return energy;
}

async function detectSpeech(
  detector: VoiceDetector,
  pcm: PcmReader,
  energy: EnergyContour,
  onProgress: (share: number) => void,
  check: Checkpoint,
  log: RecordLog,
): Promise<Span[]> {
  const gain = computeGain(energy);
  const probabilities = new Float32Array(Math.ceil(pcm.samples / WINDOW_SAMPLES));
  let run = detector.start();
  for (let at = 0; at < pcm.samples; ) {
    const end = Math.min(pcm.samples, at + CHUNKS_PER_RECORD * CHUNK_SAMPLES);
    const part = probabilities.subarray(at / WINDOW_SAMPLES, Math.ceil(end / WINDOW_SAMPLES));
    const saved = log.take(`voice ${at}`);
    const values = saved && new Float32Array(saved.buffer, saved.byteOffset, saved.length >> 2);
    if (values?.length === STATE_VALUES + part.length) {
      run = detector.start(values.slice(0, STATE_VALUES));
      part.set(values.subarray(STATE_VALUES));
    } else {
      for (let from = at; from < end; from += CHUNK_SAMPLES) {
        await check();
        const samples = await pcm.read(from, Math.min(CHUNK_SAMPLES, end - from));
        part.set(await run.add(amplify(samples, gain)), (from - at) / WINDOW_SAMPLES);
        onProgress(ENERGY_SHARE + (VAD_SHARE - ENERGY_SHARE) * Math.min(1, (from + CHUNK_SAMPLES) / pcm.samples));
      }
      const record = new Float32Array(STATE_VALUES + part.length);
      record.set(run.state());
      record.set(part, STATE_VALUES);
      await log.put(`voice ${at}`, toBytes(record));
    }
    at = end;
  }
  const duration = Math.round((pcm.samples * TICKS_PER_SECOND) / 16_000);
  const speech = await refineEdges(findSpeechSpans(probabilities), energy, duration, check);
  await log.putJson("speech", speech);
  return speech;
}

const toBytes = (values: Int16Array | Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The transcript by whichever recogniser knows the language; null when none does. */
async function transcribeSegments(
  models: SpeechModels,
  sound: AudioWithEnergy,
  segments: SpeechSegment[],
  language: string,
  onHeard: (share: number) => void,
  check: Checkpoint,
  log: RecordLog,
): Promise<Transcript | null> {
  const asked = language === DETECT_LANGUAGE ? null : language;
  const chosen = models.added
    ? await models.added.select(asked, sound, segments, check)
    : { language: asked ?? "en", added: null };
  if (!chosen) return null;
  if (!chosen.added) {
    return { language: chosen.language, ...(await transcribe(models.moonshine, sound, segments, onHeard, check, log)) };
  }
  const { wordTimes, forcing } = chosen.added.capabilities;
  const heard = await chosen.added.transcribe(sound, segments, onHeard, check, log);
  return { language: chosen.language, ...heard, forcing, ...(wordTimes === "estimated" ? { wordTimes } : {}) };
}
