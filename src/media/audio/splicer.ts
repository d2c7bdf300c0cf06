/**
 * Splices the audio of a cut, exact to the sample, in process. Splices are equal-power crossfades with material from
 * beyond both edges, so they do not change the duration. Memory use does not depend on the duration of the source.
 */
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import type { ChildStdin } from "../../lib/process";

/** A kept segment on the source's clock, and its position in the output. */
export type AudioSegment = { start: Ticks; end: Ticks; outputStart: Ticks; outputEnd: Ticks };

/** Duration of the crossfade at a splice. */
export const CROSSFADE_TICKS: Ticks = 20_000;
/** Duration of the fade where the output starts or ends in the middle of the source. */
const EDGE_FADE_TICKS: Ticks = 4_000;

export type SpliceAudioOptions = {
  /** Interleaved 32-bit float samples, starting at time 0 of the source's clock. */
  input: AsyncIterable<Uint8Array>;
  output: Pick<ChildStdin, "write">;
  sampleRate: number;
  channels: number;
  /** Sorted and disjoint, in the source and in the output; without gaps in the output. */
  segments: readonly AudioSegment[];
  /** Called with the position in the source. */
  onPosition?: ((position: Ticks) => void) | undefined;
};

/**
 * Reads until the last segment is complete. A source that ends early is padded with silence. `written` is the number of
 * samples per channel, exactly the duration of the output. `sourceEnded` is true if the input was read to its end.
 */
export async function spliceAudio(options: SpliceAudioOptions): Promise<{ written: number; sourceEnded: boolean }> {
  const { sampleRate, channels } = options;
  const ranges = toSampleRanges(options.segments, sampleRate);
  const splicer = new AudioSplicer(ranges, channels, options.output);
  let position = 0;
  for await (const samples of readWholeSamples(options.input, channels)) {
    await splicer.take(position, samples);
    position += samples.length / channels;
    options.onPosition?.(Math.round((position * TICKS_PER_SECOND) / sampleRate));
    if (splicer.isComplete()) break;
  }
  const sourceEnded = !splicer.isComplete();
  return { written: await splicer.finish(), sourceEnded };
}

/** A segment in samples. `fadeIn` and `fadeOut` are half crossfades: how far it extends beyond its edges. */
export type SampleRange = {
  from: number;
  to: number;
  fadeIn: number;
  fadeOut: number;
  edgeIn: number;
  edgeOut: number;
};

/** Converts segments to samples. Output positions are rounded once, so that rounding errors do not accumulate. */
export function toSampleRanges(segments: readonly AudioSegment[], sampleRate: number): SampleRange[] {
  const toSample = (ticks: Ticks) => Math.round((ticks * sampleRate) / TICKS_PER_SECOND);
  const ranges = segments.map((segment) => {
    const from = toSample(segment.start);
    const length = toSample(segment.outputEnd) - toSample(segment.outputStart);
    return { from, to: from + length, fadeIn: 0, fadeOut: 0, edgeIn: 0, edgeOut: 0 };
  });
  for (let n = 1; n < ranges.length; n++) {
    const [before, after] = [ranges[n - 1]!, ranges[n]!];
    const limits = [after.from - before.to, before.to - before.from, after.to - after.from].map((size) => size >> 1);
    const halfCrossfade = Math.max(0, Math.min(toSample(CROSSFADE_TICKS) >> 1, ...limits));
    before.fadeOut = halfCrossfade;
    after.fadeIn = halfCrossfade;
  }
  const first = ranges[0];
  const last = ranges.at(-1);
  const edgeFade = toSample(EDGE_FADE_TICKS);
  if (first !== undefined && first.from > 0) first.edgeIn = Math.min(edgeFade, (first.to - first.from) >> 1);
  if (last !== undefined) last.edgeOut = Math.min(edgeFade, (last.to - last.from) >> 1);
  return ranges;
}

/** Samples of each written block but the last one. Whole AAC packets. */
export const BLOCK_SAMPLES = 32_768;

/** Takes the source's samples in order, keeps those of the ranges, crossfades, and writes blocks. */
class AudioSplicer {
  private next = 0;
  /** Source position up to which the current range has been taken. */
  private taken: number;
  private tail = new Float32Array(0);
  private nextTail = new Float32Array(0);
  private block: Float32Array<ArrayBuffer>;
  private filled = 0;
  private written = 0;

  constructor(
    private readonly ranges: readonly SampleRange[],
    private readonly channels: number,
    private readonly output: Pick<ChildStdin, "write">,
  ) {
    this.block = new Float32Array(BLOCK_SAMPLES * channels);
    this.taken = Number.NEGATIVE_INFINITY;
  }

  isComplete(): boolean {
    return this.next >= this.ranges.length;
  }

  async take(position: number, samples: Float32Array): Promise<void> {
    const end = position + samples.length / this.channels;
    for (; this.next < this.ranges.length; this.next++) {
      const range = this.ranges[this.next]!;
      const start = Math.max(range.from - range.fadeIn, this.taken);
      // Before the source's first sample there is silence.
      if (start < position) await this.silence(range, start, Math.min(position, range.to + range.fadeOut));
      const from = Math.max(start, position);
      const to = Math.min(range.to + range.fadeOut, end);
      if (from < to) await this.add(range, from, samples, (from - position) * this.channels, to - from);
      if (range.to + range.fadeOut > end) return;
      this.close(range);
    }
  }

