/**
 * Recognition of loud stretches without voice activity. Texts and confidences are those of a radio recording, an engine
 * and music.
 */

import { expect, test } from "bun:test";
import { type AudioActivity, detectActivity } from "../../../../../src/domain/planning/audio-activity";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import type { DecidedSpan } from "../../../../../src/domain/planning/spans";
import { findSyllablesInNoise, findWordsInNoise } from "../../../../../src/domain/planning/understood-speech";
import type { Recognition } from "../../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../../src/domain/time";
import type { VoiceFeatures } from "../../../../../src/domain/voice";

const SECONDS = 120;
const spanOf = (start: number, end: number): Span => ({ start: fromSeconds(start), end: fromSeconds(end) });
const noiseAt = (start: number, end: number): DecidedSpan => ({
  ...spanOf(start, end),
  text: "",
  reason: "noise",
  findings: [],
});

/** Speech from 1 to 5 s at -20 dB, and noise at these levels. */
function activityWith(noise: DecidedSpan[], levels: number[]): AudioActivity {
  const energy = new Float32Array(SECONDS * 200).fill(-75);
  energy.fill(-20, 200, 1_000);
  for (const [i, { start, end }] of noise.entries()) energy.fill(levels[i]!, start / 5_000, end / 5_000);
  return detectActivity({ duration: fromSeconds(SECONDS), energy, speech: [spanOf(1, 5)] });
}

const recognition = (meanLogProb: number, ...words: [string, number][]): Recognition => ({
  meanLogProb,
  words: words.map(([text, confidence]) => ({ text, confidence, start: 0, end: 1 })),
});

/** Returns the queried windows, and the spans in which words are found when each window is recognized so. */
function run(noise: DecidedSpan[], levels: number[], recognize: (window: Span) => Recognition) {
  const steps = findWordsInNoise(noise, activityWith(noise, levels), ENGLISH);
  const first = steps.next();
  if (first.done) return { windows: [], found: first.value };
  const windows = first.value?.kind === "recognize" ? first.value.requests.map(({ window }) => window) : [];
  const last = steps.next({ kind: "recognize", results: windows.map(recognize) });
  return { windows, found: last.value as Span[] };
}

test.each<[string, Recognition, boolean]>([
  ["a sentence", recognition(-0.37, ["Okay,", 0.67], ["no", 0.45], ["problem.", 0.77]), true],
  ["a distorted sentence", recognition(-1.04, ["This", 0.15], ["is", 0.79], ["right", 0.2], ["after", 0.57]), true],
  ["nothing", recognition(-0.001), false],
  ["an uncertain word", recognition(-0.75, ["you", 0.31]), false],
  ["a filler", recognition(-0.3, ["Uh,", 0.71]), false],
  ["a garbled text", recognition(-1.9, ["the", 0.6]), false],
])("noise in which %s is recognized", (_, result, isSpoken) => {
  const noise = [noiseAt(30, 33)];
  const { windows, found } = run(noise, [-24], () => result);
  expect(windows).toEqual([spanOf(29.7, 33.3)]);
  expect(found).toEqual(isSpoken ? noise : []);
});

test("only noise of 0.5 s at the level of speech is recognized", () => {
  const noise = [noiseAt(30, 30.4), noiseAt(40, 42), noiseAt(50, 52)];
  expect(run(noise, [-20, -20, -40], () => recognition(-0.001)).windows).toEqual([spanOf(39.7, 42.3)]);
  expect(run([{ ...noiseAt(40, 42), reason: "filler" }], [-20], () => recognition(-1)).windows).toEqual([]);
});

test("a long stretch is recognized in windows, and a minute of audio at most", () => {
  const noise = [noiseAt(30, 110)];
  const { windows, found } = run(noise, [-22], ({ start }) =>
    start > fromSeconds(50) ? recognition(-0.4, ["hello", 0.9]) : recognition(-0.001),
  );
  expect(windows.every(({ start, end }) => end - start <= fromSeconds(10.6))).toBe(true);
  const seconds = windows.reduce((sum, { start, end }) => sum + (end - start) / 1e6, 0);
  expect(seconds).toBeGreaterThan(45);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(new Set(found)).toEqual(new Set(noise));
});

/** Returns whether noise of these times, so much louder than the speech in its loud part, is kept as a syllable. */
function isSyllable(noise: DecidedSpan, over: number, voice: VoiceFeatures, isSteady = false): boolean {
  const activity = activityWith([noise], [-20 + over]);
  if (isSteady) activity.energy.fill(-20 + over, 0, noise.end / 2_500);
  const steps = findSyllablesInNoise([noise], activity);
  const first = steps.next();
  if (first.done) return false;
  return (steps.next({ kind: "measure_voice", results: [voice] }).value as Span[]).length > 0;
}

// Letters ("F", "S") and syllables, each recorded alone, in which no voice activity was detected.
test.each<[string, DecidedSpan, number, VoiceFeatures]>([
  ["a letter", noiseAt(9.25, 9.79), 12, { pitch: 229, level: -8, voiced: 320_000 }],
  ["a letter that ends in a long consonant", noiseAt(38.32, 38.87), 10, { pitch: 229, level: -10, voiced: 190_000 }],
  ["a short word in a long stretch of noise", noiseAt(17.2, 19.25), 14, { pitch: 151, level: -8, voiced: 270_000 }],
  ["a syllable in a high voice", noiseAt(16.13, 16.55), 11, { pitch: 400, level: -9, voiced: 230_000 }],
  ["a syllable of 0.16 s", noiseAt(16.13, 16.55), 11, { pitch: 150, level: -9, voiced: 160_000 }],
])("%s is kept", (_, noise, over, voice) => {
  expect(isSyllable(noise, over, voice)).toBe(true);
});

test.each<[string, DecidedSpan, number, VoiceFeatures]>([
  ["hiss between words", noiseAt(56.65, 57.18), -20, { pitch: 129, level: -45, voiced: 200_000 }],
  ["a breath as loud as speech", noiseAt(30, 30.6), 1, null],
  ["a chair in a meeting", noiseAt(26.07, 26.74), 3, { pitch: 92, level: -17, voiced: 50_000 }],
  ["a creak of 0.14 s", noiseAt(26.07, 26.74), 3, { pitch: 92, level: -10, voiced: 140_000 }],
  ["a click", noiseAt(30, 30.12), 10, { pitch: 200, level: -10, voiced: 100_000 }],
])("%s is noise", (_, noise, over, voice) => {
  expect(isSyllable(noise, over, voice)).toBe(false);
});

test("hum that goes on is noise, although it has pitch", () => {
  expect(isSyllable(noiseAt(53.67, 54.12), -2, { pitch: 108, level: -22, voiced: 370_000 })).toBe(true);
  expect(isSyllable(noiseAt(53.67, 54.12), -2, { pitch: 108, level: -22, voiced: 370_000 }, true)).toBe(false);
});
