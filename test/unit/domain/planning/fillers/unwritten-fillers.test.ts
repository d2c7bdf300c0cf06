import { describe, expect, test } from "bun:test";
import {
  type AudioActivity,
  detectActivity,
  estimateEdgeMargin,
  measureClipping,
} from "../../../../../src/domain/planning/audio-activity";
import { findUnwrittenFillers } from "../../../../../src/domain/planning/fillers/find-fillers";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { findDuplicatedWords, moveSilentWords, trimWordsAtPauses } from "../../../../../src/domain/planning/tokens";
import type { AlignmentRequest, ForcedAlignment, Word } from "../../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../../src/domain/time";

const DURATION = fromSeconds(10);

/** A recording that is loud (-20 dB) in spans given in seconds, above a noise floor in dB. */
function activityWith(spans: [number, number][], floor = -75): AudioActivity {
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

/** The fillers when each text aligns with the given mean log probability, and all others badly. */
function found(words: Word[], activity: AudioActivity, logProbs: Record<string, number>) {
  const steps = findUnwrittenFillers(words, activity, ENGLISH);
  const first = steps.next();
  const requests = first.done || first.value?.kind !== "align" ? [] : first.value.requests;
  const align = ({ text }: AlignmentRequest): ForcedAlignment => {
    const mean = logProbs[text] ?? -9;
    return {
      words: [{ text, start: 0, end: 1, confidence: 0.5, logProb: mean }],
      meanLogProb: mean,
      tailLogProb: mean,
    };
  };
  let last = first.done ? first : steps.next({ kind: "align", results: requests.map(align) });
  if (!last.done && last.value?.kind === "recognize") {
    const results = last.value.requests.map(() => ({ words: [], meanLogProb: -1 }));
    last = steps.next({ kind: "recognize", results });
  }
  if (!last.done) throw new Error("Expected two batches of requests.");
  const { words: matches, spans } = last.value;
  return {
    words: [...matches].map(([index]) => index),
    rules: [...matches].map(([, match]) => match.rule),
    spans: spans.map(({ start, end, match }) => ({ start, end, rule: match.rule })),
    texts: requests.map((request) => request.text),
    windows: requests.map((request) => request.window),
  };
}

const SENTENCE: [number, number] = [1, 3];
const ISOLATED: [number, number] = [3.5, 3.7];
const REST: [number, number] = [4.2, 6];

describe("unwritten fillers", () => {
  const activity = activityWith([SENTENCE, ISOLATED, REST]);

  test.each([
    [-4.4, 1],
    [-4.6, 0],
  ])("a sound that aligns with a filler at %p", (logProb, expected) => {
    expect(found([], activity, { "Uh,": logProb }).spans.length).toBe(expected);
  });

  test("a sound is aligned with 0.15 s of silence on both sides", () => {
    expect(found([], activity, {}).windows).toContainEqual(spanOf(3.35, 3.85));
  });

  test.each([
    ["a misrecognized one that aligns better", "but", 0.5, { "Uh,": -2, "But.": -4 }, "filler.unwritten"],
    ["an isolated function word that is uncertain", "but", 0.4, { "Uh,": -1.4, "But.": -1 }, "filler.unwritten"],
    [
      "one that is so uncertain that it counts as not recognized",
      "that",
      0.4,
      { "Uh,": -1.3, "That.": -0.7 },
      "filler.unwritten",
    ],
    ["one that aligns with a filler nearly as well", "but", 0.7, { "Uh,": -1.4, "But.": -1 }, "filler.unwritten"],
    ["an isolated function word that is certain", "but", 0.8, { "Uh,": -1.4, "But.": -1 }, null],
    ["a word that aligns better itself", "but", 0.5, { "Uh,": -2, "But.": -0.3 }, null],
    ["a word that aligns when it is written as a sentence", "so", 0.5, { "Uh,": -2, so: -7, "So,": -0.4 }, null],
    [
      "an isolated rhyme with a filler that is certain",
      "come",
      0.8,
      { "Um.": -2.5, "Come.": -0.9 },
      "filler.unwritten",
    ],
    ["a word that the recognizer was sure of", "but", 0.9, { "Uh,": -2, "But.": -4 }, null],
    ["an isolated article", "The", 0.9, { "Uh,": -2.9, "The.": -2.8 }, "filler.unwritten"],
    ["an article that aligns not much better", "The", 0.9, { "Uh,": -2.9, "The.": -2.45 }, "filler.unwritten"],
    ["an article that aligns better", "The", 0.9, { "Uh,": -2.9, "The.": -2.35 }, null],
    ["an unsure function word that aligns better", "but", 0.4, { "Uh,": -2, "But.": -1.05 }, "filler.unwritten"],
    ["an unsure function word that aligns much better", "but", 0.4, { "Uh,": -2, "But.": -0.95 }, null],
    ["an article that aligns", "The", 0.9, { "Uh,": -2.9, "The.": -0.4 }, null],
    ["a long word", "cathedral", 0.3, { "Uh,": -1, "Cathedral.": -8 }, null],
    ["one that is spelled as a filler", "Um,", 0.9, {}, "filler.written"],
  ])("%s", (_, text, confidence, logProbs, rule) => {
    const { rules } = found([word(text, 3.5, 3.7, confidence)], activity, logProbs as Record<string, number>);
    expect(rules.map(String)).toEqual(rule === null ? [] : [rule]);
  });

  test("a region without a word is a filler, unless it aligns much better with a word", () => {
    expect(found([], activity, { "Um.": -2, "Then.": -1.5 }).spans).toEqual([
      { ...spanOf(3.5, 3.7), rule: "filler.unwritten" },
    ]);
    expect(found([], activity, { "Um.": -2.5, "Then.": -1 }).spans).toHaveLength(1);
    expect(found([], activity, { "Um.": -2.5, "Then.": -0.8 }).spans).toEqual([]);
    const near = activityWith([SENTENCE, [3.2, 3.4], REST]);
    expect(found([], near, { "Um.": -2.5, "Then.": -1 }).spans).toEqual([]);
  });

  test("in noise, which hides the edges of words, regions need wider pauses around them", () => {
    const spans: [number, number][] = [[1, 3.32], ISOLATED, [3.88, 9.9]];
    expect(found([], activityWith(spans), {}).texts).not.toEqual([]);
    expect(found([], activityWith(spans, -34), {}).texts).toEqual([]);
  });
});

describe("word timing", () => {
  const activity = activityWith([SENTENCE, ISOLATED, REST]);
  test("a word stretched over a pause is trimmed to the side with most of its audio", () => {
    expect(trimWordsAtPauses([word("number", 2.5, 3.7)], activity)).toEqual([word("number", 2.5, 3)]);
    expect(trimWordsAtPauses([word("today", 3.6, 5)], activity)).toEqual([word("today", 4.2, 5)]);
  });
  test("the closure of a consonant is no pause", () => {
    const close = activityWith([
      [1, 2],
      [2.15, 3],
    ]);
    const one = word("captain", 1.7, 2.5);
    expect(trimWordsAtPauses([one], close)).toEqual([one]);
  });
  test("a word that is written again in the quiet after it is a duplicate", () => {
    const words = [word("So,", 3.5, 3.7), word("so,", 3.72, 3.78), word("so", 4.2, 4.4)];
    expect([...findDuplicatedWords(words, activity)]).toEqual([words[1]!]);
  });
  test("a word in silence was said after the pause that the word before it spans", () => {
    const words = [word("like", 2.7, 3.65), word("um", 3.7, 3.78)];
    expect(moveSilentWords(words, activity)).toEqual([word("like", 2.7, 3), word("um", 3.5, 3.7)]);
  });
  test.each([
    ["with sound of its own", [word("like", 2.7, 3.5), word("um", 3.5, 3.78)]],
    ["after a word without a pause", [word("like", 3.35, 3.65), word("uh", 3.7, 3.78)]],
    ["that is the same word", [word("um", 2.7, 3.65), word("um,", 3.7, 3.78)]],
    ["inside it", [word("like", 2.7, 3.9), word("um", 3.75, 4.1)]],
    ["long after it", [word("like", 2.7, 3.65), word("um", 3.85, 3.95)]],
  ])("a word %s is not moved", (_, words) => {
    expect(moveSilentWords(words, activity)).toEqual(words);
  });
  test.each([
    ["a closure of 0.1 s", 2.6, false],
    ["a pause of 0.15 s", 2.65, true],
    ["a pause of 0.3 s", 2.8, true],
  ])("a word in silence is moved only if there is a pause in the word before it: %s", (_, start, isMoved) => {
    const divided = activityWith([[1, 2.5], [start, 3.1], REST]);
    const words = [word("captain", 2.16, 3.115), word("um", 3.13, 3.31)];
    const moved = [word("captain", 2.16, 2.5), word("um", start, 3.1)];
    expect(moveSilentWords(words, divided)).toEqual(isMoved ? moved : words);
  });
});

describe("measurements of the energy contour", () => {
  test("clipped audio is louder than any unclipped waveform", () => {
    const energy = new Float32Array(2_000).fill(-75);
    energy.fill(-3.8, 200, 400);
    energy.fill(-8, 600, 800);
    energy.fill(-3.2, 600, 700);
    expect(measureClipping({ energy }, spanOf(1, 2))).toBe(0);
    expect(measureClipping({ energy }, spanOf(3, 4))).toBeCloseTo(0.5, 2);
    expect(measureClipping({ energy }, spanOf(8, 9))).toBe(0);
  });
  test("noise hides the edges of speech, a quiet room does not", () => {
    expect(estimateEdgeMargin({ contrast: 60 })).toBe(0);
    expect(estimateEdgeMargin({ contrast: 35 })).toBe(25_000);
    expect(estimateEdgeMargin({ contrast: 5 })).toBe(50_000);
  });
});
