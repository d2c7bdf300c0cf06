/**
 * Reduces noise in the samples of a recording, in all of its channels, without changing their number or their times.
 * Speech keeps a share of the original, because recognition suffers where the model takes too much of it. Parts without
 * a voice for three seconds, such as music, stay as in the original. Without spans from the speech analysis, the model
 * decides where that is.
 */
import type { NoiseReduction } from "../../domain/media";
import { indexEndingAfter } from "../../domain/planning/spans";
import { fromSeconds, type Span, TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { findVoicelessSpans, VOICELESS_FADE, type VoiceActivity } from "../../domain/voice-activity";
import { createHighpass, type Highpass, toSample } from "./highpass";
import { type Denoiser, RNNOISE_FRAME, RNNOISE_RATE } from "./rnnoise";
import { joinSamples, toSampleBytes } from "./sink";
import { readWholeSamples } from "./splicer";

/** Shares of the original, in pauses and in speech. */
const ORIGINAL_SHARES: Record<NoiseReduction, { pause: number; speech: number }> = {
  light: { pause: 0.12, speech: 0.6 },
  strong: { pause: 0, speech: 0.3 },
};
const HIGHPASS_HZ = 70;

const FRAMES_PER_SECOND = RNNOISE_RATE / RNNOISE_FRAME;
/** Without a voice for this long, the original plays. */
const MIN_VOICELESS_FRAMES = 3 * FRAMES_PER_SECOND;
/** Around a voice, noise is reduced at least this long, so that the edges of a cut are as quiet as its pauses. */
const MARGIN_FRAMES = 0.5 * FRAMES_PER_SECOND;
/** Duration of the fade between the original and the reduced samples. */
const FADE_FRAMES = (VOICELESS_FADE / TICKS_PER_SECOND) * FRAMES_PER_SECOND;
/** Around these fades, the high-pass and the overlap of the model settle. */
const SETTLING: Ticks = VOICELESS_FADE + fromSeconds(0.1);
/** A voice has at least this mean probability over `VOICE_FRAMES`. Noise reaches it only for single frames. */
const VOICE_PROBABILITY = 0.5;
const VOICE_FRAMES = 20;
/** A single frame with it is mixed like speech. Noise reaches it rarely. */
const SPEECH_PROBABILITY = 0.8;
/** Frames around speech that are mixed like it, and the time until the mix has changed. */
const SPEECH_BEFORE = 5;
const SPEECH_AFTER = 15;
const SPEECH_FADE_FRAMES = 5;
/** The channel for low frequencies in 5.1 and 7.1, in which the model would find nothing but noise. */
const LOW_FREQUENCY_CHANNEL = 3;

type ChannelState = { denoiser: Denoiser | null; highpass: Highpass; isCopy: boolean };

/** Interleaved samples: `original`, `filtered` by the high-pass, and `reduced` by the model. */
type Frame = { original: Float32Array; filtered: Float32Array; reduced: Float32Array; voice: number };

export type NoiseReducerOptions = {
  mode: NoiseReduction;
  channels: number;
  createDenoiser: () => Denoiser;
  /** Null: the model decides. */
  voice: VoiceActivity | null;
  /** The time of the first sample. */
  start?: Ticks;
};

/** Yields as many samples as `input` has, later. They have the rate `RNNOISE_RATE`. */
export async function* reduceNoise(
  input: AsyncIterable<Uint8Array>,
  options: NoiseReducerOptions,
): AsyncGenerator<Uint8Array> {
  const reducer = new NoiseReducer(options);
  for await (const samples of readWholeSamples(input, options.channels)) {
    const ready = reducer.take(samples);
    if (ready.length > 0) yield toSampleBytes(ready);
  }
  yield toSampleBytes(reducer.finish());
}

export class NoiseReducer {
  private readonly channels: ChannelState[];
  private readonly shares: { pause: number; speech: number };
  private readonly width: number;
  /** Samples that do not fill a frame yet. */
  private rest = new Float32Array(0);
  /** Frames from number `first` on, the next one to be returned. */
  private frames: Frame[] = [];
  private first = 0;
  private readonly recent = new Float32Array(VOICE_FRAMES);
  private recentSum = 0;
  /** Frames with a voice before `first`, and those after it, ascending. -1: none. */
  private lastVoice = -1;
  private voices: number[] = [];
  private originalShare: number | null = null;
  private speechShare = 0;
  private lastSpeech = Number.NEGATIVE_INFINITY;
  private readonly mono = new Float32Array(RNNOISE_FRAME);
  private total = 0;
  private returned = 0;
  private readonly speech: readonly Span[];
  private readonly voiceless: readonly Span[] | null;
  private readonly start: Ticks;

  constructor({ mode, channels, createDenoiser, voice, start = 0 }: NoiseReducerOptions) {
    this.shares = ORIGINAL_SHARES[mode];
    this.speech = voice?.speech ?? [];
    this.voiceless = voice && findVoicelessSpans(voice);
    this.start = start;
    this.width = channels;
    const hasLowFrequencies = channels >= 6;
    this.channels = Array.from({ length: channels }, (_, n) => ({
      denoiser: hasLowFrequencies && n === LOW_FREQUENCY_CHANNEL ? null : createDenoiser(),
      highpass: createHighpass(HIGHPASS_HZ, RNNOISE_RATE),
      isCopy: n > 0,
    }));
  }

  /** Takes interleaved samples, and returns those that are ready. */
  take(samples: Float32Array): Float32Array {
    this.total += samples.length / this.width;
    this.add(samples);
    return this.join(this.voiceless === null ? MIN_VOICELESS_FRAMES + FADE_FRAMES : SPEECH_BEFORE + 1);
  }

  /** Returns the rest. */
  finish(): Float32Array {
    const size = RNNOISE_FRAME * this.width;
    // The last frame is filled up, and one more returns its output.
    this.add(new Float32Array((size - this.rest.length) % size));
    this.add(new Float32Array(size));
    const left = this.total - this.returned;
    return this.join(1).subarray(0, left * this.width);
  }

  private add(samples: Float32Array): void {
    const size = RNNOISE_FRAME * this.width;
    const joined = joinSamples(this.rest, samples);
    for (let at = this.rest.length; at < joined.length; at++) joined[at] = toSample(joined[at]!);
    let at = 0;
    for (; at + size <= joined.length; at += size) this.process(joined.slice(at, at + size));
    this.rest = joined.slice(at);
  }

  private process(original: Float32Array): void {
    const { width, mono } = this;
    if (this.isInVoiceless(this.first + this.frames.length, SETTLING)) {
      // The model would adapt to music.
      this.frames.push({ original, filtered: original, reduced: original, voice: 0 });
      return;
    }
    const filtered = new Float32Array(original.length);
    const reduced = new Float32Array(original.length);
    let probability = 0;
    for (const [n, channel] of this.channels.entries()) {
      channel.isCopy &&= isCopyOfFirst(original, n, width);
      if (channel.isCopy) {
        copyFirst(filtered, n, width);
        copyFirst(reduced, n, width);
        continue;
      }
      for (let at = n, k = 0; k < RNNOISE_FRAME; at += width, k++) mono[k] = original[at]!;
      if (channel.denoiser !== null) channel.highpass(mono);
      for (let at = n, k = 0; k < RNNOISE_FRAME; at += width, k++) filtered[at] = mono[k]!;
      if (channel.denoiser === null) continue;
      probability = Math.max(probability, channel.denoiser.process(mono));
      for (let at = n, k = 0; k < RNNOISE_FRAME; at += width, k++) reduced[at] = mono[k]!;
    }
    const before = this.frames.at(-1);
    if (before !== undefined) before.reduced = this.withLowFrequencies(reduced, before.original);
    this.frames.push({ original, filtered, reduced, voice: probability });
    this.detectVoice(probability);
  }

  /** The model leaves one channel alone. */
  private withLowFrequencies(reduced: Float32Array, original: Float32Array): Float32Array {
    for (const [n, { denoiser }] of this.channels.entries())
      if (denoiser === null) for (let at = n; at < reduced.length; at += this.width) reduced[at] = original[at]!;
    return reduced;
  }

  private detectVoice(probability: number): void {
    const frame = this.first + this.frames.length - 1;
    const at = frame % VOICE_FRAMES;
    this.recentSum += probability - this.recent[at]!;
    this.recent[at] = probability;
    if (this.voiceless === null && this.recentSum / VOICE_FRAMES >= VOICE_PROBABILITY) this.voices.push(frame);
  }

  /** Returns all frames but the `held` last ones. */
  private join(held: number): Float32Array {
    const count = Math.max(0, this.frames.length - held);
    const size = RNNOISE_FRAME * this.width;
    const output = new Float32Array(count * size);
    const isEnd = held === 1;
    for (let n = 0; n < count; n++) this.mix(n, output.subarray(n * size, (n + 1) * size), isEnd);
    this.frames.splice(0, count);
    this.first += count;
    this.returned += count * RNNOISE_FRAME;
    return output;
  }

  private mix(n: number, output: Float32Array, isEnd: boolean): void {
    const { original, filtered, reduced } = this.frames[n]!;
    const { pause, speech } = this.shares;
    const isOriginal = this.isVoiceless(this.first + n, isEnd);
    const wanted = isOriginal ? 1 : 0;
    const originalFrom = this.originalShare ?? wanted;
    const originalTo = approach(originalFrom, wanted, 1 / FADE_FRAMES);
    const speechFrom = this.speechShare;
    const speechTo = approach(speechFrom, this.isSpeech(n) ? 1 : 0, 1 / SPEECH_FADE_FRAMES);
    this.originalShare = originalTo;
    this.speechShare = speechTo;
    if (originalFrom === 1 && originalTo === 1) {
      output.set(original);
      return;
    }
    for (let k = 0, at = 0; k < RNNOISE_FRAME; k++) {
      const share = k / RNNOISE_FRAME;
      const kept = pause + (speech - pause) * (speechFrom + (speechTo - speechFrom) * share);
      const originalShare = originalFrom + (originalTo - originalFrom) * share;
      for (let channel = 0; channel < this.width; channel++, at++) {
        const mixed = reduced[at]! + kept * (filtered[at]! - reduced[at]!);
        output[at] = mixed + originalShare * (original[at]! - mixed);
      }
    }
  }

  /** Returns whether the frame is in a span without a voice that is long enough, and not close to its edges. */
  private isVoiceless(frame: number, isEnd: boolean): boolean {
    return this.voiceless === null ? this.seemsVoiceless(frame, isEnd) : this.isInVoiceless(frame, 0);
  }

  /** Returns whether the frame is in a span without a voice, at least this long after its start and before its end. */
  private isInVoiceless(frame: number, margin: Ticks): boolean {
    const spans = this.voiceless ?? [];
    const time = this.getTime(frame);
    const span = spans[indexEndingAfter(spans, time)];
    return span !== undefined && span.start + margin <= time && time < span.end - margin;
  }

  private getTime(frame: number): Ticks {
    return this.start + (frame * TICKS_PER_SECOND) / FRAMES_PER_SECOND;
  }

  /** Decides by the voice probabilities of the model. */
  private seemsVoiceless(frame: number, isEnd: boolean): boolean {
    while (this.voices.length > 0 && this.voices[0]! <= frame) this.lastVoice = this.voices.shift()!;
    const last = this.first + this.frames.length - 1;
    const next = this.voices[0] ?? (isEnd ? last : Number.POSITIVE_INFINITY);
    const isNear = (other: number, margin: number) => Math.abs(other - frame) < margin;
    if (next - this.lastVoice < MIN_VOICELESS_FRAMES) return false;
    if (this.lastVoice >= 0 && isNear(this.lastVoice, MARGIN_FRAMES)) return false;
    return this.voices.length === 0 || !isNear(next, MARGIN_FRAMES + FADE_FRAMES + VOICE_FRAMES);
  }

  /**
   * Returns whether the speech analysis or the model finds speech that is at most `SPEECH_BEFORE` frames later or
   * `SPEECH_AFTER` frames earlier.
   */
  private isSpeech(n: number): boolean {
    const frame = this.first + n;
    const next = this.speech[indexEndingAfter(this.speech, this.getTime(frame - SPEECH_AFTER))];
    if (next !== undefined && next.start < this.getTime(frame + SPEECH_BEFORE)) return true;
    for (let k = frame === 0 ? 0 : SPEECH_BEFORE; k <= SPEECH_BEFORE; k++)
      if ((this.frames[n + k]?.voice ?? 0) >= SPEECH_PROBABILITY) this.lastSpeech = frame + k;
    return frame - this.lastSpeech <= SPEECH_AFTER;
  }
}

/** Moves a value towards another one, by at most `step`. */
const approach = (from: number, to: number, step: number): number =>
  from < to ? Math.min(to, from + step) : Math.max(to, from - step);

function isCopyOfFirst(samples: Float32Array, channel: number, width: number): boolean {
  for (let at = 0; at < samples.length; at += width) if (samples[at] !== samples[at + channel]) return false;
  return true;
}

function copyFirst(samples: Float32Array, channel: number, width: number): void {
  for (let at = 0; at < samples.length; at += width) samples[at + channel] = samples[at]!;
}
