/** Analyzes a whole recording: energy contour, voice activity and, if a model supports the language, transcript. */
import { computeGain, createEnergyMeter } from "../domain/energy";
import { rateLanguage } from "../domain/planning/understood-speech";
import {
  type DetectedLanguage,
  ENERGY_STEPS_PER_DB,
  type EnergyContour,
  type SpeechAnalysis,
  type Transcript,
} from "../domain/speech";
import { type Span, TICKS_PER_SECOND } from "../domain/time";
import { createEarlyEncoding, type EarlyEncoding } from "./early-encoding";
import { DETECT_LANGUAGE } from "./ipc-protocol";
import { toLanguageCode } from "./models/installed-models";
import type { Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import { NO_LOG } from "./record-log";
import { createSegments, type SpeechSegment } from "./segmentation";
import type { TaskWork } from "./task-control";
import { type AudioWithEnergy, readSamples, transcribe } from "./transcribe";
import type { SpokenLanguage, TranscriberSelector } from "./transcriber-selector";
import { findSpeechSpans, refineEdges, STATE_VALUES, type VoiceDetector, WINDOW_SAMPLES } from "./vad";

/** Number of samples read at a time: 8 s, a whole number of voice detector windows. */
const CHUNK_SAMPLES = 250 * WINDOW_SAMPLES;

/** Number of chunks per log record: one or two seconds of work. */
const CHUNKS_PER_RECORD = 64;

/** The loaded models. Without `selector`, the built-in recognizer transcribes everything. */
export type SpeechModels = { detector: VoiceDetector; moonshine: Moonshine; selector?: TranscriberSelector };

/** Progress shares: measuring the energy ends at the first, detecting speech at the second, recognition at 1. */
const ENERGY_SHARE = 0.02;
const VAD_SHARE = 0.1;

/**
 * Analyzes `pcm`. `DETECT_LANGUAGE` detects the language. `check` is called between steps and may throw to stop.
 * Records of an earlier run are reused: the result is the same.
 */
export async function analyze(
  models: SpeechModels,
  pcm: PcmReader,
  language: string,
  work: TaskWork,
): Promise<SpeechAnalysis> {
  const encode = usesBuiltIn(models, language) ? models.moonshine.startSecond() : null;
  let early: EarlyEncoding | null = null;
  const analysis = await analyzeVoice(models.detector, pcm, work, (contour) => {
    if (encode === null) return null;
    const audio = { pcm, energy: contour.energy };
    early = createEarlyEncoding(async (span) => encode(await readSamples(audio, span)), contour);
    return early;
  });
  const { duration, speech, energy } = analysis;
  const segments = createSegments(speech, energy, duration);
  const onProgress = (done: number) => work.onProgress(VAD_SHARE + (1 - VAD_SHARE) * done);
  const { spoken, transcript } = await transcribeSegments(models, { pcm, energy, early }, segments, language, {
    ...work,
    onProgress,
  });
  return { ...analysis, transcript, language: detectLanguage(spoken, transcript, speech) };
}

/** Returns whether the built-in recognizer transcribes the recording. False if the language is not known yet. */
const usesBuiltIn = ({ selector }: SpeechModels, language: string): boolean =>
  selector === undefined || (language !== DETECT_LANGUAGE && selector.usesBuiltIn(language));

/**
 * Returns the analysis without a transcript. It needs no recognizer. `startEarly` returns the early encoding to which
 * the found speech is reported, or null.
 */
export async function analyzeVoice(
  detector: VoiceDetector,
  pcm: PcmReader,
  work: TaskWork,
  startEarly: (contour: Pick<SpeechAnalysis, "energy" | "duration">) => EarlyEncoding | null = () => null,
): Promise<SpeechAnalysis> {
  const duration = Math.round((pcm.samples * TICKS_PER_SECOND) / 16_000);
  const energy = await measureEnergy(pcm, work);
  const speech =
    work.log.takeJson<Span[]>("speech") ??
    (await detectSpeech(detector, pcm, energy, work, startEarly({ energy, duration })));
  return { duration, speech, energy, transcript: null, language: null };
}

/**
 * Returns the spoken language with a confidence: the one of its transcript, otherwise the detected one. Null if there
 * is too little speech.
 */
function detectLanguage(
  spoken: SpokenLanguage,
  transcript: Transcript | null,
  speech: readonly Span[],
): DetectedLanguage | null {
  const confidence = transcript ? rateLanguage(transcript, speech) : spoken.share;
  return confidence === null ? null : { code: toLanguageCode(spoken.code), confidence };
}

/** Measures the contour. The log stores it as whole steps of 1/128 dB, which is exact. */
async function measureEnergy(pcm: PcmReader, { check, onProgress, log }: TaskWork): Promise<EnergyContour> {
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
  { check, onProgress, log }: TaskWork,
  early: EarlyEncoding | null,
): Promise<Span[]> {
  const gain = computeGain(energy);
  const probabilities = new Float32Array(Math.ceil(pcm.samples / WINDOW_SAMPLES));
  let stream = detector.start();
  for (let at = 0; at < pcm.samples; ) {
    const end = Math.min(pcm.samples, at + CHUNKS_PER_RECORD * CHUNK_SAMPLES);
    const part = probabilities.subarray(at / WINDOW_SAMPLES, Math.ceil(end / WINDOW_SAMPLES));
    const saved = log.take(`voice ${at}`);
    const values = saved && new Float32Array(saved.buffer, saved.byteOffset, saved.length >> 2);
    if (values?.length === STATE_VALUES + part.length) {
      stream = detector.start(values.slice(0, STATE_VALUES));
      part.set(values.subarray(STATE_VALUES));
    } else {
      for (let from = at; from < end; from += CHUNK_SAMPLES) {
        await check();
        const samples = await pcm.read(from, Math.min(CHUNK_SAMPLES, end - from));
        part.set(await stream.add(amplify(samples, gain)), (from - at) / WINDOW_SAMPLES);
        await early?.add(probabilities.subarray(0, Math.ceil((from + samples.length) / WINDOW_SAMPLES)));
        onProgress(ENERGY_SHARE + (VAD_SHARE - ENERGY_SHARE) * Math.min(1, (from + CHUNK_SAMPLES) / pcm.samples));
      }
      const record = new Float32Array(STATE_VALUES + part.length);
      record.set(stream.state());
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

/** Transcribes with the recognizer for the language. The transcript is null if no model supports it. */
async function transcribeSegments(
  models: SpeechModels,
  audio: AudioWithEnergy,
  segments: SpeechSegment[],
  language: string,
  work: TaskWork,
): Promise<{ spoken: SpokenLanguage; transcript: Transcript | null }> {
  const requested = language === DETECT_LANGUAGE ? null : language;
  const spoken = (await models.selector?.detect(requested, audio, segments, work.check)) ?? {
    code: requested ?? "en",
    share: null,
  };
  const { code } = spoken;
  const selected = models.selector ? await models.selector.select(code) : BUILT_IN;
  if (selected === null) return { spoken, transcript: null };
  const { installed } = selected;
  if (installed === null)
    return { spoken, transcript: { language: code, ...(await transcribe(models.moonshine, audio, segments, work)) } };
  const { wordTimes, forcing } = installed.capabilities;
  const text = await installed.transcribe(audio, segments, work);
  const transcript: Transcript = { language: code, ...text, forcing };
  if (wordTimes === "estimated") transcript.wordTimes = wordTimes;
  return { spoken, transcript };
}

const BUILT_IN = { installed: null };
