import { describe, expect, test } from "bun:test";
import type { Span } from "../../../src/domain/time";
import type { EncodedAudio } from "../../../src/speech/cross-attention";
import { createEarlyEncoding } from "../../../src/speech/early-encoding";
import { createSegments } from "../../../src/speech/segmentation";
import { findSpeechSpans, refineEdges, WINDOW_SECONDS } from "../../../src/speech/vad";

/** Speech of `speechSeconds` after each second of silence, `count` times, on a contour without details. */
function createTalk(count: number, speechSeconds: number) {
  const seconds = count * (speechSeconds + 1) + 1;
  const isSpeech = (at: number) => at % (speechSeconds + 1) >= 1;
  const probabilities = Float32Array.from({ length: Math.floor(seconds / WINDOW_SECONDS) }, (_, n) =>
    isSpeech(n * WINDOW_SECONDS) ? 1 : 0,
  );
  const energy = Float32Array.from({ length: seconds * 200 }, (_, n) => (isSpeech(n / 200) ? -20 : -60));
  return { probabilities, contour: { energy, duration: seconds * 1e6 } };
}

const AUDIO: EncodedAudio = { frames: 0, seconds: 0, keys: new Float32Array(0), values: new Float32Array(0) };

/** Encodes nothing, and finishes when `finish` is called. */
function createEncoder() {
  const spans: Span[] = [];
  let waiting: PromiseWithResolvers<EncodedAudio>[] = [];
  return {
    spans,
    encode: (span: Span) => {
      spans.push(span);
      const result = Promise.withResolvers<EncodedAudio>();
      waiting.push(result);
      return result.promise;
    },
    finish: async () => {
      for (const { resolve } of waiting) resolve(AUDIO);
      waiting = [];
      await Bun.sleep(0);
    },
    waiting: () => waiting,
  };
}

describe("encoding while speech is searched", () => {
  test("starts only segments of the finished recording, two at a time", async () => {
    const { probabilities, contour } = createTalk(8, 4);
    const encoder = createEncoder();
    const early = createEarlyEncoding(encoder.encode, contour);
    for (let end = 50; end <= probabilities.length; end += 50) {
      await early.add(probabilities.subarray(0, end));
      expect(encoder.waiting().length).toBeLessThanOrEqual(2);
      await encoder.finish();
    }
    const { energy, duration } = contour;
    const segments = createSegments(
      await refineEdges(findSpeechSpans(probabilities), energy, duration),
      energy,
      duration,
    );
    expect(segments).toHaveLength(8);
    expect(encoder.spans.length).toBeGreaterThan(5);
    expect(segments.map(({ start, end }) => [start, end]).slice(0, encoder.spans.length)).toEqual(
      encoder.spans.map(({ start, end }) => [start, end]),
    );
    expect(await early.take(segments[0]!)).toBe(AUDIO);
    expect(early.take(segments[0]!)).toBeUndefined();
    expect(early.take({ start: segments[1]!.start, end: segments[1]!.end + 1 })).toBeUndefined();
  });

  test("ends with the first pool of segments, also if they are short", async () => {
    const { probabilities, contour } = createTalk(80, 1.6);
    const encoder = createEncoder();
    let reads = 0;
    const energy = new Proxy(contour.energy, {
      get: (values, key) => {
        reads++;
        const value = Reflect.get(values, key);
        return typeof value === "function" ? value.bind(values) : value;
      },
    });
    const early = createEarlyEncoding(encoder.encode, { ...contour, energy });
    const add = async (share: number) => {
      await early.add(probabilities.subarray(0, probabilities.length * share));
      while (encoder.waiting().length > 0) await encoder.finish();
    };
    for (let n = 1; n <= 40; n++) await add(n / 50);
    expect(encoder.spans).toHaveLength(32);
    reads = 0;
    await add(1);
    expect(reads).toBe(0);
  });

  test("stops at the audio of one batch", async () => {
    const { probabilities, contour } = createTalk(30, 9);
    const encoder = createEncoder();
    const early = createEarlyEncoding(encoder.encode, contour);
    for (let n = 0; n < 30; n++) {
      await early.add(probabilities);
      await encoder.finish();
    }
    const total = encoder.spans.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(total).toBeLessThanOrEqual(90e6);
    expect(total).toBeGreaterThan(70e6);
  });

  test("whoever takes a segment receives its error", async () => {
    const { probabilities, contour } = createTalk(4, 4);
    const early = createEarlyEncoding(() => Promise.reject(new Error("damaged")), contour);
    const spans: Span[] = [];
    const other = createEarlyEncoding((span) => {
      spans.push(span);
      return Promise.resolve(AUDIO);
    }, contour);
    await Promise.all([early.add(probabilities), other.add(probabilities)]);
    await expect(early.take(spans[0]!)).rejects.toThrow("damaged");
  });
});
