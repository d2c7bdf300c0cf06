/**
 * Renders a cut's audio to an encoded file, at its own level or at a target loudness: measures the cut, encodes it, and
 * measures the result.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { FINE_STEPS_PER_SECOND, predictLoudness } from "../domain/limited-loudness";
import { amplifySteps, type Loudness, type LoudnessSteps, measureSteps } from "../domain/loudness";
import type { AudioProcessing } from "../domain/media";
import { planSpeakerGains, type SpeakerGain } from "../domain/speaker-levels";
import type { EnergyContour } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { writeAll } from "../lib/file-bytes";
import { MAX_PEAK_DBTP, searchLevel, toFactor } from "./audio/level-search";
import type { OutputLevel } from "./audio/leveler";
import { measureFile } from "./audio/loudness";
import { RNNOISE_RATE } from "./audio/rnnoise";
import { type AudioSink, joinSinks } from "./audio/sink";
import { createContourMeter } from "./audio/speaker-leveler";
import type { AudioSegment } from "./audio/splicer";
import { createStepMeter } from "./audio/step-meter";
import { type AudioRenderOptions, encodeSpliced, getAudioWallSeconds, type Levels, spliceTo } from "./audio-render";
import { type AudioFormat, chooseAudioFormat } from "./encoder-arguments";

/** A result that differs more from the target gets a warning. */
const MAX_ERROR_LU = 0.3;
/** A higher true peak gets a warning. Lower ones are shown as the maximum, in tenths. */
const MAX_WARNING_FREE_DBTP = MAX_PEAK_DBTP + 0.05;

/** Share of the pass that measures in the progress. */
const MEASURED = 0.3;

/**
 * Samples with reduced noise are kept for the next pass up to this size: 90 minutes in stereo. Beyond it, noise is
 * reduced again.
 */
const MAX_KEPT_BYTES = 2 * 1024 ** 3;
const KEPT_NAME = "reduced.f32";

export type ProcessedAudioOptions = Omit<AudioRenderOptions, "noiseReduction"> & { processing?: AudioProcessing };

/**
 * Writes the audio of a cut: an m4a or mp3 file, or the AAC track of a video. With a loudness, one gain applies to all
 * samples, and a limiter keeps the true peak below -1 dBTP. If the result is too soft, the samples pass a high-pass at
 * 20 Hz, a limiter, a clipper and a second limiter. Reduced noise and speakers at the same level come before it.
 * Without processing, the samples stay as they are. Returns warnings. Errors: those of `encodeSpliced`.
 */
export async function renderAudio({ processing = {}, ...given }: ProcessedAudioOptions): Promise<string[]> {
  const { loudness: target = null, noiseReduction, levelSpeakers: levelsSpeakers = false } = processing;
  const options: AudioRenderOptions = { ...given, noiseReduction };
  const audioFormat = chooseProcessedFormat(options);
  if (target === null && !levelsSpeakers) {
    await encodeSpliced(options, audioFormat, { gains: [], level: null });
    return [];
  }
  const measured = await measureCut(shareProgress(options, 0, MEASURED), audioFormat);
  try {
    const gains = levelsSpeakers ? findSpeakerGains(measured.contour, options.segments) : [];
    // Takes that get louder may exceed full scale.
    const level: OutputLevel | null = gains.length === 0 ? null : { gain: 1, ceiling: toFactor(MAX_PEAK_DBTP) };
    const rest = { ...shareProgress(options, MEASURED, 1), keptSamples: measured.kept };
    if (target !== null)
      return await renderLeveled(rest, audioFormat, { gains, level }, { target, steps: measured.steps });
    await encodeSpliced(rest, audioFormat, { gains, level });
    return [];
  } finally {
    if (measured.kept !== null) await rm(measured.kept, { force: true });
  }
}

type MeasuredCut = { steps: LoudnessSteps; contour: EnergyContour; kept: string | null };

/** Measures the samples of a cut in one pass. Keeps them if they cost more than decoding: `kept` is their file. */
async function measureCut(options: AudioRenderOptions, audioFormat: AudioFormat): Promise<MeasuredCut> {
  const { segments, noiseReduction, workDir } = options;
  const seconds = (segments.at(-1)?.outputEnd ?? 0) / TICKS_PER_SECOND;
  const meter = createStepMeter(audioFormat, FINE_STEPS_PER_SECOND);
  const contour = createContourMeter(audioFormat, seconds);
  const bytes = seconds * audioFormat.sampleRate * audioFormat.channels * 4;
  const keeps = noiseReduction !== undefined && bytes <= MAX_KEPT_BYTES;
  const keeper = keeps ? createSampleKeeper(join(workDir, KEPT_NAME)) : null;
  try {
    await spliceTo(options, audioFormat, joinSinks([meter, contour, ...(keeper === null ? [] : [keeper])]));
  } catch (error) {
    await rm(join(workDir, KEPT_NAME), { force: true });
    throw error;
  }
  return { steps: meter.read(), contour: contour.read(), kept: keeper?.read() ?? null };
}

