/** Measures the energy contour of a cut, and applies the gains of its takes and voices. */
import { createEnergyMeter } from "../../domain/energy";
import type { SpeakerGain } from "../../domain/speaker-levels";
import { ENERGY_HOP, type EnergyContour } from "../../domain/speech";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import type { AudioFormat } from "../encoder-arguments";
import { type AudioSink, createMeterSink, toSampleBytes, toSamples } from "./sink";

/** Duration in which one gain changes to the next. */
const RAMP_TICKS: Ticks = 50_000;

/** Returns a sink that measures all channels together. `read` resolves to the contour after `end`. */
export function createContourMeter(
  { sampleRate, channels }: AudioFormat,
  seconds: number,
): AudioSink & { read(): EnergyContour } {
  const meter = createEnergyMeter(seconds * sampleRate, (ENERGY_HOP * sampleRate) / TICKS_PER_SECOND);
  const take = (samples: Float32Array) => {
    const levels = new Float32Array(samples.length / channels);
    for (let frame = 0, at = 0; frame < levels.length; frame++) {
      let sum = 0;
      for (let channel = 0; channel < channels; channel++, at++) sum += samples[at]! ** 2;
      // A damaged sample would make every level unknown.
      levels[frame] = Number.isFinite(sum) ? Math.sqrt(sum / channels) : 0;
    }
    meter.add(levels);
  };
  return createMeterSink(take, () => meter.contour());
}

/** Returns a sink that passes on the samples with the gains, as many as it receives. */
export function createSpeakerLeveler(
  sink: AudioSink,
  gains: readonly SpeakerGain[],
  { sampleRate, channels }: AudioFormat,
): AudioSink {
  const points = toPoints(gains, sampleRate);
  let position = 0;
  let next = 0;
  return {
    write: async (bytes) => {
      const samples = toSamples(bytes).slice();
      for (let at = 0; at < samples.length; ) {
        while (next < points.length && points[next]!.frame <= position) next++;
        const [before, after] = [points[next - 1] ?? points[next], points[next]];
        const until = Math.min(samples.length, after ? at + (after.frame - position) * channels : samples.length);
        const from = before?.factor ?? 1;
        const slope = before && after && after !== before ? (after.factor - from) / (after.frame - before.frame) : 0;
        let factor = from + slope * (position - (before?.frame ?? 0));
        position += (until - at) / channels;
        for (; at < until; factor += slope)
          for (let channel = 0; channel < channels; channel++, at++) samples[at]! *= factor;
      }
      await sink.write(toSampleBytes(samples));
    },
    end: () => sink.end(),
    abort: (error) => sink.abort(error),
  };
}

type Point = { frame: number; factor: number };

/**
 * Converts gains to the points between which the factor changes linearly. A ramp is shorter where a gain lasts less
 * than it.
 */
function toPoints(gains: readonly SpeakerGain[], sampleRate: number): Point[] {
  const toFrame = (ticks: Ticks) => Math.round((ticks * sampleRate) / TICKS_PER_SECOND);
  const toFactor = ({ gainDb }: SpeakerGain) => 10 ** (gainDb / 20);
  return gains.flatMap((gain, n): Point[] => {
    const before = gains[n - 1];
    if (before === undefined) return [{ frame: 0, factor: toFactor(gain) }];
    const half = Math.min(RAMP_TICKS, before.end - before.start, gain.end - gain.start) / 2;
    return [
      { frame: toFrame(gain.start - half), factor: toFactor(before) },
      { frame: toFrame(gain.start + half), factor: toFactor(gain) },
    ];
  });
}
