/** Measures the loudness of samples in steps (ITU-R BS.1770-4): the energy behind the K-weighting, and true peaks. */
import { type LoudnessSteps, STEPS_PER_SECOND } from "../../domain/loudness";
import type { AudioFormat } from "../encoder-arguments";
import { type AudioSink, createMeterSink, joinSamples } from "./sink";
import { createInterpolation, findTruePeak, type Interpolation, PRUNED_SHARE } from "./true-peak";

/**
 * Weights of the channels of 5.1 and 7.1 in ffmpeg's order: the one for low frequencies does not count, those behind
 * count more.
 */
const SURROUND_WEIGHTS = [1, 1, 1, 0, 1.41, 1.41, 1.41, 1.41];

type Biquad = { b0: number; b1: number; b2: number; a1: number; a2: number };

/** The head of a listener raises high frequencies. */
function createTrebleBoost(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 1_681.974450955533) / sampleRate);
  const q = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b0: (high + (band * k) / q + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (band * k) / q + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / q + k * k) / a0,
  };
}

function createHighpass(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const q = 0.5003270373238773;
  const a0 = 1 + k / q + k * k;
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / q + k * k) / a0 };
}

/** Smaller states are 0: processors are slow with numbers that are close to it. */
const MIN_STATE = 1e-15;

/** The two filters of a channel. */
class Weighting {
  private readonly state = new Float64Array(4);

  constructor(
    private readonly treble: Biquad,
    private readonly highpass: Biquad,
  ) {}

  /** Continues where another channel is, which had the same samples. */
  continueFrom({ state }: Weighting): void {
    this.state.set(state);
  }

  /** Returns the sum of squares of the filtered samples from `from` to `to` of a channel. */
  sumSquares(samples: Float32Array, from: number, to: number, channels: number): number {
    const { state, treble, highpass } = this;
    // Taking them apart with an iterator would take as long as the filters.
    let s1 = state[0]!;
    let s2 = state[1]!;
    let h1 = state[2]!;
    let h2 = state[3]!;
    let sum = 0;
    for (let at = from; at < to; at += channels) {
      const x = samples[at]!;
      const y = treble.b0 * x + s1;
      s1 = treble.b1 * x - treble.a1 * y + s2;
      s2 = treble.b2 * x - treble.a2 * y;
      const z = y + h1;
      h1 = h2 - 2 * y - highpass.a1 * z;
      h2 = y - highpass.a2 * z;
      sum += z * z;
    }
    // A damaged sample would make every later one unknown.
    const isBroken = !Number.isFinite(sum);
    const toState = (value: number) => (isBroken || Math.abs(value) < MIN_STATE ? 0 : value);
    state[0] = toState(s1);
    state[1] = toState(s2);
    state[2] = toState(h1);
    state[3] = toState(h2);
    return isBroken ? 0 : sum;
  }
}

const INITIAL_STEPS = 1_024;

export class StepMeter {
  private readonly channels: number;
  private readonly sampleRate: number;
  private readonly weights: number[];
  private readonly weightings: Weighting[];
  private energies = new Float32Array(INITIAL_STEPS);
  private peaks = new Float32Array(INITIAL_STEPS);
  private count = 0;
  /** Sum, peak and number of frames of the incomplete step. */
  private sum = 0;
  private peak = 0;
  private frames = 0;
  private position = 0;
  /** The last frames, which the interpolation needs. */
  private tail: Float32Array;
  private readonly interpolation: Interpolation;
  /** Whether both channels have been identical up to now, as with one microphone: one of them is measured. */
  private isDualMono: boolean;

  constructor(
    { sampleRate, channels }: AudioFormat,
    private readonly stepsPerSecond = STEPS_PER_SECOND,
  ) {
    this.channels = channels;
    this.sampleRate = sampleRate;
    this.weights = Array.from({ length: channels }, (_, n) => (channels >= 6 ? (SURROUND_WEIGHTS[n] ?? 1) : 1));
    const [treble, highpass] = [createTrebleBoost(sampleRate), createHighpass(sampleRate)];
    this.weightings = this.weights.map(() => new Weighting(treble, highpass));
    this.interpolation = createInterpolation(sampleRate);
    this.isDualMono = channels === 2;
    this.tail = new Float32Array(2 * this.interpolation.taps * channels);
  }

