/** Forced alignment: finds when each word of a given text is spoken in a window of a recording, and how well the text fits. */
import type { AlignmentRequest, ForcedAlignment } from "../domain/speech";
import { type Span, TICKS_PER_SECOND } from "../domain/time";
import { computeGain, createEnergyMeter } from "./energy";
import type { DecodedText, EncodedAudio, Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import { snapWordEdges } from "./snapping";
import type { Checkpoint } from "./task-control";
import { tokenize } from "./tokens";
import { timeWords, toRecordingTicks } from "./word-timing";

/** The longest window and text that the graphs accept. The rest is cut off. */
const MAX_WINDOW_TICKS = 40 * TICKS_PER_SECOND;
const MAX_TOKENS = 1_000;
/** The fade at the edges of a muted span, which prevents clicks: 5 ms. */
const FADE_SAMPLES = 80;

type AlignmentWindow = { span: Span; mute: Span[] };
type EncodedWindow = AlignmentWindow & { audio: EncodedAudio; energy: Float32Array };

/** The most recently used encoded windows: a planner asks about the same window again and again. */
export type WindowCache = Map<string, EncodedWindow>;
const MAX_CACHED_FRAMES = 5_000;

/**
 * Aligns each text and returns the results in the order of the requests. `recording` identifies the recording in the cache. `check` is
 * called between steps and may throw to stop.
 */
export async function forcedAlign(
  moonshine: Moonshine,
  pcm: PcmReader,
  requests: AlignmentRequest[],
  cache: WindowCache,
  recording: string,
  check: Checkpoint,
): Promise<ForcedAlignment[]> {
  const duration = Math.round((pcm.samples * TICKS_PER_SECOND) / 16_000);
  const pending = requests.map((request, index) => {
    const start = Math.min(Math.max(0, request.window.start), duration);
    const end = Math.min(duration, start + MAX_WINDOW_TICKS, Math.max(start, request.window.end));
    const window = { span: { start, end }, mute: request.mute ?? [] };
    const tokens = tokenize(request.text.replace(/\s+/g, " ").trim()).slice(0, MAX_TOKENS);
    return {
      index,
      window,
      key: JSON.stringify([recording, window]),
      tokens: request.text.trim() === "" ? [] : tokens,
    };
  });
  const results: ForcedAlignment[] = new Array(pending.length);
  // Sorted, so that equal windows are adjacent and each is encoded once.
  for (const one of pending.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.index - b.index))) {
    await check();
    const encoded = await getOrEncode(cache, one.key, () => encodeWindow(moonshine, pcm, one.window));
    results[one.index] = toForcedAlignment(await moonshine.score(encoded.audio, one.tokens), encoded);
  }
  return results;
}

function toForcedAlignment(scored: DecodedText, window: EncodedWindow): ForcedAlignment {
  const { start, end } = window.span;
  const words = snapWordEdges(timeWords(scored), window.energy).map((w) => {
    const from = toRecordingTicks(w.start, start, end);
    return {
      text: w.text,
      start: from,
      end: Math.max(from, toRecordingTicks(w.end, start, end)),
      confidence: Math.exp(w.meanLogProb),
      logProb: w.minLogProb,
    };
  });
  // An empty text is scored by its end token alone: how likely is silence?
  const spoken = scored.tokens.length === 0 ? scored.logProbs : scored.logProbs.subarray(0, scored.tokens.length);
  return {
    words,
    meanLogProb: spoken.reduce((a, b) => a + b, 0) / spoken.length,
    tailLogProb: Math.min(...spoken.subarray(-3)),
  };
}

async function encodeWindow(moonshine: Moonshine, pcm: PcmReader, window: AlignmentWindow): Promise<EncodedWindow> {
  const toSample = (time: number) => Math.round((time * 16_000) / TICKS_PER_SECOND);
  const from = toSample(window.span.start);
  const samples = await pcm.read(from, toSample(window.span.end) - from);
  for (const span of window.mute) muteSamples(samples, toSample(span.start) - from, toSample(span.end) - from);
  const meter = createEnergyMeter(samples.length);
  meter.add(samples);
  const energy = meter.contour();
  return { ...window, energy, audio: await moonshine.encode(amplify(samples, computeGain(energy))) };
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

async function getOrEncode(
  cache: WindowCache,
  key: string,
  make: () => Promise<EncodedWindow>,
): Promise<EncodedWindow> {
  const found = cache.get(key) ?? (await make());
  cache.delete(key);
  cache.set(key, found);
  let frames = 0;
  for (const entry of cache.values()) frames += entry.audio.frames;
  for (const [oldest, entry] of cache) {
    if (frames <= MAX_CACHED_FRAMES || oldest === key) break;
    cache.delete(oldest);
    frames -= entry.audio.frames;
  }
  return found;
}
