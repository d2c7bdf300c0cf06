/**
 * Second recognitions of regions that align with a filler. Words, times and confidences are those of real recordings.
 */

import { describe, expect, test } from "bun:test";
import { type AudioActivity, detectActivity } from "../../../../../src/domain/planning/audio-activity";
import { confirmFillers } from "../../../../../src/domain/planning/fillers/find-fillers";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import type { Recognition, Word } from "../../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../../src/domain/time";

const spanOf = (start: number, end: number): Span => ({ start: fromSeconds(start), end: fromSeconds(end) });
type Spoken = [text: string, confidence: number, start: number, end: number];
const toWords = (spoken: Spoken[]): Word[] =>
  spoken.map(([text, confidence, start, end]) => ({ text, confidence, ...spanOf(start, end) }));

function activityWith(regions: [number, number][], seconds = 20): AudioActivity {
  const energy = new Float32Array(seconds * 200).fill(-75);
  for (const [start, end] of regions) energy.fill(-20, start * 200, end * 200);
  const speech = regions.map(([start, end]) => spanOf(start, end));
  return detectActivity({ duration: fromSeconds(seconds), energy, speech });
}

/** Returns whether the region from 10 s on is a filler. */
function isFiller(length: number, alignment: number, transcript: Spoken[], again: Spoken[]): boolean {
  const region = spanOf(10, 10 + length);
  const activity = activityWith([
    [8.5, 9.6],
    [10, 10 + length],
    [11.5, 13],
  ]);
  const steps = confirmFillers([{ region, alignment }], toWords(transcript), activity, ENGLISH);
  expect(steps.next().value).toEqual({ kind: "recognize", requests: [{ window: spanOf(8, 12 + length) }] });
  const done = steps.next({ kind: "recognize", results: [{ words: toWords(again), meanLogProb: -0.5 }] });
  return (done.value as boolean[])[0]!;
}

describe("a word is found", () => {
  test("that the transcript misses or misspells: it stays", () => {
    const before: Spoken[] = [
      ["it", 0.92, 9.4, 9.46],
      ["was", 0.86, 9.46, 9.72],
    ];
    expect(isFiller(0.2, -3.69, [...before, ["less", 0.13, 10, 10.2]], [...before, ["last", 0.29, 10, 10.2]])).toBe(
      false,
    );
  });

  test.each([
    [-3.69, 0.21, false],
    [-3.69, 0.19, true],
    [-1.45, 0.51, false],
    [-1.45, 0.49, true],
  ])("where a filler aligns at %p, with a confidence of %p: is it a filler? %p", (alignment, confidence, expected) => {
    expect(isFiller(0.2, alignment, [], [["last", confidence, 10, 10.2]])).toBe(expected);
  });

  test("a function word must be surer where a filler aligns well", () => {
    expect(isFiller(0.3, -3, [["But", 0.59, 10, 10.3]], [["but", 0.64, 10, 10.3]])).toBe(false);
    expect(isFiller(0.3, -1.41, [["But", 0.59, 10, 10.3]], [["but", 0.64, 10, 10.3]])).toBe(true);
    expect(isFiller(0.3, -1.41, [["But", 0.59, 10, 10.3]], [["but", 0.85, 10, 10.3]])).toBe(false);
  });

  test("the same one a second time: it stays", () => {
    const topic: Spoken = ["topic.", 0.64, 10, 10.9];
    expect(isFiller(0.97, -3.16, [topic], [["topic", 0.67, 10.07, 10.71]])).toBe(false);
    expect(isFiller(0.5, -2.17, [["Unk", 0.48, 9.97, 10.5]], [["Unk", 0.41, 9.96, 10.5]])).toBe(false);
    expect(isFiller(0.55, -3.29, [["days.", 0.41, 10, 10.55]], [["the", 0.99, 10, 10.55]])).toBe(false);
  });
});

describe("no word is found", () => {
  test.each<[string, number, Spoken[], Spoken[]]>([
    ["the filler itself", -1.52, [], [["Uh,", 0.7, 10, 10.23]]],
    [
      "a word of the transcript, stretched over the filler beside it",
      -2.61,
      [["right?", 0.97, 9.44, 9.73]],
      [["right?", 0.71, 9.89, 10.4]],
    ],
    [
      "a word that the transcript has after the filler too",
      -0.89,
      [
        ["if", 0.39, 10, 10.4],
        ["if", 0.94, 10.95, 11.16],
      ],
      [
        ["if", 0.7, 10, 10.4],
        ["we", 0.77, 11.5, 11.8],
      ],
    ],
    ["a vowel", -2.06, [], [["he,", 0.43, 10, 10.26]]],
    ["an uncertain article", -4.14, [["The", 0.55, 10, 10.1]], [["The", 0.46, 10, 10.1]]],
    ["a word as which fillers are recognized", -2.5, [["Dumb.", 0.52, 10, 10.26]], [["dumb,", 0.72, 10, 10.26]]],
    ["a word that the recognizer made up", -1.36, [["What", 0.14, 10, 10.24]], [["What", 0.13, 10, 10.24]]],
    ["an uncertain word where a filler aligns well", -1.51, [["But", 0.54, 10, 10.29]], [["but", 0.44, 10, 10.29]]],
    ["nothing", -2.5, [], []],
  ])("%s", (_, alignment, transcript, again) => {
    expect(isFiller(0.4, alignment, transcript, again)).toBe(true);
  });
});

test("when nothing is recognized of what the transcript has, only a region that surely aligns with a filler is one", () => {
  const beside: Spoken[] = [["why", 0.7, 9.36, 9.64]];
  expect(isFiller(0.3, -3.6, beside, [])).toBe(false);
  expect(isFiller(0.3, -1.4, beside, [])).toBe(true);
});

test("the audio that is recognized again is bounded; beyond the bound only regions that surely align are fillers", () => {
  const regions = Array.from({ length: 300 }, (_, i): [number, number] => [i + 0.3, i + 0.6]);
  const aligned = regions.map(([start, end], i) => ({ region: spanOf(start, end), alignment: -0.9 - (i % 3) }));
  const steps = confirmFillers(aligned, [], activityWith(regions, 300), ENGLISH);
  const query = steps.next().value;
  const requests = Array.isArray(query) || query?.kind !== "recognize" ? [] : query.requests;
  const seconds = requests.reduce((sum, { window }) => sum + (window.end - window.start) / 1e6, 0);
  expect(seconds).toBeGreaterThan(50);
  expect(seconds).toBeLessThanOrEqual(60);
  const nothing: Recognition = { words: [], meanLogProb: -1 };
  const done = steps.next({ kind: "recognize", results: requests.map(() => nothing) });
  const fillers = done.value as boolean[];
  expect(aligned.every(({ alignment }, i) => fillers[i] || alignment === -2.9)).toBe(true);
  expect(fillers.filter((one) => !one).length).toBe(100 - requests.length);
});