  /** Pads the missing end of the source with silence, and writes the last block. */
  async finish(): Promise<number> {
    for (; this.next < this.ranges.length; this.next++) {
      const range = this.ranges[this.next]!;
      await this.silence(range, Math.max(range.from - range.fadeIn, this.taken), range.to + range.fadeOut);
      this.close(range);
    }
    await this.flush();
    return this.written;
  }

  private async silence(range: SampleRange, from: number, to: number): Promise<void> {
    const zeros = new Float32Array(BLOCK_SAMPLES * this.channels);
    for (let at = from; at < to; at += BLOCK_SAMPLES)
      await this.add(range, at, zeros, 0, Math.min(BLOCK_SAMPLES, to - at));
  }

  private close(range: SampleRange): void {
    this.tail = this.nextTail;
    this.nextTail = new Float32Array(0);
    this.taken = range.to + range.fadeOut;
  }

  /** Takes `count` samples at `at`, in up to three steps: crossfaded, unchanged, and kept for the next splice. */
  private async add(
    range: SampleRange,
    at: number,
    samples: Float32Array,
    offset: number,
    count: number,
  ): Promise<void> {
    this.taken = at + count;
    const { channels } = this;
    if (this.nextTail.length === 0 && range.fadeOut > 0) this.nextTail = new Float32Array(2 * range.fadeOut * channels);
    const middleFrom = range.from + range.fadeIn;
    const middleTo = range.to - range.fadeOut;
    for (let n = 0; n < count; ) {
      const position = at + n;
      const source = offset + n * channels;
      if (position >= middleTo) {
        this.keep(range, position - middleTo, samples.subarray(source, source + (count - n) * channels));
        return;
      }
      const available = BLOCK_SAMPLES - this.filled;
      const until = position < middleFrom ? middleFrom : middleTo;
      const length = Math.min(count - n, available, until - position);
      const target = this.block.subarray(this.filled * channels, (this.filled + length) * channels);
      target.set(samples.subarray(source, source + length * channels));
      if (position < middleFrom) this.blendIn(range, position - (range.from - range.fadeIn), target);
      this.fadeEdges(range, position, target);
      this.filled += length;
      n += length;
      if (this.filled === BLOCK_SAMPLES) await this.flush();
    }
  }

  private blendIn(range: SampleRange, at: number, target: Float32Array): void {
    const { channels, tail } = this;
    const step = Math.PI / 2 / (2 * range.fadeIn);
    for (let n = 0; n < target.length; at++) {
      const gain = Math.sin((at + 0.5) * step);
      for (let c = 0; c < channels; c++, n++) target[n] = target[n]! * gain + (tail[at * channels + c] ?? 0);
    }
  }

  private keep(range: SampleRange, at: number, samples: Float32Array): void {
    const { channels, nextTail } = this;
    const step = Math.PI / 2 / (2 * range.fadeOut);
    for (let n = 0; n < samples.length; at++) {
      const gain = Math.cos((at + 0.5) * step);
      for (let c = 0; c < channels; c++, n++) nextTail[at * channels + c] = samples[n]! * gain;
    }
  }

  private fadeEdges(range: SampleRange, position: number, target: Float32Array): void {
    const { channels } = this;
    const count = target.length / channels;
    const ramp = (first: number, last: number, gainAt: (at: number) => number) => {
      for (let at = Math.max(position, first); at < Math.min(position + count, last); at++)
        for (let c = 0; c < channels; c++) target[(at - position) * channels + c]! *= gainAt(at);
    };
    ramp(range.from, range.from + range.edgeIn, (at) => (at - range.from + 0.5) / range.edgeIn);
    ramp(range.to - range.edgeOut, range.to, (at) => (range.to - at - 0.5) / range.edgeOut);
  }

  private async flush(): Promise<void> {
    if (this.filled === 0) return;
    const { block } = this;
    const size = 4 * this.filled * this.channels;
    this.written += this.filled;
    this.filled = 0;
    // The receiver may keep the buffer.
    this.block = new Float32Array(block.length);
    await this.output.write(new Uint8Array(block.buffer, 0, size));
  }
}

/** Regroups bytes into blocks of whole samples. */
export async function* readWholeSamples(
  input: AsyncIterable<Uint8Array>,
  channels: number,
): AsyncGenerator<Float32Array> {
  const size = 4 * channels;
  let rest = new Uint8Array(0);
  for await (const bytes of input) {
    // The common case: no copy is needed.
    if (rest.length === 0 && bytes.byteOffset % 4 === 0 && bytes.length % size === 0) {
      if (bytes.length > 0) yield new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
      continue;
    }
    const joined = Bun.concatArrayBuffers([rest, bytes], Number.POSITIVE_INFINITY, true);
    const whole = joined.length - (joined.length % size);
    rest = joined.slice(whole);
    if (whole > 0) yield new Float32Array(joined.buffer, 0, whole / 4);
  }
}
