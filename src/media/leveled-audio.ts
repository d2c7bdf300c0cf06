/** Renders a cut's audio to an encoded file, at its own level or at a target loudness: measures, encodes, and measures what was encoded. */
import type { AudioProcessing } from "../domain/media";
import { planSpeakerGains, type SpeakerGain } from "../domain/speaker-levels";
import { TICKS_PER_SECOND } from "../domain/time";
import type { Level } from "./audio/limiter";
import { createMeter, type Loudness, measureFile } from "./audio/loudness";
import { RNNOISE_RATE } from "./audio/rnnoise";
import { createContourMeter } from "./audio/speaker-leveler";
import {
  type AudioRenderOptions,
  encodeSpliced,
  getAudioWallSeconds,
  type Levels,
  levelSpeakers,
  spliceTo,
} from "./audio-render";
import { type AudioFormat, chooseAudioFormat } from "./encoder-arguments";

/** Maximum true peak, in dBTP (EBU R128). */
const MAX_PEAK_DBTP = -1;
/** The encoder's own error adds to peaks. */
const CODEC_MARGIN_DB = 0.3;
/** A result that differs less from the target is accepted. The meter shows tenths. */
const TOLERANCE_LU = 0.15;
/** A result that differs more gets a warning. */
const MAX_ERROR_LU = 0.3;
const MAX_ATTEMPTS = 6;
/** With less, more gain only distorts. */
const MIN_RISE_LU = 0.2;
/** How much lower peaks are limited than the last excess suggests. */
const PEAK_STEP_DB = 0.1;
/** Loudness that a decibel of gain adds at least, so that no step is too long. */
const MIN_SLOPE = 0.25;
/** More gain only amplifies noise. */
const MAX_GAIN_DB = 50;

const toFactor = (decibels: number): number => 10 ** (decibels / 20);

/** Shares of the progress: each pass that measures, of all that is left. */
const MEASURED = 0.3;

export type ProcessedAudioOptions = Omit<AudioRenderOptions, "noiseReduction"> & { processing?: AudioProcessing };

/**
 * Writes the audio of a cut: an m4a or mp3 file, or the AAC track of a video. With a loudness, one gain applies to all samples, and a limiter
 * keeps the true peak below -1 dBTP. Reduced noise and speakers at the same level come before it. Without processing, the samples stay as they
 * are. Returns warnings. Errors: those of `encodeSpliced`.
 */
export async function renderAudio({ processing = {}, ...given }: ProcessedAudioOptions): Promise<string[]> {
  const { loudness: target = null, noiseReduction, levelSpeakers: levelsSpeakers = false } = processing;
  const options: AudioRenderOptions = { ...given, noiseReduction };
  const audioFormat = chooseProcessedFormat(options);
  const gains = levelsSpeakers ? await findSpeakerGains(options, audioFormat) : [];
  // Takes that get louder may exceed full scale.
  const unlimited: Level | null = gains.length === 0 ? null : { gain: 1, ceiling: toFactor(MAX_PEAK_DBTP) };
  const rest = gains.length === 0 ? options : shareProgress(options, MEASURED, 1);
  if (target === null) {
    await encodeSpliced(rest, audioFormat, { gains, level: unlimited });
    return [];
  }
  return await renderLeveled(rest, audioFormat, { gains, level: unlimited }, target);
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

async function findSpeakerGains(options: AudioRenderOptions, audioFormat: AudioFormat): Promise<SpeakerGain[]> {
  const { segments } = options;
  const duration = segments.at(-1)?.outputEnd ?? 0;
  const meter = createContourMeter(audioFormat, duration / TICKS_PER_SECOND);
  await spliceTo(shareProgress(options, 0, MEASURED), audioFormat, meter);
  return planSpeakerGains(
    meter.read(),
    segments.map(({ outputStart }) => outputStart),
    duration,
  );
}

/** Encodes until the loudness of the file is the target. */
async function renderLeveled(
  options: AudioRenderOptions,
  audioFormat: AudioFormat,
  unchanged: Levels,
  target: number,
): Promise<string[]> {
  const { ffmpeg, probed, signal } = options;
  const { gains } = unchanged;
  const meterOptions = { ffmpeg, wallSeconds: getAudioWallSeconds(probed.info.duration), signal };
  const meter = createMeter(meterOptions, audioFormat);
  await spliceTo(shareProgress(options, 0, MEASURED), audioFormat, levelSpeakers(meter, gains, audioFormat));
  const source = meter.read();
  if (source.integrated === null) {
    await encodeSpliced(options, audioFormat, unchanged);
    return listLoudnessWarnings(source, target);
  }
  let gain = Math.min(MAX_GAIN_DB, target - source.integrated);
  let ceiling = MAX_PEAK_DBTP - CODEC_MARGIN_DB;
  let before = { gain: 0, integrated: source.integrated };
  for (let attempt = 1; ; attempt++) {
    const level: Level = { gain: toFactor(gain), ceiling: toFactor(ceiling) };
    await encodeSpliced(shareProgress(options, MEASURED, 1), audioFormat, { gains, level });
    const encoded = await measureFile(meterOptions, options.outputPath);
    const error = encoded.integrated === null ? 0 : target - encoded.integrated;
    const excess = encoded.peak === null ? 0 : Math.max(0, encoded.peak - MAX_PEAK_DBTP);
    const integrated = encoded.integrated ?? target;
    const risen = integrated - before.integrated;
    const isReached = Math.abs(error) <= TOLERANCE_LU;
    // The limiter turns down all that more gain adds.
    const isSaturated = attempt > 1 && gain - before.gain > MIN_RISE_LU && risen < MIN_RISE_LU;
    if ((excess === 0 && (isReached || isSaturated)) || attempt === MAX_ATTEMPTS)
      return listLoudnessWarnings(encoded, target);
    // The more the limiter turns down, the less a decibel of gain adds.
    const slope = gain === before.gain ? 1 : risen / (gain - before.gain);
    before = { gain, integrated };
    if (!isSaturated) gain = Math.min(MAX_GAIN_DB, gain + error / Math.min(1, Math.max(MIN_SLOPE, slope)));
    if (excess > 0) ceiling -= excess + PEAK_STEP_DB;
  }
}

/** Lists the warnings about an encoded file whose loudness should be `target`. */
export async function checkLoudness(
  options: Pick<AudioRenderOptions, "ffmpeg" | "probed" | "signal" | "outputPath">,
  target: number,
): Promise<string[]> {
  const { ffmpeg, probed, signal } = options;
  const wallSeconds = getAudioWallSeconds(probed.info.duration);
  return listLoudnessWarnings(await measureFile({ ffmpeg, wallSeconds, signal }, options.outputPath), target);
}

function listLoudnessWarnings({ integrated }: Loudness, target: number): string[] {
  if (integrated === null) return ["The audio is silent, so its loudness was not changed."];
  if (Math.abs(target - integrated) <= MAX_ERROR_LU) return [];
  return [
    `The loudness is ${integrated.toFixed(1)} LUFS instead of ${target}: it cannot be reached without distortion.`,
  ];
}
