import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AudioActivity } from "../../../../src/domain/planning/audio-activity";
import { sumCovered } from "../../../../src/domain/planning/spans";
import {
  findUnderstoodSpeech,
  findUnrecognizedSpeech,
  joinBetweenWords,
  rateLanguage,
} from "../../../../src/domain/planning/understood-speech";
import type { Transcript } from "../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../src/domain/time";

type UtteranceSpec = [startSeconds: number, endSeconds: number, meanLogProb: number, text?: string];

/** Utterances with evenly spread words, two a second unless a text is given, and the voice activity below them. */
function recording(
  specs: UtteranceSpec[],
  silent: [number, number][] = [],
): { transcript: Transcript; speech: Span[] } {
  let next = 0;
  const transcript: Transcript = { language: "en", words: [], utterances: [] };
  const speech = silent.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) }));
  for (const [from, to, meanLogProb, given] of specs) {
    const [start, end] = [fromSeconds(from), fromSeconds(to)];
    const texts = given?.split(" ") ?? Array.from({ length: Math.ceil(2 * (to - from)) }, () => `word${next++}`);
    const step = (end - start) / texts.length;
    for (const [i, text] of texts.entries())
      transcript.words.push({ text, start: start + i * step, end: start + (i + 1) * step, confidence: 0.9 });
    transcript.utterances.push({ start, end, text: texts.join(" "), meanLogProb });
    speech.push({ start, end });
  }
  return { transcript, speech: speech.sort((a, b) => a.start - b.start) };
}

const notUnderstoodSeconds = (specs: UtteranceSpec[], silent?: [number, number][]) => {
  const { transcript, speech } = recording(specs, silent);
  return findUnderstoodSpeech(transcript, speech).notUnderstood.map(({ start, end }) => [start / 1e6, end / 1e6]);
};

