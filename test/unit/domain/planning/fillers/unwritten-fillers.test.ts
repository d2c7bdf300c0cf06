import { describe, expect, test } from "bun:test";
import {
  type AudioActivity,
  detectActivity,
  estimateEdgeMargin,
  measureClipping,
} from "../../../../../src/domain/planning/audio-activity";
import { findUnwrittenFillers } from "../../../../../src/domain/planning/fillers/unwritten-fillers";
import { findDuplicatedWords, trimWordsAtPauses } from "../../../../../src/domain/planning/word-timing";
import type { AlignmentRequest, ForcedAlignment, Word } from "../../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../../src/domain/time";

const DURATION = fromSeconds(10);

/** A recording with sound at `-20` dB in the spans given in seconds, over a quiet of `floor`. */
function soundWith(spans: [number, number][], floor = -75): AudioActivity {
  const energy = new Float32Array(2_000).fill(floor);
  for (const [start, end] of spans) energy.fill(-20, start * 200, end * 200);
  return detectActivity({ duration: DURATION, energy, speech: spans.map(([start, end]) => spanOf(start, end)) });
}
const spanOf = (start: number, end: number): Span => ({ start: fromSeconds(start), end: fromSeconds(end) });
const word = (text: string, start: number, end: number, confidence = 0.5): Word => ({
  text,
  ...spanOf(start, end),
  confidence,
});

/** The hesitations when each text fits as well as given, and all others badly. */
function found(words: Word[], activity: AudioActivity, fits: Record<string, number>) {
  const steps = findUnwrittenFillers(words, activity);
  const first = steps.next();
  const asked = first.value as AlignmentRequest[];
  const answer = ({ text }: AlignmentRequest): ForcedAlignment => {
    const mean = fits[text] ?? -9;
    return {
      words: [{ text, start: 0, end: 1, confidence: 0.5, logProb: mean }],
      meanLogProb: mean,
      tailLogProb: mean,
    };
  };
  const last = steps.next(asked.map(answer));
  if (!last.done) throw new Error("a second question");
  return { words: [...last.value.words], spans: last.value.spans, asked: asked.map((request) => request.text) };
}

const SENTENCE: [number, number] = [1, 3];
const APART: [number, number] = [3.5, 3.7];
const REST: [number, number] = [4.2, 6];

describe("hesitations", () => {
  const activity = soundWith([SENTENCE, APART, REST]);

  test.each([
    ["a misheard one that fits the sound better", "but", 0.5, { "Uh,": -2, "But.": -4 }, true],
    ["a word that fits better itself", "but", 0.5, { "Uh,": -2, "But.": -0.3 }, false],
    ["a word that fits when it is written as a sentence", "so", 0.5, { "Uh,": -2, so: -7, "So,": -0.4 }, false],
    ["a word that the recogniser was sure of", "but", 0.9, { "Uh,": -2, "But.": -4 }, false],
    ["an article said apart", "The", 0.9, { "Uh,": -2.9, "The.": -2.8 }, true],
    ["an article that fits", "The", 0.9, { "Uh,": -2.9, "The.": -0.4 }, false],
    ["a long word", "cathedral", 0.3, { "Uh,": -1, "Cathedral.": -8 }, false],
    ["one that is spelled as such", "Um,", 0.9, {}, true],
  ])("%s", (_, text, confidence, fits, expected) => {
    const { words } = found([word(text, 3.5, 3.7, confidence)], activity, fits as Record<string, number>);
    expect(words).toEqual(expected ? [0] : []);
  });

  test("a sound without a word is one, unless it fits a word much better", () => {
    expect(found([], activity, { "Um.": -2, "Then.": -1.5 }).spans).toEqual([spanOf(3.5, 3.7)]);
    expect(found([], activity, { "Um.": -2.5, "Then.": -1 }).spans).toEqual([]);
  });

  test("one that is read letter by letter goes with all its letters", () => {
    const spelled = soundWith([SENTENCE, [3.4, 4.2], [4.6, 6]]);
    const words = [word("H.", 3.4, 3.6), word("M.", 3.6, 3.9), word("M.", 3.9, 4.2)];
    expect(found(words, spelled, { "H. M. M.": -1.2 }).words).toEqual([0, 1, 2]);
    expect(found(words, spelled, { "H. M. M.": -3 }).words).toEqual([]);
  });

  test("in noise, which hides the edges of words, only what stands well apart is looked at", () => {
    const distanceBetween: [number, number][] = [[1, 3.32], APART, [3.88, 9.9]];
    expect(found([], soundWith(distanceBetween), {}).asked).not.toEqual([]);
    expect(found([], soundWith(distanceBetween, -34), {}).asked).toEqual([]);
  });
});

describe("words where there is no sound", () => {
  const activity = soundWith([SENTENCE, APART, REST]);
  test("a word drawn out over a pause goes back to where most of it is", () => {
    expect(trimWordsAtPauses([word("number", 2.5, 3.7)], activity)).toEqual([word("number", 2.5, 3)]);
    expect(trimWordsAtPauses([word("today", 3.6, 5)], activity)).toEqual([word("today", 4.2, 5)]);
  });
  test("the closure of a consonant is no pause", () => {
    const close = soundWith([
      [1, 2],
      [2.15, 3],
    ]);
    const one = word("captain", 1.7, 2.5);
    expect(trimWordsAtPauses([one], close)).toEqual([one]);
  });
  test("a word that is written again in the quiet after it was said once", () => {
    const words = [word("So,", 3.5, 3.7), word("so,", 3.72, 3.78), word("so", 4.2, 4.4)];
    expect([...findDuplicatedWords(words, activity)]).toEqual([words[1]!]);
  });
});

describe("what the contour tells of the recording", () => {
  test("clipping is louder than any wave that is whole", () => {
    const energy = new Float32Array(2_000).fill(-75);
    energy.fill(-8, 200, 400);
    energy.fill(-8, 600, 800);
    energy.fill(-1, 600, 700);
    expect(measureClipping({ energy }, spanOf(1, 2))).toBe(0);
    expect(measureClipping({ energy }, spanOf(3, 4))).toBeCloseTo(0.5, 2);
    expect(measureClipping({ energy }, spanOf(8, 9))).toBe(0);
  });
  test("noise blurs the edges of speech, a quiet room does not", () => {
    expect(estimateEdgeMargin({ contrast: 60 })).toBe(0);
    expect(estimateEdgeMargin({ contrast: 35 })).toBe(25_000);
    expect(estimateEdgeMargin({ contrast: 5 })).toBe(50_000);
  });
});
