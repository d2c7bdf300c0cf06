/** Brings samples to a level: one gain, a limiter for peaks, and for high levels a clipper before it. */
import { createHighpass, toSample } from "./highpass";
import { type Level, Limiter } from "./limiter";
import { MaskedClipper } from "./masked-clipper";
import { type AudioSink, processInto, type SampleProcessor } from "./sink";

/**
 * With `isClipped`, the limiter lets peaks exceed the ceiling by `CLIPPED_DB`, and the clipper turns down the rest of
 * them.
 */
export type OutputLevel = Level & { isClipped?: boolean };

/** Maximum reduction by the clipper, in decibels. */
export const CLIPPED_DB = 6;
const CLIPPED_FACTOR = 10 ** (CLIPPED_DB / 20);
/** Lower frequencies and a constant offset are inaudible, but they add to peaks. */
const HIGHPASS_HZ = 20;

/** Returns a sink in front of `sink`. It passes on as many samples as it receives. */
export function createLeveler(
  sink: AudioSink,
  { isClipped = false, ...level }: OutputLevel,
  format: { sampleRate: number; channels: number },
): AudioSink {
  const { gain, ceiling } = level;
  if (!isClipped) return processInto(sink, new Limiter(level, format));
  const limited = processInto(sink, new Limiter({ ...level, gain: 1 }, format));
  const clipped = processInto(limited, new MaskedClipper(ceiling, format));
  const loud = processInto(clipped, new Limiter({ gain, ceiling: ceiling * CLIPPED_FACTOR }, format));
  return processInto(loud, createHighpasses(format));
}

/** Filters each channel. */
function createHighpasses({ sampleRate, channels }: { sampleRate: number; channels: number }): SampleProcessor {
  const filters = Array.from({ length: channels }, () => createHighpass(HIGHPASS_HZ, sampleRate));
  return {
    take(samples) {
      const output = new Float32Array(samples.length);
      for (const [channel, filter] of filters.entries()) {
        const own = new Float32Array(samples.length / channels);
        for (let n = 0, at = channel; n < own.length; n++, at += channels) own[n] = toSample(samples[at]!);
        filter(own);
        for (let n = 0, at = channel; n < own.length; n++, at += channels) output[at] = own[n]!;
      }
      return output;
    },
    finish: () => new Float32Array(0),
  };
}
