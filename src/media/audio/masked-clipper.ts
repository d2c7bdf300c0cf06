/**
 * Turns down single peaks for which a limiter would change whole periods of a voice: removes the part above a ceiling,
 * but in each band of hearing (Bark) only as much as the louder sound around it masks. Some samples still exceed the
 * ceiling a little, for a limiter behind it. Samples outside of blocks with a peak above the ceiling stay exactly as
 * they are.
 */
import { RealFft, type Spectrum } from "../../lib/real-fft";
import { joinSamples, type SampleProcessor } from "./sink";

/** Duration of a block. Blocks overlap by half. */
const BLOCK_SECONDS = 0.0214;
/** Minimum distance of the removed part below the sound around it, in decibels. */
const MARGIN_DB = 8;
/** Masking falls by this much for each Bark above and below a sound. */
const FALL_ABOVE_DB = 12;
const FALL_BELOW_DB = 27;
const BANDS = 25;
/** Maximum number of passes. Parts that masking does not allow to be removed are removed elsewhere in the next pass. */
const MAX_PASSES = 6;

const toBark = (hertz: number): number => 13 * Math.atan(0.00076 * hertz) + 3.5 * Math.atan((hertz / 7_500) ** 2);

/** Factors from the energy of a band (rows) to the energy that it masks in each band. */
const MASKING = Float64Array.from({ length: BANDS * BANDS }, (_, n) => {
  const distance = (n % BANDS) - Math.floor(n / BANDS);
  const fall = distance > 0 ? distance * FALL_ABOVE_DB : -distance * FALL_BELOW_DB;
  return 10 ** (-(fall + MARGIN_DB) / 10);
});

/** Works in frames: one sample of each channel. */
export class MaskedClipper implements SampleProcessor {
  private readonly size: number;
  private readonly hop: number;
  private readonly window: Float64Array;
  private readonly fft: RealFft;
  private readonly bandOfBin: Uint8Array;
  /** Frames from the start of the next block on: as they came, and as far as they are clipped. */
  private samples: Float32Array;
  private clipped: Float32Array;
  /** Frames that are still to be dropped: the silence before the first one. */
  private skipped: number;
  private readonly block: Float64Array;
  private readonly change: Float64Array;
  private readonly spectrum: Spectrum;
  private readonly energies = new Float64Array(BANDS);
  private readonly maxEnergies = new Float64Array(BANDS);
  private readonly factors = new Float64Array(BANDS);

  constructor(
    private readonly ceiling: number,
    private readonly format: { sampleRate: number; channels: number },
  ) {
    const { sampleRate, channels } = format;
    this.size = 2 ** Math.max(5, Math.round(Math.log2(BLOCK_SECONDS * sampleRate)));
    this.hop = this.size / 2;
    this.window = Float64Array.from({ length: this.size }, (_, n) => Math.sin((Math.PI * (n + 0.5)) / this.size));
    this.fft = new RealFft(this.size);
    this.bandOfBin = Uint8Array.from({ length: this.hop + 1 }, (_, bin) =>
      Math.min(BANDS - 1, Math.floor(toBark((bin * sampleRate) / this.size))),
    );
    this.samples = new Float32Array(this.hop * channels);
    this.clipped = this.samples.slice();
    this.skipped = this.hop;
    this.block = new Float64Array(this.size);
    this.change = new Float64Array(this.size);
    this.spectrum = this.fft.createSpectrum();
  }

  /** Takes interleaved samples, and returns those that are ready. */
  take(samples: Float32Array): Float32Array {
    const { channels } = this.format;
    this.samples = joinSamples(this.samples, samples);
    this.clipped = joinSamples(this.clipped, samples);
    const frames = this.samples.length / channels;
    let at = 0;
    for (; at + this.size <= frames; at += this.hop)
      for (let channel = 0; channel < channels; channel++) this.clip(at, channel);
    const skipped = Math.min(at, this.skipped);
    this.skipped -= skipped;
    const ready = this.clipped.slice(skipped * channels, at * channels);
    this.samples = this.samples.slice(at * channels);
    this.clipped = this.clipped.slice(at * channels);
    return ready;
  }

  /** Returns the rest. */
  finish(): Float32Array {
    const { channels } = this.format;
    const left = this.samples.length - this.skipped * channels;
    return this.take(new Float32Array(2 * this.size * channels)).subarray(0, left);
  }

  private clip(at: number, channel: number): void {
    const { ceiling, size, window, block, change, clipped } = this;
    const { channels } = this.format;
    const first = at * channels + channel;
    let peak = 0;
    for (let n = 0, from = first; n < size; n++, from += channels) {
      const sample = this.samples[from]!;
      block[n] = sample * window[n]!;
      peak = Math.max(peak, Math.abs(sample));
    }
    if (!(peak > ceiling) || !Number.isFinite(peak)) return;
    this.measureMasking();
    change.fill(0);
    for (let pass = 0; pass < MAX_PASSES && this.findExcess(); pass++) this.limitChange();
    for (let n = 0, to = first; n < size; n++, to += channels) clipped[to]! += change[n]! * window[n]!;
  }

  /** Finds how much the change may be in each band. */
  private measureMasking(): void {
    const { energies, maxEnergies } = this;
    this.fft.transform(this.block, this.spectrum);
    this.sumEnergies();
    maxEnergies.fill(0);
    for (let from = 0; from < BANDS; from++)
      for (let to = 0; to < BANDS; to++) maxEnergies[to]! += energies[from]! * MASKING[from * BANDS + to]!;
  }

  private sumEnergies(): void {
    const { energies, bandOfBin } = this;
    const { re, im } = this.spectrum;
    energies.fill(0);
    for (let bin = 0; bin < re.length; bin++) energies[bandOfBin[bin]!]! += re[bin]! ** 2 + im[bin]! ** 2;
  }

  /** Adds to the change whatever still exceeds the ceiling. Returns whether anything does. */
  private findExcess(): boolean {
    const { ceiling, block, change, window, size } = this;
    let isFound = false;
    for (let n = 0; n < size; n++) {
      const limit = ceiling * window[n]!;
      const excess = Math.abs(block[n]! + change[n]!) - limit;
      if (excess <= 0) continue;
      isFound = true;
      change[n]! -= block[n]! + change[n]! > 0 ? excess : -excess;
    }
    return isFound;
  }

  /** Reduces the change to the masked part. */
  private limitChange(): void {
    const { energies, maxEnergies, factors, bandOfBin, change, spectrum } = this;
    this.fft.transform(change, spectrum);
    this.sumEnergies();
    for (let band = 0; band < BANDS; band++)
      factors[band] = energies[band]! > maxEnergies[band]! ? Math.sqrt(maxEnergies[band]! / energies[band]!) : 1;
    const { re, im } = spectrum;
    for (let bin = 0; bin < re.length; bin++) {
      const factor = factors[bandOfBin[bin]!]!;
      re[bin]! *= factor;
      im[bin]! *= factor;
    }
    this.fft.invert(spectrum, change);
  }
}
