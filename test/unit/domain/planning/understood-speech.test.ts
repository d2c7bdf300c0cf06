import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AudioActivity } from "../../../../src/domain/planning/audio-activity";
import { sumCovered } from "../../../../src/domain/planning/spans";
import {
  findUnderstoodSpeech,
  findUnrecognizedSpeech,
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
      transcript.words.push({
        text,
        start: start + i * step,
        end: start + (i + 1) * step,
        confidence: Math.exp(meanLogProb),
      });
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
      [[0, 20]],
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
        [0, 4, -0.04],
        [4.5, 8, -1],
        [8.5, 12.5, -0.05],
        [13, 16.5, -0.9],
      ],
      [
        [4.5, 8],
        [13, 16.5],
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
      [[80, 110]],
    ],
    [
      "French inside English",
      [
        [0, 15, -0.1],
        [15.5, 18.9, -1.3],
        [19, 23.5, -0.4],
        [23.7, 27.8, -1.3],
        [28.5, 33, -0.1],
      ],
      [[15.5, 27.8]],
    ],
    ["no words", [], []],
  ];
  test.each(rows)("%s", (_, specs, expected) => {
    expect(notUnderstoodSeconds(specs)).toEqual(expected);
  });

  const sentence = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`).join(" ");
  const takes = ["a", "a", "b", "c", "c", "d"].map((name) => sentence(name, 12)).join(" ");

  test("retakes of several sentences are", () => {
    expect(notUnderstoodSeconds([[0, 40, -0.25, takes]])).toEqual([]);
  });

  const line = (count: number, words: number) => Array.from({ length: count }, () => sentence("a", words)).join(" ");
  const said = (count: number, text: string, logProb: number) =>
    Array.from({ length: count }, (_, i): UtteranceSpec => [5 * i, 5 * i + 4, logProb, text]);

  test.each([9, 11, 13])("three and four takes of %d words in one utterance are", (words) => {
    for (const count of [3, 4])
      for (const logProb of [-0.1, -0.25, -0.4]) {
        const { transcript, speech } = recording([[0, 14, logProb, line(count, words)]]);
        expect(findUnderstoodSpeech(transcript, speech).notUnderstood).toEqual([]);
        expect(rateLanguage(transcript, speech)).toBe(1);
      }
  });

  test("two takes of a line in one utterance, and takes in several utterances, are", () => {
    for (const words of [4, 6, 8, 11]) {
      expect(notUnderstoodSeconds([[0, 8, -0.4, line(2, words)]])).toEqual([]);
      expect(notUnderstoodSeconds(said(6, line(1, words), -0.4))).toEqual([]);
    }
  });

  test("a text that fills a recording is not", () => {
    expect(notUnderstoodSeconds(said(30, line(1, 10), -0.4))).toEqual([[0, 149]]);
    expect(notUnderstoodSeconds(said(60, "Thank you.", -0.25))).toEqual([[0, 294]]);
    expect(notUnderstoodSeconds(said(30, line(1, 10), -0.1))).toEqual([]);
  });

  test("a text in a loop is not, and the speech around it is", () => {
    const specs = (logProb: number): UtteranceSpec[] => [
      [0, 10, -0.1],
      [11, 21, logProb, line(5, 8)],
      [22, 32, -0.1],
    ];
    expect(notUnderstoodSeconds(specs(-0.35))).toEqual([[11, 21]]);
    expect(notUnderstoodSeconds(specs(-0.1))).toEqual([]);
  });

  test("retakes of every line are", () => {
    const lines = Array.from({ length: 20 }, (_, i) => sentence(`line${i}word`, 11));
    const specs = [...lines, ...lines].map((line, i): UtteranceSpec => [6 * i, 6 * i + 5, -0.32, line]);
    const atOnce = lines.flatMap((line) => [line, line]).join(" ");
    expect(notUnderstoodSeconds(specs)).toEqual([]);
    expect(notUnderstoodSeconds([[0, 240, -0.32, atOnce]])).toEqual([]);
  });

  test("a phrase that is said twice is", () => {
    const text =
      "we choose to go to the moon in this decade and do the other things not because they are easy but because they are hard we choose to go";
    expect(notUnderstoodSeconds([[0, 20, -0.3, text]])).toEqual([]);
  });

  const within = (seconds: number, logProb: number, around = -0.1): UtteranceSpec[] => [
    [0, 300, around],
    [301, 301 + seconds, logProb],
    [310 + seconds, 610 + seconds, around],
  ];
  const atEnd = (seconds: number): UtteranceSpec[] => within(seconds, -0.9).slice(0, 2);
  const between = (seconds: number): UtteranceSpec[] => [
    [0, 10, -0.9],
    [11, 11 + seconds, -0.1],
    [12 + seconds, 22 + seconds, -0.9],
    [40, 90, -0.1],
  ];

  test.each<[string, UtteranceSpec[], UtteranceSpec[], number]>([
    ["a short stretch", within(2.9, -0.9), within(3.1, -0.9), 1],
    ["a short stretch at the end", atEnd(1.4), atEnd(1.6), 1],
    ["a clear sentence between two stretches", between(2.9), between(3.1), 1],
    ["a long stretch in clear speech", within(100, -0.48), within(100, -0.52), 1],
    ["a long stretch in speech that is less clear", within(100, -0.52, -0.2), within(100, -0.57, -0.2), 1],
    ["a recording in which nothing is clear", [[0, 60, -0.58]], [[0, 60, -0.62]], 1],
    [
      "a recording of which a part is clear",
      [
        [0, 60, -0.55],
        [70, 95, -0.1],
      ],
      [
        [0, 60, -0.55],
        [70, 97, -0.1],
      ],
      1,
    ],
    ["a phrase that is repeated at once", [[0, 10, -0.35, line(4, 9)]], [[0, 10, -0.35, line(4, 8)]], 1],
    ["an utterance in which a phrase is", [[0, 10, -0.29, line(5, 8)]], [[0, 10, -0.31, line(5, 8)]], 1],
    ["the takes of a line", said(6, line(1, 10), -0.4), said(7, line(1, 10), -0.4), 1],
    ["speech in which a line is repeated", said(9, line(1, 10), -0.19), said(9, line(1, 10), -0.21), 1],
  ])("the threshold of %s", (_, specs, others, more) => {
    expect(notUnderstoodSeconds(others).length - notUnderstoodSeconds(specs).length).toBe(more);
  });

  test("an utterance of two languages is divided between its words", () => {
    const { transcript, speech } = recording([
      [0, 12, -0.5],
      [13, 40, -0.1],
    ]);
    for (const word of transcript.words)
      if (word.end <= fromSeconds(12)) word.confidence = Math.exp(word.start < fromSeconds(6) ? -0.9 : -0.1);
    const { notUnderstood, transcript: kept } = findUnderstoodSpeech(transcript, speech);
    expect(notUnderstood).toEqual([{ start: 0, end: fromSeconds(6) }]);
    expect(kept.words[0]!.start).toBe(fromSeconds(6));
  });

  test("forty minutes of uncertain speech between two short stretches that are not understood are", () => {
    const specs = Array.from({ length: 600 }, (_, i): UtteranceSpec => {
      const isGarbled = [100, 101, 498, 499].includes(i);
      return [6 * i, 6 * i + 5.5, isGarbled ? -1.2 : i > 100 && i < 499 ? -0.32 : -0.1];
    });
    expect(notUnderstoodSeconds(specs)).toHaveLength(2);
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
    const specs: UtteranceSpec[] = [
      [0, 10, -0.1],
      [15, 25, -0.9],
    ];
    expect(notUnderstoodSeconds(specs, [[11, 12]])).toEqual([[15, 25]]);
    expect(notUnderstoodSeconds(specs, [[13, 14]])).toEqual([[13, 25]]);
    expect(notUnderstoodSeconds([...specs, [30, 40, -0.9]], [[27, 28]])).toEqual([[15, 40]]);
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
