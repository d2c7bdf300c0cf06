/** Windows of a recording, encoded for the built-in recognizer. Cached, because a planner queries them repeatedly. */

import { computeGain, createEnergyMeter } from "../domain/energy";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import type { EncodedAudio } from "./cross-attention";
import type { Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import type { AudioTask, DecodedText, OnStep } from "./recognizer";

/** The fade at the edges of a muted span, which prevents clicks: 5 ms. */
const FADE_SAMPLES = 80;

/** A part of a recording in which the `mute` spans are silenced. */
export type AudioWindow = { span: Span; mute: Span[] };
export type EncodedWindow = AudioWindow & { audio: EncodedAudio; energy: Float32Array };

/** The most recently used encoded windows. */
export type WindowCache = Map<string, EncodedWindow>;
const MAX_CACHED_FRAMES = 5_000;

/** The recording whose windows are encoded. `recording` identifies it in the cache. */
export type WindowSource = { moonshine: Moonshine; pcm: PcmReader; cache: WindowCache; recording: string };

/** Returns the part of a window that is within the recording, limited to `maxLength`. */
export function clipWindow(window: Span, { samples }: PcmReader, maxLength: Ticks): Span {
  const duration = Math.round((samples * TICKS_PER_SECOND) / 16_000);
  const start = Math.min(Math.max(0, window.start), duration);
  return { start, end: Math.min(duration, start + maxLength, Math.max(start, window.end)) };
}

/**
 * Encodes windows, or takes them from the cache, and scores the texts of each, which are tokens. Yields each window
 * with its index when it is ready, in any order. `onStep` is awaited before each text.
 */
export async function* scoreWindows(
  source: WindowSource,
  windows: readonly AudioWindow[],
  texts: readonly (readonly number[][])[],
  onStep?: OnStep,
): AsyncGenerator<[number, EncodedWindow, DecodedText[]]> {
  const { cache, recording, pcm, moonshine } = source;
  const keys = windows.map((window) => JSON.stringify([recording, window]));
  const known = keys.map((key) => cache.get(key));
  const durations = windows.map(({ span }, index) => (known[index] === undefined ? span.end - span.start : 0));
  const order = [...windows.keys()].sort((a, b) => durations[b]! - durations[a]!);
  const energies = new Map<number, Float32Array>();
  const read = async (n: number): Promise<AudioTask> => {
    const index = order[n]!;
    const found = known[index];
    if (found !== undefined) return { audio: found.audio, texts: texts[index]! };
    const { samples, energy } = await readWindow(pcm, windows[index]!);
    energies.set(index, energy);
    return { audio: amplify(samples, computeGain(energy)), texts: texts[index]! };
  };
  for await (const { index: n, audio, scored } of moonshine.scoreAll(order.length, read, onStep)) {
    const index = order[n]!;
    const window = known[index] ?? { ...windows[index]!, energy: energies.get(index)!, audio };
    yield [index, keep(cache, keys[index]!, window), scored];
  }
}

/** Makes a window the most recently used one. */
function keep(cache: WindowCache, key: string, window: EncodedWindow): EncodedWindow {
  cache.delete(key);
  cache.set(key, window);
  let frames = 0;
  for (const entry of cache.values()) frames += entry.audio.frames;
  for (const [oldest, entry] of cache) {
    if (frames <= MAX_CACHED_FRAMES || oldest === key) break;
    cache.delete(oldest);
    frames -= entry.audio.frames;
  }
  return window;
}

/** Reads the samples of a window and measures their energy contour. */
export async function readWindow(
  pcm: PcmReader,
  window: AudioWindow,
): Promise<{ samples: Float32Array; energy: Float32Array }> {
  const toSample = (time: number) => Math.round((time * 16_000) / TICKS_PER_SECOND);
  const from = toSample(window.span.start);
  const samples = await pcm.read(from, toSample(window.span.end) - from);
  for (const span of window.mute) muteSamples(samples, toSample(span.start) - from, toSample(span.end) - from);
  const meter = createEnergyMeter(samples.length);
  meter.add(samples);
  return { samples, energy: meter.contour() };
}

/** Mutes samples in place, with a fade outside of both edges. */
export function muteSamples(samples: Float32Array, from: number, to: number): void {
  const first = Math.max(0, from - FADE_SAMPLES);
  const last = Math.min(samples.length, to + FADE_SAMPLES);
  for (let i = first; i < last; i++) {
    const distance = i < from ? from - i : i >= to ? i - to + 1 : 0;
    samples[i]! *= distance / (FADE_SAMPLES + 1);
  }
}