  /** Takes interleaved samples. */
  take(samples: Float32Array): void {
    const { channels, tail } = this;
    const joined = joinSamples(tail, samples);
    for (let at = tail.length; at < joined.length; ) {
      const left = this.getStepEnd() - this.position;
      const until = Math.min(joined.length, at + left * channels);
      this.add(joined, at, until);
      this.position += (until - at) / channels;
      this.frames += (until - at) / channels;
      at = until;
      if (this.position === this.getStepEnd()) this.close();
    }
    this.tail = joined.slice(joined.length - tail.length);
  }

  /** Returns the steps. The last one may be shorter, and has the energy of a whole one. */
  finish(): LoudnessSteps {
    // The peaks of the last frames.
    if (this.frames > 0 || this.count > 0) {
      const joined = joinSamples(this.tail, new Float32Array(this.interpolation.taps * this.channels));
      const peak = this.findPeak(joined, this.tail.length, joined.length);
      if (this.frames > 0) this.peak = Math.max(this.peak, peak);
      else this.peaks[this.count - 1] = Math.max(this.peaks[this.count - 1]!, peak);
    }
    if (this.frames > 0) this.close();
    return { energies: this.energies.slice(0, this.count), peaks: this.peaks.slice(0, this.count) };
  }

  private getStepEnd(): number {
    return Math.round(((this.count + 1) * this.sampleRate) / this.stepsPerSecond);
  }

  private add(samples: Float32Array, from: number, to: number): void {
    const { weights, weightings, channels } = this;
    if (this.isDualMono && !hasIdenticalPairs(samples, from, to)) {
      this.isDualMono = false;
      weightings[1]!.continueFrom(weightings[0]!);
    }
    if (this.isDualMono) this.sum += 2 * weightings[0]!.sumSquares(samples, from, to, channels);
    else
      for (const [n, weight] of weights.entries())
        if (weight > 0) this.sum += weight * weightings[n]!.sumSquares(samples, from + n, to, channels);
    this.peak = Math.max(this.peak, this.findPeak(samples, from, to));
  }

  /** Returns the peak `taps` frames before those from `from` to `to`. */
  private findPeak(samples: Float32Array, from: number, to: number): number {
    const { channels, interpolation } = this;
    const lag = interpolation.taps * channels;
    let peak = this.peak;
    let [here, next] = [0, 0];
    const stride = this.isDualMono ? channels : 1;
    for (let at = from - lag; at < to - lag; at += stride) {
      here = Math.abs(samples[at]!);
      next = Math.abs(samples[at + channels]!);
      // The same test as in `findTruePeak`, without a call for most samples.
      if (here <= peak * PRUNED_SHARE && next <= peak * PRUNED_SHARE) continue;
      const found = findTruePeak(interpolation, samples, at, channels, peak);
      if (found > peak) peak = found;
    }
    return Number.isFinite(peak) ? peak : 0;
  }

  private close(): void {
    if (this.count === this.peaks.length) {
      this.energies = joinSamples(this.energies, new Float32Array(this.count));
      this.peaks = joinSamples(this.peaks, new Float32Array(this.count));
    }
    this.energies[this.count] = this.sum / this.frames;
    this.peaks[this.count++] = this.peak;
    [this.sum, this.peak, this.frames] = [0, 0, 0];
  }
}

function hasIdenticalPairs(samples: Float32Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 2) if (samples[at] !== samples[at + 1]) return false;
  return true;
}

/** Returns a sink that measures its samples. `read` returns the steps after `end`. */
export function createStepMeter(format: AudioFormat, stepsPerSecond: number): AudioSink & { read(): LoudnessSteps } {
  const meter = new StepMeter(format, stepsPerSecond);
  return createMeterSink(
    (samples) => meter.take(samples),
    () => meter.finish(),
  );
}