/** Returns a sink whose `read` returns `path` after `end`; null if the disk had no room for the samples. */
function createSampleKeeper(path: string): AudioSink & { read(): string | null } {
  let file: FileHandle | null = null;
  let isKept = true;
  const discard = async () => {
    isKept = false;
    await file?.close();
    file = null;
    await rm(path, { force: true });
  };
  return {
    write: async (samples) => {
      if (!isKept) return;
      try {
        file ??= await open(path, "w");
        await writeAll(file, samples, null);
      } catch {
        // Without them, the next pass takes longer.
        await discard();
      }
    },
    end: async () => {
      await file?.close();
    },
    abort: async (error) => {
      await discard();
      return error;
    },
    read: () => (isKept && file !== null ? path : null),
  };
}

/** The noise reduction has one sample rate. */
function chooseProcessedFormat({ format, probed, bitrate, noiseReduction }: AudioRenderOptions): AudioFormat {
  const track = probed.info.audio[0]!;
  return chooseAudioFormat(
    format,
    noiseReduction === undefined ? track : { ...track, sampleRate: RNNOISE_RATE },
    bitrate,
  );
}

/** Returns the options for a part of the work, which is `from` to `to` of the progress. */
const shareProgress = <Options extends Pick<AudioRenderOptions, "onProgress">>(
  options: Options,
  from: number,
  to: number,
): Options => ({ ...options, onProgress: (share: number) => options.onProgress?.(from + (to - from) * share) });

const findSpeakerGains = (contour: EnergyContour, segments: readonly AudioSegment[]): SpeakerGain[] =>
  planSpeakerGains(
    contour,
    segments.map(({ outputStart }) => outputStart),
    segments.at(-1)?.outputEnd ?? 0,
  );

/** Encodes until the loudness of the file is the target. */
async function renderLeveled(
  options: AudioRenderOptions,
  audioFormat: AudioFormat,
  unchanged: Levels,
  { target, steps }: { target: number; steps: LoudnessSteps },
): Promise<string[]> {
  const { ffmpeg, probed, signal } = options;
  const { gains } = unchanged;
  const meterOptions = { ffmpeg, wallSeconds: getAudioWallSeconds(probed.info.duration), signal };
  const amplified = amplifySteps(steps, gains, FINE_STEPS_PER_SECOND);
  const source = predictLoudness(amplified, null);
  if (source.integrated === null) {
    await encodeSpliced(options, audioFormat, unchanged);
    return listLoudnessWarnings(source, target);
  }
  const encode = async (level: OutputLevel) => {
    await encodeSpliced(options, audioFormat, { gains, level });
    return await measureFile(meterOptions, options.outputPath, audioFormat);
  };
  const encoded = await searchLevel(amplified, target, encode, signal);
  return listLoudnessWarnings(encoded, target);
}

/** Lists the warnings about an encoded file whose loudness should be `target`. Errors: those of `measureFile`. */
export async function checkLoudness(
  { processing, ...options }: ProcessedAudioOptions,
  target: number,
): Promise<string[]> {
  const { ffmpeg, probed, signal, outputPath } = options;
  const format = chooseProcessedFormat({ ...options, noiseReduction: processing?.noiseReduction });
  const wallSeconds = getAudioWallSeconds(probed.info.duration);
  const steps = await measureFile({ ffmpeg, wallSeconds, signal }, outputPath, format);
  return listLoudnessWarnings(measureSteps(steps), target);
}

function listLoudnessWarnings({ integrated, peak }: Loudness, target: number): string[] {
  if (integrated === null) return ["The audio is silent, so its loudness was not changed."];
  const warnings: string[] = [];
  if (Math.abs(target - integrated) > MAX_ERROR_LU)
    warnings.push(
      `The loudness is ${integrated.toFixed(1)} LUFS instead of ${target}: it cannot be reached without distortion.`,
    );
  if (peak !== null && peak > MAX_WARNING_FREE_DBTP)
    warnings.push(
      `The true peak is ${peak.toFixed(1)} dBTP, higher than ${MAX_PEAK_DBTP} dBTP: the encoder raises peaks.`,
    );
  return warnings;
}
