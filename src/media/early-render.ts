/**
 * Starts the parts of a render that do not depend on its plan: somebody waits for a command, and one core is idle while
 * speech is recognized. Which render takes them, and whether one does, makes no difference to its output.
 */
import type { RenderRequest } from "../domain/media";
import { getFrameCount, TICKS_PER_SECOND } from "../domain/time";
import { type AudioDecoder, startAudioDecoder } from "./audio-render";
import type { AudioFormat } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import { chooseProcessedFormat } from "./leveled-audio";
import { openSmartSource, type SmartSource } from "./smart/source";

/** What was started. Each method returns its part once, to one render with the request that it was started for. */
export type EarlyRender = {
  /** Returns the opened source; null if there is none, or it could not be opened. */
  takeSource(): Promise<SmartSource | null>;
  /** Returns a decoder of this format that has decoded some samples; null if there is none, or it has failed. */
  takeDecoder(format: AudioFormat): AudioDecoder | null;
};

/** Bytes of the samples that are decoded in advance, all or none: five minutes of stereo. */
const MAX_DECODED_BYTES = 128 * 1024 ** 2;
/** Frames of a source that is opened in advance: as much memory again, beside what planning needs. */
const MAX_OPENED_FRAMES = 180_000;

type EarlyRequest = Pick<RenderRequest, "sourcePath" | "probed" | "output">;

/** Starts the parts. They end with this process if no render takes them. */
export function startEarlyRender(request: EarlyRequest, ffmpeg: Ffmpeg): EarlyRender {
  const { sourcePath, probed, output } = request;
  const opens = output.video !== null && output.matchesSource && probed.frames !== null;
  let source: Promise<SmartSource | null> =
    opens && getFrameCount(probed.frames!) <= MAX_OPENED_FRAMES
      ? openSmartSource(sourcePath, probed).catch(() => null)
      : Promise.resolve(null);
  let decoding = output.audio === null ? null : startDecoder(request, ffmpeg);
  return {
    takeSource: () => {
      const taken = source;
      source = Promise.resolve(null);
      return taken;
    },
    takeDecoder: ({ sampleRate, channels }) => {
      if (decoding?.format.sampleRate !== sampleRate || decoding.format.channels !== channels) return null;
      const { decoder, hasFailed } = decoding;
      decoding = null;
      return hasFailed() ? null : decoder;
    },
  };
}

/** Returns null if the samples take too much memory: a decoder that waits could reach its time limit. */
function startDecoder({ sourcePath, probed, output }: EarlyRequest, ffmpeg: Ffmpeg) {
  const { bitrate, noiseReduction } = output.audio!;
  const format = chooseProcessedFormat({ format: output.format, probed, bitrate, noiseReduction });
  const bytes = (probed.info.duration / TICKS_PER_SECOND) * format.sampleRate * format.channels * 4;
  if (bytes > MAX_DECODED_BYTES) return null;
  const decoder = startAudioDecoder({ ffmpeg, path: sourcePath, probed, format: { ...format, encoding: "f32le" } });
  const buffer = new TransformStream<Uint8Array, Uint8Array>(
    undefined,
    undefined,
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_DECODED_BYTES }),
  );
  let hasFailed = false;
  void decoder.outcome.then(({ ok }) => {
    hasFailed = !ok;
  });
  return { format, hasFailed: () => hasFailed, decoder: { ...decoder, stdout: decoder.stdout.pipeThrough(buffer) } };
}