describe("which stretches are understood", () => {
  const rows: [string, UtteranceSpec[], [number, number][]][] = [
    [
      "clear English",
      [
        [0, 10, -0.1],
        [11, 20, -0.3],
      ],
      [],
    ],
    [
      "one uncertain utterance in clear English",
      [
        [0, 10, -0.1],
        [11, 12, -0.85],
        [13, 20, -0.2],
      ],
      [],
    ],
    [
      "a recording in another language",
      [
        [0, 10, -0.7],
        [11, 20, -0.9],
      ],
      [
        [0, 10],
        [11, 20],
      ],
    ],
    [
      "a clear sentence in a recording in another language",
      [
        [0, 4, -0.05],
        [5, 20, -0.9],
      ],
      [[5, 20]],
    ],
    [
      "alternating languages",
      [
        [0, 3, -0.04],
        [3.5, 6.5, -1],
        [7, 10, -0.05],
        [10.5, 13.5, -0.9],
      ],
      [
        [3.5, 6.5],
        [10.5, 13.5],
      ],
    ],
    [
      "another language from the middle on",
      [
        [0, 60, -0.1],
        [80, 90, -0.9],
        [91, 100, -0.5],
        [101, 110, -0.9],
      ],
      [
        [80, 90],
        [91, 100],
        [101, 110],
      ],
    ],
    ["no words", [], []],
  ];
  test.each(rows)("%s", (_, specs, expected) => {
    expect(notUnderstoodSeconds(specs)).toEqual(expected);
  });

  test("a text in a loop is not understood, however certain", () => {
    const text = Array.from({ length: 10 }, () => "one two three four five").join(" ");
    expect(notUnderstoodSeconds([[0, 20, -0.3, text]])).toEqual([[0, 20]]);
  });

  const sentence = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`).join(" ");
  const takes = ["a", "a", "b", "c", "c", "d"].map((name) => sentence(name, 12)).join(" ");

  test("retakes of several sentences are", () => {
    expect(notUnderstoodSeconds([[0, 40, -0.25, takes]])).toEqual([]);
  });

  test("a line that is said twice in a short recording is", () => {
    const line = sentence("a", 11);
    expect(notUnderstoodSeconds([[0, 11, -0.3, `${line} ${line}`]])).toEqual([]);
  });

  test("retakes of every line are", () => {
    const lines = Array.from({ length: 20 }, (_, i) => sentence(`line${i}word`, 11));
    const specs = [...lines, ...lines].map((line, i): UtteranceSpec => [6 * i, 6 * i + 5, -0.32, line]);
    const atOnce = lines.flatMap((line) => [line, line]).join(" ");
    expect(notUnderstoodSeconds(specs)).toEqual([]);
    expect(notUnderstoodSeconds([[0, 240, -0.32, atOnce]])).toEqual([]);
  });

  test("repeated sentences that were recognized with little certainty are not", () => {
    expect(notUnderstoodSeconds([[0, 40, -0.45, takes]])).toEqual([[0, 40]]);
  });

  test("a phrase that is said twice is", () => {
    const text =
      "we choose to go to the moon in this decade and do the other things not because they are easy but because they are hard we choose to go";
    expect(notUnderstoodSeconds([[0, 20, -0.3, text]])).toEqual([]);
  });

  const loop = (count: number, period: number) => Array.from({ length: count }, (_, i) => `w${i % period}`).join(" ");
  const between = (x: number): UtteranceSpec[] => [
    [0, 60, -0.1],
    [80, 90, -0.9],
    [91, 100, x],
    [101, 110, -0.9],
  ];

  test.each<[string, UtteranceSpec[], UtteranceSpec[], number]>([
    [
      "a clear utterance in a recording that is not",
      [
        [0, 4, -0.18],
        [5, 20, -0.9],
      ],
      [
        [0, 4, -0.22],
        [5, 20, -0.9],
      ],
      1,
    ],
    ["an utterance between two that are not", between(-0.28), between(-0.32), 1],
    ["retakes", [[0, 40, -0.33, takes]], [[0, 40, -0.37, takes]], 1],
    ["the words of a short transcript", [[0, 10, -0.3, loop(24, 5)]], [[0, 10, -0.3, loop(26, 5)]], 1],
    ["phrases that occur again later", [[0, 20, -0.3, loop(60, 9)]], [[0, 20, -0.3, loop(60, 8)]], 1],
  ])("the threshold of %s", (_, specs, others, more) => {
    expect(notUnderstoodSeconds(others).length - notUnderstoodSeconds(specs).length).toBe(more);
  });

  test.each([
    ["are not, if all are uncertain", 100.9, -0.4, 4],
    ["are, if one is clear", 100.9, -0.2, 2],
    ["are, if they take more than ten seconds", 101.1, -0.4, 2],
  ])("utterances between two that are not understood %s", (_, end, last, expected) => {
    const specs: UtteranceSpec[] = [
      [0, 60, -0.1],
      [80, 90, -0.9],
      [91, 95, -0.4],
      [96, end, last],
      [102, 111, -0.9],
    ];
    expect(notUnderstoodSeconds(specs)).toHaveLength(expected);
  });

  test("French inside English is one stretch", () => {
    const { transcript, speech } = recording([
      [0, 5, -0.1],
      [5, 15, -0.1],
      [15.5, 18.9, -1.3],
      [19, 23.5, -0.4],
      [23.7, 27.8, -1.3],
      [28.5, 33, -0.1],
    ]);
    const joined = joinBetweenWords(findUnderstoodSpeech(transcript, speech));
    expect(joined.map(({ start, end }) => [start / 1e6, end / 1e6])).toEqual([[15.5, 27.8]]);
  });

  test("forty minutes of uncertain speech between two short stretches that are not understood are", () => {
    const specs = Array.from({ length: 600 }, (_, i): UtteranceSpec => {
      const isGarbled = [100, 101, 498, 499].includes(i);
      return [6 * i, 6 * i + 5.5, isGarbled ? -1.2 : i > 100 && i < 499 ? -0.32 : -0.1];
    });
    expect(notUnderstoodSeconds(specs)).toHaveLength(4);
  });

  test("the threshold of voice with few words", () => {
    expect(notUnderstoodSeconds([[0, 2.2, -0.1]], [[3, 10.8]])).toEqual([]);
    expect(notUnderstoodSeconds([[0, 1.8, -0.1]], [[3, 11.2]]).length).toBe(2);
  });

  test("voice with almost no words is not understood", () => {
    expect(notUnderstoodSeconds([[0, 1, -0.1]], [[2, 12]])).toEqual([
      [0, 1],
      [2, 12],
    ]);
  });

  test("voice without an utterance goes with its neighborhood", () => {
    expect(
      notUnderstoodSeconds(
        [
          [0, 10, -0.9],
          [13, 20, -0.9],
        ],
        [[11, 12]],
      ),
    ).toEqual([
      [0, 10],
      [11, 12],
      [13, 20],
    ]);
  });

  test("stretches without a word between them are one", () => {
    const { transcript, speech } = recording([
      [0, 60, -0.1],
      [80, 90, -0.9],
      [91, 100, -0.9],
      [101, 110, -0.9],
      [130, 190, -0.1],
      [210, 220, -0.9],
    ]);
    const joined = joinBetweenWords(findUnderstoodSpeech(transcript, speech));
    expect(joined.map(({ start, end }) => [start / 1e6, end / 1e6])).toEqual([
      [80, 110],
      [210, 220],
    ]);
  });

  test("words are kept outside, and only outside, of what was not understood", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: -15, max: 0 })), { maxLength: 20 }),
        (parts) => {
          let at = 0;
          const specs = parts.map(([seconds, tenths]): UtteranceSpec => {
            const start = at;
            at += seconds + 1;
            return [start, start + seconds, tenths / 10];
          });
          const { transcript, speech } = recording(specs);
          const { transcript: kept, notUnderstood } = findUnderstoodSpeech(transcript, speech);
          const isInside = (time: number) => notUnderstood.some((span) => span.start <= time && time < span.end);
          expect(kept.words).toEqual(transcript.words.filter((word) => !isInside((word.start + word.end) / 2)));
          expect(sumCovered(notUnderstood, speech)).toBeLessThanOrEqual(
            speech.reduce((sum, s) => sum + s.end - s.start, 0),
          );
        },
      ),
    );
  });
});

test("a word without duration does not take a voiced region", () => {
  const [start, end] = [fromSeconds(1), fromSeconds(2)];
  const activity: AudioActivity = {
    energy: new Float32Array(600),
    speechRegions: [{ start, end }],
    noiseRegions: [],
    duration: fromSeconds(3),
    contrast: 40,
  };
  const find = (wordEnd: number) =>
    findUnrecognizedSpeech(
      [{ text: "a", start: start + 100, end: wordEnd, confidence: 0.9 }],
      activity,
      { speech: [{ start, end }] },
      fromSeconds(0.5),
    ).map((span) => [span.start, span.end]);
  expect(find(start + 100)).toEqual([[start, end]]);
  expect(find(start + 200)).toEqual([]);
});

describe("how likely the language is", () => {
  test.each<[string, UtteranceSpec[], number | null]>([
    [
      "clear English",
      [
        [0, 10, -0.1],
        [11, 20, -0.3],
      ],
      1,
    ],
    [
      "another language",
      [
        [0, 10, -0.7],
        [11, 20, -0.9],
      ],
      0,
    ],
    [
      "two languages",
      [
        [0, 4, -0.05],
        [5, 17, -0.9],
      ],
      0.25,
    ],
    [
      "another language after the first minutes",
      [
        [0, 100, -0.1],
        [320, 600, -0.9],
      ],
      1,
    ],
    ["too little speech", [[0, 1, -0.9]], null],
    ["silence", [], null],
  ])("%s", (_, specs, expected) => {
    const { transcript, speech } = recording(specs);
    expect(rateLanguage(transcript, speech)).toBe(expected);
  });

  test("voice in which almost no word was recognized", () => {
    const { transcript, speech } = recording([[0, 1, -0.1]], [[2, 30]]);
    expect(rateLanguage(transcript, speech)).toBe(0);
  });
});
