import { describe, expect, test } from "bun:test";
import { divideStretchedWords, findStretchedWords } from "../../../../src/domain/planning/stretched-words";
import type { Recognition, SpeechAnalysis, Word } from "../../../../src/domain/speech";
import { fromSeconds } from "../../../../src/domain/time";

/** A word in seconds. */
const said = (text: string, start: number, end: number, confidence = 0.95): Word => ({
  text,
  start: fromSeconds(start),
  end: fromSeconds(end),
  confidence,
});

/** Fluent words before and after one, each of 0.25 s. */
const around = (word: Word): Word[] => [
  ...["when", "asked", "about", "it", "he", "would"].map((text, i) => said(text, 0.25 * i, 0.25 * (i + 1))),
  word,
  ...["come", "here", "again", "this", "year"].map((text, i) => said(text, 2.6 + 0.25 * i, 2.85 + 0.25 * i)),
];

const analyze = (words: Word[], speech = [{ start: 0, end: fromSeconds(4) }]): SpeechAnalysis => ({
  duration: fromSeconds(4),
  speech,
  energy: new Float32Array(800),
  transcript: { language: "en", words, utterances: [] },
});

/** Answers the only query with words in place of the stretched one. */
function divide(analysis: SpeechAnalysis, again: Word[]) {
  const steps = divideStretchedWords(analysis, "en");
  const recognition: Recognition = { words: again, meanLogProb: -0.2 };
  let step = steps.next();
  const asked = step.done
    ? []
    : step.value?.kind === "recognize"
      ? step.value.requests.map(({ window }) => window)
      : [];
  if (!step.done) step = steps.next({ kind: "recognize", results: asked.map(() => recognition) });
  if (!step.done) throw new Error("The words were asked for twice.");
  const { transcript, unclear } = step.value;
  return { asked, unclear, text: transcript!.words.map(({ text }) => text).join(" "), words: transcript!.words };
}

describe("a word that is stretched over a retake", () => {
  const stretched = said("not", 1.5, 2.6);

  test.each([
    [
      "its words",
      [said("act", 1.55, 1.8, 0.3), said("he", 1.8, 1.95), said("would", 1.95, 2.2), said("not", 2.2, 2.6)],
    ],
    ["the words before it", [said("he", 1.8, 1.95, 0.4), said("would", 1.95, 2.2, 0.4)]],
  ])("is divided when %s are recognized in its place", (_, again) => {
    const { asked, text, words, unclear } = divide(analyze(around(stretched)), again);
    expect(asked).toEqual([{ start: stretched.start, end: stretched.end }]);
    expect(text).toBe("when asked about it he would not he would not come here again this year");
    expect(unclear).toEqual([]);
    for (const [i, { start, end }] of words.entries()) {
      expect(end).toBeGreaterThan(start);
      if (i > 0) expect(start).toBeGreaterThanOrEqual(words[i - 1]!.end);
    }
  });

  test("is divided into sure words that contain it", () => {
    const { text } = divide(analyze(around(stretched)), [said("not", 1.5, 1.8), said("ever", 1.8, 2.6)]);
    expect(text).toContain("would not ever come");
  });

  test.each([
    ["nothing", []],
    ["other words", [said("ever", 1.5, 2), said("since", 2, 2.6)]],
    ["unsure words", [said("not", 1.5, 1.8, 0.4), said("ever", 1.8, 2.6, 0.3)]],
  ])("stays and is unclear when %s is recognized", (_, again) => {
    const { text, unclear } = divide(analyze(around(stretched)), again);
    expect(text).toBe("when asked about it he would not come here again this year");
    expect(unclear).toEqual([stretched]);
  });

  test("stays when it is recognized alone", () => {
    const { words, unclear } = divide(analyze(around(stretched)), [said("Not.", 1.7, 2.5)]);
    expect([words.length, unclear]).toEqual([12, []]);
    expect(words[6]).toMatchObject({ start: stretched.start, end: stretched.end });
  });
});

test.each([
  ["a word at the usual pace", around(said("not", 1.5, 1.75)), undefined],
  ["a long word", around(said("internationalization", 1.5, 2.6)), undefined],
  ["a word over a pause", around(said("not", 1.5, 2.6)), [{ start: 0, end: fromSeconds(1.8) }]],
  ["a word among few others", [said("he", 0, 0.2), said("not", 0.2, 1.4)], undefined],
])("%s is not recognized again", (_, words, speech) => {
  expect(divide(analyze(words, speech), []).asked).toEqual([]);
});

test.each([
  [0.7, 0],
  [0.8, 1],
])("among words of 0.25 s, one of %p s makes %p stretched words", (seconds, count) => {
  const words = [...around(said("said", 1.5, 1.5 + seconds))].map((word) => ({ ...word, text: "said" }));
  expect(findStretchedWords(words, [{ start: 0, end: fromSeconds(4) }], fromSeconds(4))).toHaveLength(count);
});

test("at most a minute of a short recording is recognized again", () => {
  const words = Array.from({ length: 400 }, (_, i) => said("so", 3 * i, 3 * i + (i % 4 === 0 ? 2.9 : 0.2)));
  const speech = [{ start: 0, end: fromSeconds(1200) }];
  const found = findStretchedWords(words, speech, fromSeconds(1200));
  expect(found).toHaveLength(20);
});
