import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DecodedText } from "../../../src/speech/recognizer";
import { findSilences, snapWordEdges } from "../../../src/speech/snapping";
import { detokenize, tokenize } from "../../../src/speech/tokens";
import { alignTokens, timeWords } from "../../../src/speech/word-timing";

/** Rows of attention as digits. */
const matrix = (...rows: string[]) => Float32Array.from(rows.join(""), Number);
const followed = (rows: string[]) => {
  const path = alignTokens(matrix(...rows), rows.length, rows[0]!.length);
  return [...path.first].map((first, k) => [first, path.end[k]!]);
};

describe("aligning tokens", () => {
  test.each([
    [
      "a diagonal",
      ["900", "090", "009"],
      [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    ],
    [
      "a long first token",
      ["9990", "0009"],
      [
        [0, 3],
        [3, 4],
      ],
    ],
    [
      "two tokens in one frame",
      ["90", "09", "09"],
      [
        [0, 1],
        [1, 2],
        [1, 2],
      ],
    ],
    [
      "a stray peak does not turn time back",
      ["0900", "9000", "0009"],
      [
        [0, 2],
        [2, 3],
        [3, 4],
      ],
    ],
    [
      "a single frame",
      ["5", "5"],
      [
        [0, 1],
        [0, 1],
      ],
    ],
  ] as [string, string[], number[][]][])("%s", (_, rows, expected) => {
    expect(followed(rows)).toEqual(expected);
  });

  test("property: every row gets frames, in order, from the first frame to the last", () => {
    const shape = fc.tuple(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 30 }),
      fc.infiniteStream(fc.float({ min: 0, max: 1, noNaN: true })),
    );
    fc.assert(
      fc.property(shape, ([rows, frames, values]) => {
        const attention = Float32Array.from({ length: rows * frames }, () => values.next().value ?? 0);
        const { first, end } = alignTokens(attention, rows, frames);
        expect(first[0]).toBe(0);
        expect(end[rows - 1]).toBe(frames);
        for (let k = 0; k < rows; k++) {
          expect(end[k]!).toBeGreaterThan(first[k]!);
          if (k > 0) expect(first[k]!).toBeGreaterThanOrEqual(first[k - 1]!);
        }
      }),
    );
  });
});

/** Decoded text whose k-th token has its attention in the frames 10 k to 10 k + 9, and starts there. */
function decodedOf(text: string): DecodedText {
  const tokens = tokenize(text);
  const rows = tokens.length + 1;
  const frames = rows * 10;
  const attention = new Float32Array(rows * frames);
  for (let k = 0; k < rows; k++) attention.fill(0.1, k * frames + k * 10, k * frames + (k + 1) * 10);
  const onset = new Float32Array(rows * frames);
  for (let k = 0; k < rows; k++) onset[k * frames + k * 10] = 1;
  return { tokens, logProbs: new Float32Array(rows).fill(-0.5), attention, onset, frames, isLoop: false };
}

describe("words", () => {
  test("keep their punctuation and case, and begin where the onset heads attend", () => {
    const words = timeWords(decodedOf("Hello, big world."));
    expect(words.map((w) => w.text)).toEqual(["Hello,", "big", "world."]);
    expect(words[0]!.start).toBeCloseTo(0.011, 6);
    for (const word of words) expect(word.meanLogProb).toBeCloseTo(-0.5, 6);
  });

  test("adjacent words share an edge; punctuation does not extend a word", () => {
    const [first, second] = timeWords(decodedOf("good morning"));
    expect(first!.end).toBe(second!.start);
    const withDots = timeWords(decodedOf("good ... ... ... ... morning"));
    expect(withDots[0]!.end).toBeLessThan(withDots[1]!.start - 0.1);
  });

  test("no tokens give no words", () => {
    expect(timeWords(decodedOf(""))).toEqual([]);
  });

  test("property: words are in order, none has zero duration, and no text is lost", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-zA-Zéü0-9',.!?-]{1,12}$/), { minLength: 1, maxLength: 8 }),
        (parts) => {
          const decoded = decodedOf(parts.join(" "));
          const words = timeWords(decoded);
          for (const [i, word] of words.entries()) {
            expect(word.end).toBeGreaterThan(word.start);
            if (i > 0) expect(word.start).toBeGreaterThan(words[i - 1]!.start);
          }
          const plain = (text: string) => text.replace(/\s/g, "");
          expect(plain(words.map((w) => w.text).join(""))).toBe(plain(detokenize(decoded.tokens)));
        },
      ),
    );
  });
});

describe("snapping", () => {
  const word = (start: number, end: number) => ({ text: "x", start, end, meanLogProb: 0, minLogProb: 0 });
  /** Two seconds: audio from 0.4 s to 0.9 s and from 1.2 s to 1.7 s. */
  const energy = new Float32Array(400).fill(-70);
  energy.fill(-20, 80, 180);
  energy.fill(-22, 240, 340);

  test("finds the silences of a segment, including short ones at its edges", () => {
    const seconds = findSilences(energy).map((r) => [r.from / 200, r.to / 200]);
    expect(seconds).toEqual([
      [0, 0.4],
      [0.9, 1.2],
      [1.7, 2],
    ]);
  });

  test("edges next to a pause move to its ends", () => {
    const [first, second] = snapWordEdges([word(0.3, 1), word(1.1, 1.85)], energy);
    expect([first!.start, first!.end, second!.start, second!.end]).toEqual([0.4, 0.9, 1.2, 1.7]);
  });

  test("edges without a pause move to the quietest place nearby", () => {
    const dip = energy.slice();
    dip[131] = -40;
    const [first, second] = snapWordEdges([word(0.4, 0.65), word(0.65, 0.9)], dip);
    expect(first!.end).toBeCloseTo(0.6575, 6);
    expect(second!.start).toBe(first!.end);
  });

  test("steady noise has no silences", () => {
    expect(findSilences(new Float32Array(400).map((_, i) => -30 + (i % 3)))).toEqual([]);
  });

  test("property: no word ends before it starts", () => {
    const times = fc.array(fc.integer({ min: 4, max: 60 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        times,
        fc.array(fc.integer({ min: -90, max: 0 }), { minLength: 1, maxLength: 50 }),
        (lengths, levels) => {
          let at = 0;
          const words = lengths.map((hops) => {
            const start = at;
            at += hops * 0.01;
            return word(start, at);
          });
          const contour = Float32Array.from(
            { length: Math.ceil(at * 200) },
            (_, i) => levels[Math.floor(i / 10) % levels.length]!,
          );
          for (const snapped of snapWordEdges(words, contour))
            expect(snapped.end).toBeGreaterThanOrEqual(snapped.start);
        },
      ),
    );
  });
});
