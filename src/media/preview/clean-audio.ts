/** Encodes parts of a source's audio with reduced noise, as a render has it, for a player. Runs in a job's child. */
import type { NoiseReduction } from "../../domain/media";
import { indexEndingAfter } from "../../domain/planning/spans";
import { fromSeconds, type Span, toSeconds } from "../../domain/time";
import { findVoicelessSpans, type VoiceActivity } from "../../domain/voice-activity";
import { QUIET_ARGUMENTS } from "../arguments";
import { reduceNoise } from "../audio/noise-reduction";
import { loadRnnoise } from "../audio/rnnoise";
import { buildSampleInputArguments, toSampleBytes } from "../audio/sink";
import { readWholeSamples } from "../audio/splicer";
import { createWorkLimits, type Ffmpeg, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { buildLiveSampleArguments, LIVE_ENCODER_ARGUMENTS, PREVIEW_SAMPLE_RATE } from "./encode";
import type { LiveRequest } from "./live";

const CHANNELS = 2;
/** Audio around the part, in which the model settles, and which decides whether there is a voice close to it. */
const CONTEXT_SECONDS = 4;
/** The model settles before music, as in the render, unless that is longer ago. */
const MAX_CONTEXT_SECONDS = 60;
const MAX_WALL_SECONDS = 120;

/** `from` and `to` are in seconds. `voice` null: unknown. */
export type CleanAudioRequest = Omit<LiveRequest, "isCoded"> & {
  ffmpeg: Ffmpeg;
  mode: NoiseReduction;
  voice: VoiceActivity | null;
};

/**
 * Returns the audio as ADTS, from the sample at `from` on. Errors: `AppError` `processing_failed`; the signal's reason.
 */
export async function encodeCleanAudio(
  { ffmpeg, path, info, mode, voice, from, to }: CleanAudioRequest,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const createDenoiser = await loadRnnoise();
  const limits = createWorkLimits(MAX_WALL_SECONDS);
  const start = findContextStart(from, voice === null ? [] : findVoicelessSpans(voice));
  const source = { path, info, libavutil: ffmpeg.libavutil };
  const decoder = startFfmpeg({
    ffmpeg,
    arguments: buildLiveSampleArguments(source, { from: start, to: to + CONTEXT_SECONDS }),
    limits,
    stdout: "pipe",
    signal,
  });
  const encoder = startFfmpeg({
    ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      ...buildSampleInputArguments({ sampleRate: PREVIEW_SAMPLE_RATE, channels: CHANNELS }),
      ...LIVE_ENCODER_ARGUMENTS,
    ],
    limits,
    stdin: "pipe",
    stdout: "pipe",
    signal,
  });
  try {
    const encoded = new Response(encoder.stdout as ReadableStream<Uint8Array>).bytes();
    encoded.catch(() => {});
    const [first, last] = [from - start, to - start].map((seconds) => Math.round(seconds * PREVIEW_SAMPLE_RATE)) as [
      number,
      number,
    ];
    let position = 0;
    const reduced = reduceNoise(decoder.stdout, {
      ...{ mode, channels: CHANNELS, createDenoiser, voice },
      start: fromSeconds(start),
    });
    for await (const samples of readWholeSamples(reduced, CHANNELS)) {
      const frames = samples.length / CHANNELS;
      const part = samples.subarray(
        Math.max(0, first - position) * CHANNELS,
        Math.max(0, Math.min(frames, last - position)) * CHANNELS,
      );
      position += frames;
      if (part.length > 0) await encoder.stdin.write(toSampleBytes(part));
    }
    await encoder.stdin.end();
    const bytes = await encoded;
    for (const outcome of await Promise.all([decoder.outcome, encoder.outcome])) {
      signal?.throwIfAborted();
      if (!outcome.ok) throw toFfmpegError(outcome);
    }
    return bytes;
  } finally {
    await Promise.all([decoder.kill(), encoder.kill()]);
  }
}

function findContextStart(from: number, voiceless: readonly Span[]): number {
  const start = Math.max(0, from - CONTEXT_SECONDS);
  const span = voiceless[indexEndingAfter(voiceless, fromSeconds(start))];
  const earlier = span === undefined ? start : Math.max(0, toSeconds(span.start) - CONTEXT_SECONDS);
  return earlier < start && from - earlier <= MAX_CONTEXT_SECONDS ? earlier : start;
}
