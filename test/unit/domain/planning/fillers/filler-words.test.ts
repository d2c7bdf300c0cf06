import { describe, expect, test } from "bun:test";
import { type AudioActivity, detectActivity } from "../../../../../src/domain/planning/audio-activity";
import { findFillers } from "../../../../../src/domain/planning/fillers/find-fillers";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { isFillerText } from "../../../../../src/domain/planning/lexicon/lexicon";
import type { Word } from "../../../../../src/domain/speech";
import { fromSeconds } from "../../../../../src/domain/time";

type Spoken = [text: string, start: number, end: number];

/** A recording that is loud (-20 dB) where the words are, above a noise floor in dB. */
function activityOf(words: readonly Word[], floor = -75): AudioActivity {
  const energy = new Float32Array(4_000).fill(floor);
  for (const { start, end } of words) energy.fill(-20, start / 5_000, end / 5_000);
  return detectActivity({ duration: fromSeconds(20), energy, speech: [...words] });
}

/** Returns the texts of the words that are fillers. */
function fillersOf(spoken: Spoken[], floor?: number): string[] {
  const words = spoken.map(([text, start, end]) => ({
    text,
    start: fromSeconds(start),
    end: fromSeconds(end),
    confidence: 0.7,
  }));
  return [...findFillers(words, activityOf(words, floor), ENGLISH).keys()].map((i) => words[i]!.text);
}

test.each([
  "um",
  "Umm,",
  "uh.",
  "Uhh",
  "uhm,",
  "erm",
  "Err",
  "er,",
  "eh",
  "ehm",
  "hm",
  "Hmm.",
  "mm",
  "Mmm,",
  "ah,",
  "Aah",
  "ahm",
  "ähm",
])("%s between pauses is a filler", (text) => {
  expect(
    fillersOf([
      ["say", 1, 1.5],
      [text, 2, 2.4],
      ["more", 3, 3.5],
    ]),
  ).toEqual([text]);
});

test.each([
  "am",
  "a",
  "I",
  "oh",
  "huh",
  "mhm",
  "Mm-hmm",
  "Uh-huh.",
  "yeah",
  "ahead",
  "M",
  "umbrella",
  "like",
  "her",
  "ham",
  "hum",
  "mother",
  "well",
  "um-brella",
])("%s is none", (text) => {
  expect(isFillerText(text, ENGLISH)).toBe(false);
});

describe("written fillers", () => {
  test("a short one in fluent speech stays, a stretched one does not", () => {
    expect(
      fillersOf([
        ["read", 1, 1.3],
        ["um", 1.3, 1.5],
        ["the", 1.5, 1.7],
      ]),
    ).toEqual([]);
    expect(
      fillersOf([
        ["read", 1, 1.3],
        ["um", 1.3, 1.6],
        ["the", 1.6, 1.8],
      ]),
    ).toEqual(["um"]);
  });

  test('"ah", "eh", "er", "mm" and "hm" in running speech stay', () => {
    expect(
      fillersOf([
        ["right", 1, 1.5],
        ["Ah,", 2, 2.4],
        ["but", 2.4, 2.8],
      ]),
    ).toEqual([]);
    expect(
      fillersOf([
        ["right", 1, 1.5],
        ["Um,", 2, 2.4],
        ["but", 2.4, 2.8],
      ]),
    ).toEqual(["Um,"]);
  });

  test("one that runs into a word with the same first letter stays, so that the word is not cut", () => {
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["uh", 2, 2.4],
        ["under", 2.4, 2.8],
      ]),
    ).toEqual([]);
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["um", 2, 2.4],
        ["my", 2.4, 2.8],
      ]),
    ).toEqual([]);
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["um", 2, 2.4],
        ["my", 2.6, 2.8],
      ]),
    ).toEqual(["um"]);
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["uh", 2, 2.4],
        ["we", 2.4, 2.8],
      ]),
    ).toEqual(["uh"]);
  });

  test("one of more than 1.2 s stays: it hides words", () => {
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["um", 2, 3.2],
        ["we", 4, 4.4],
      ]),
    ).toEqual(["um"]);
    expect(
      fillersOf([
        ["so", 1, 1.5],
        ["um", 2, 3.3],
        ["we", 4, 4.4],
      ]),
    ).toEqual([]);
  });

  test("where speech is less than 20 dB above the background, all stay", () => {
    const spoken: Spoken[] = [
      ["so", 1, 2.5],
      ["um", 3, 3.4],
      ["we", 4, 7],
    ];
    expect(fillersOf(spoken, -41)).toEqual(["um"]);
    expect(fillersOf(spoken, -39)).toEqual([]);
  });
});
