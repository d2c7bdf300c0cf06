/**
 * Applies one gain to all samples, and turns down the peaks that would exceed a ceiling. The reduction starts before
 * the peak, so that no sample is clipped, and ends slowly. Without true
 * peaks above it, every sample is multiplied by the same number.
 */
import { STEPS_PER_SECOND } from "../../domain/loudness";
import { joinSamples, type SampleProcessor } from "./sink";
import { createInterpolation, findTruePeak, type Interpolation } from "./true-peak";

export type Level = {
  /** Factor of all samples. */
  gain: number;
  /** Maximum true peak, from 0 to 1. */
  ceiling: number;
  /** Factors of the ceiling, one for each 100 ms. */
  lowered?: Float32Array | null;
};

/** Time before a peak at which the reduction starts. */
const LOOKAHEAD_SECONDS = 0.005;
/** After this time, a reduction has ended to about two thirds. */
export const RELEASE_SECONDS = 0.05;

/** Works in frames: one sample of each channel. */
export class Limiter implements SampleProcessor {
  private readonly channels: number;
  private readonly lookahead: number;
  private readonly release: number;
  /** Frames with the gain: `taps` that have been returned, then those that have not. */
  private buffer: Float32Array;
  /** The factor that each frame in the buffer needs, as far as it is known: from its first frame on. */
  private needs = new Float32Array(0);
  /** The reduction without smoothing, and its latest values, whose mean is applied. */
  private reduction = 1;
  private readonly recent: Float32Array;
  private recentAt = 0;
  private recentSum: number;
  private hasStarted = false;
  /** Frames whose need is known, and the number of frames for each factor of the ceiling. */
  private position = 0;
  private readonly stepFrames: number;
  private readonly interpolation: Interpolation;

  constructor(
    private readonly level: Level,
    { sampleRate, channels }: { sampleRate: number; channels: number },
  ) {
    this.channels = channels;
    this.stepFrames = sampleRate / STEPS_PER_SECOND;
    this.lookahead = Math.max(1, Math.round(LOOKAHEAD_SECONDS * sampleRate));
    this.release = 1 - Math.exp(-1 / (RELEASE_SECONDS * sampleRate));
    this.interpolation = createInterpolation(sampleRate);
    const { taps } = this.interpolation;
    this.buffer = new Float32Array(taps * channels);
    this.needs = new Float32Array(taps).fill(1);
    this.recent = new Float32Array(this.lookahead + 1).fill(1);
    this.recentSum = this.recent.length;
  }

  /** Takes interleaved samples, and returns those that are ready. */
  take(samples: Float32Array): Float32Array {
    const joined = joinSamples(this.buffer, samples);
    for (let at = this.buffer.length; at < joined.length; at++) joined[at]! *= this.level.gain;
    return this.run(joined, this.lookahead + this.interpolation.taps);
  }

  /** Returns the rest. */
  finish(): Float32Array {
    const held = this.lookahead + this.interpolation.taps;
    return this.run(joinSamples(this.buffer, new Float32Array(held * this.channels)), held);
  }

  /** Returns all frames of the buffer but the `held` last ones. */
  private run(joined: Float32Array, held: number): Float32Array {
    const { channels } = this;
    const { taps } = this.interpolation;
    const frames = joined.length / channels;
    const needs = new Float32Array(Math.max(this.needs.length, frames - taps));
    needs.set(this.needs);
    const { ceiling, lowered = null } = this.level;
    for (let frame = this.needs.length; frame < needs.length; frame++, this.position++) {
      const factor = lowered === null ? 1 : (lowered[Math.floor(this.position / this.stepFrames)] ?? 1);
      needs[frame] = this.findNeed(joined, frame, ceiling * factor);
    }
    const ready = Math.max(0, frames - held - taps);
    const output = joined.slice(taps * channels, (taps + ready) * channels);
    this.reduce(output, needs, ready);
    this.buffer = joined.slice(ready * channels);
    this.needs = needs.slice(ready);
    return output;
  }

  /** Returns the factor with which neither a frame nor the positions up to the next one exceed the ceiling. */
  private findNeed(frames: Float32Array, frame: number, ceiling: number): number {
    const { channels } = this;
    let peak = 0;
    for (let at = frame * channels; at < (frame + 1) * channels; at++) {
      const found = findTruePeak(this.interpolation, frames, at, channels, ceiling);
      if (found > peak) peak = found;
    }
    return peak > ceiling ? ceiling / peak : 1;
  }

  /** Multiplies the output. The first frame of `needs` that belongs to it is `taps`. */
  private reduce(output: Float32Array, needs: Float32Array, ready: number): void {
    const { channels, lookahead, recent } = this;
    const { taps } = this.interpolation;
    // A peak in the first frames has none before it in which the reduction could start.
    if (!this.hasStarted && ready > 0) {
      this.hasStarted = true;
      this.reduction = needs.subarray(taps, taps + lookahead + 1).reduce((least, need) => Math.min(least, need), 1);
      recent.fill(this.reduction);
      this.recentSum = recent.reduce((sum, value) => sum + value, 0);
    }
    // The frames in which the least factor of the next `lookahead` frames may be, ascending in time and factor.
    const queue = new Int32Array(ready + lookahead + 1);
    let [first, end, seen] = [0, 0, taps];
    for (let frame = 0; frame < ready; frame++) {
      const until = taps + frame + lookahead;
      for (; seen <= until; seen++) {
        while (end > first && needs[queue[end - 1]!]! >= needs[seen]!) end--;
        queue[end++] = seen;
      }
      while (queue[first]! < taps + frame) first++;
      const least = needs[queue[first]!]!;
      this.reduction = least < this.reduction ? least : this.reduction + (least - this.reduction) * this.release;
      // Close to 1, so that samples without reduction stay exact.
      if (least === 1 && this.reduction > 0.99999) this.reduction = 1;
      this.recentSum += this.reduction - recent[this.recentAt]!;
      recent[this.recentAt] = this.reduction;
      this.recentAt = (this.recentAt + 1) % recent.length;
      const factor = Math.min(1, this.recentSum / recent.length);
      if (factor < 1)
        for (let channel = 0; channel < channels; channel++) output[frame * channels + channel]! *= factor;
    }
  }
}
