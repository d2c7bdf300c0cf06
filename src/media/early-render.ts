/**
 * Starts the parts of a render that do not depend on its plan: somebody waits for a command, and one core is idle while
 * speech is recognized. Which render takes them, and whether one does, makes no difference to its output.
 */
import type { RenderRequest } from "../domain/media";
import { TICKS_PER_SECOND } from "../domain/time";
import { type AudioDecoder, startAudioDecoder } from "./audio-render";
import type { AudioFormat } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import { chooseProcessedFormat } from "./leveled-audio";
import { openSmartSource, type SmartSource } from "./smart/source";

/** What was started. Each method returns its part once, to one render with the request that it was started for. */
export type EarlyRender = {
  /** Returns the opened source; null if it was not opened. Errors: those of `openSmartSource`. */
  takeSource(): Promise<SmartSource> | null;
  /** Returns a decoder of this format that has decoded some samples; null if there is none. */
  takeDecoder(format: AudioFormat): AudioDecoder | null;
};

/** Bytes of the samples that are decoded in advance, all or none: five minutes of stereo. */
const MAX_DECODED_BYTES = 128 * 1024 ** 2;

type EarlyRequest = Pick<RenderRequest, "sourcePath" | "probed" | "output">;

/** Starts the parts. They end with this process if no render takes them. */
export function startEarlyRender(request: EarlyRequest, ffmpeg: Ffmpeg): EarlyRender {
  const { sourcePath, probed, output } = request;
  let source = output.video !== null && output.matchesSource ? openSmartSource(sourcePath, probed) : null;
  // The render that takes it reports the error.
  source?.catch(() => {});
  let decoding = output.audio === null ? null : startDecoder(request, ffmpeg);
  return {
    takeSource: () => {
      const taken = source;
      source = null;
      return taken;
    },
    takeDecoder: ({ sampleRate, channels }) => {
      if (decoding?.format.sampleRate !== sampleRate || decoding.format.channels !== channels) return null;
      const { decoder } = decoding;
      decoding = null;
      return decoder;
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
  return { format, decoder: { ...decoder, stdout: decoder.stdout.pipeThrough(buffer) } };
}
