import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SherpaResult } from "../../../src/speech/sherpa";
import { parseResult } from "../../../src/speech/sherpa";
import { estimateWords, splitWords, timeTokens, UNKNOWN_LOG_PROB } from "../../../src/speech/sherpa-words";

const result = (part: Partial<SherpaResult>): SherpaResult => ({
  text: "",
  tokens: [],
  timestamps: [],
  durations: [],
  logProbs: [],
  language: "",
  ...part,
});
const texts = (words: { text: string }[]) => words.map((word) => word.text);

describe("the words of a text", () => {
  const cases: [string, string, string[]][] = [
    ["en", "Hello, world!  It's five-thirty.", ["Hello,", "world!", "It's", "five-thirty."]],
    ["fr", "« Bonjour » , dit-il !", ["« Bonjour » ,", "dit-il !"]],
    ["de", "24 Äpfel – genau.", ["24", "Äpfel –", "genau."]],
    ["zh", "你好，世界。", ["你好，", "世界。"]],
    ["ja", "今日は OK です。", ["今日", "は", "OK", "です。"]],
    ["es", '¿Qué? - (no) "sí"', ["¿Qué? -", "(no)", '"sí"']],
    ["en", "... --", []],
    ["en", "", []],
  ];
  test.each(cases)("%s: %p", (language, text, words) => {
    expect(texts(splitWords(text, language))).toEqual(words);
  });
});

describe("from the tokens' times", () => {
  test("tokens become words, with the likelihood of their tokens; punctuation is not spoken", () => {
    const words = timeTokens(
      result({
        tokens: [" Gu", "ten", " Mor", "gen", ".", " Ja"],
        timestamps: [0.4, 0.56, 0.8, 1.04, 1.2, 2],
        durations: [0.16, 0.16, 0.24, 0.16, 0.4, 0.24],
        logProbs: [-0.1, -0.3, -0.2, -0.4, -1.2, -0.05],
      }),
      3,
      "de",
    )!;
    expect(texts(words)).toEqual(["Guten", "Morgen.", "Ja"]);
    expect(words.map((w) => [w.start, w.end].map((t) => Math.round(t * 100) / 100))).toEqual([
      [0.4, 0.72],
      [0.8, 1.2],
      [2, 2.24],
    ]);
    expect(words[1]!.minLogProb).toBe(-1.2);
    expect(words[1]!.meanLogProb).toBeCloseTo(-0.6);
  });

  test("without lengths a word ends where the next starts, or shortly after its start", () => {
    const words = timeTokens(result({ tokens: ["▁so", "▁was", "▁ja"], timestamps: [0.2, 0.5, 3] }), 3.2, "de")!;
    expect(words.map((w) => [w.start, w.end])).toEqual([
      [0.2, 0.5],
      [0.5, 1],
      [3, 3.2],
    ]);
    expect(words[0]!.meanLogProb).toBe(UNKNOWN_LOG_PROB);
  });

  test("signs that are tokens of their own become the words of their language", () => {
    const tokens = [..."今日は晴れです。"];
    const words = timeTokens(result({ tokens, timestamps: tokens.map((_, i) => i * 0.2) }), 2, "ja")!;
    expect(texts(words).join("")).toBe("今日は晴れです。");
    expect(words[0]).toMatchObject({ text: "今日", start: 0, end: expect.closeTo(0.4) });
  });

  test("no times, no words", () => {
    expect(timeTokens(result({ tokens: ["a", "b"] }), 1, "en")).toBeNull();
    expect(timeTokens(result({}), 1, "en")).toBeNull();
  });

  test("whatever a model says, words are in order and within the stretch", () => {
    const token = fc.stringMatching(/^[ ▁]?[\p{L}\p{N}.,!]{0,4}$/u);
    const time = fc.double({ min: -1, max: 12, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(token, time, time), { minLength: 1, maxLength: 12 }), (items) => {
        const words = timeTokens(
          result({
            tokens: items.map((i) => i[0]),
            timestamps: items.map((i) => i[1]),
            durations: items.map((i) => i[2]),
          }),
          10,
          "de",
        )!;
        let before = 0;
        for (const word of words) {
          expect(word.start).toBeGreaterThanOrEqual(before);
          expect(word.end).toBeGreaterThanOrEqual(word.start);
          expect(word.end).toBeLessThanOrEqual(10);
          before = word.start;
        }
      }),
    );
  });
});

/** A contour of 5 ms values: loud in the given spans, quiet between. */
function contour(seconds: number, loud: [number, number][]): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * 200) }, (_, i) =>
    loud.some(([from, to]) => i >= from * 200 && i < to * 200) ? -20 + (i % 3) : -70,
  );
}

describe("estimated from the text and the audio", () => {
  const loud: [number, number][] = [
    [0.5, 1.5],
    [2.5, 3],
    [4, 6],
  ];
  const energy = contour(7, loud);
  const speech = loud.map(([start, end]) => ({ start, end }));

  test("pauses fall between the words that fit, and edges at pauses are those of the audio", () => {
    const words = estimateWords(
      "Welcome to the show. Today, we are building a beautiful wooden shelf.",
      speech,
      energy,
      "en",
    );
    const at = (text: string) => words.find((word) => word.text === text)!;
    expect(at("Welcome").start).toBeCloseTo(0.5, 1);
    expect(at("show.").end).toBeCloseTo(1.5, 1);
    expect([at("Today,").start, at("Today,").end]).toEqual([expect.closeTo(2.5, 1), expect.closeTo(3, 1)]);
    expect(at("we").start).toBeCloseTo(4, 1);
    expect(at("shelf.").end).toBeCloseTo(6, 1);
  });

  test("any text is aligned in order, every word once", () => {
    const text = fc.array(fc.stringMatching(/^[a-zäöü0-9]{1,9}[.,?]?$/), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(text, (parts) => {
        const words = estimateWords(parts.join(" "), speech, energy, "de");
        expect(texts(words)).toEqual(parts);
        let before = 0.49;
        for (const word of words) {
          expect(word.start).toBeGreaterThanOrEqual(before - 1e-6);
          expect(word.end).toBeGreaterThan(word.start);
          expect(loud.some(([from, to]) => word.start >= from - 0.02 && word.end <= to + 0.02)).toBe(true);
          before = word.end;
        }
        expect(before).toBeLessThanOrEqual(6.02);
      }),
    );
  });

  test("noise without silences spreads them over the voice; without voice or text there are none", () => {
    const flat = new Float32Array(1400).fill(-30);
    const words = estimateWords("eins zwei drei", [{ start: 1, end: 4 }], flat, "de");
    expect([words[0]!.start, words.at(-1)!.end]).toEqual([1, 4]);
    expect(estimateWords("eins", [], energy, "de")).toEqual([]);
    expect(estimateWords("...", speech, energy, "de")).toEqual([]);
  });
});

describe("a result", () => {
  test("keeps only lists that fit the tokens", () => {
    const value = {
      text: " Hi ",
      tokens: ["H", "i"],
      timestamps: [0, 1],
      durations: [1],
      ys_log_probs: [0, Number.NaN],
      lang: "<|de|>",
    };
    expect(parseResult(value)).toEqual({
      text: "Hi",
      tokens: ["H", "i"],
      timestamps: [0, 1],
      durations: [],
      logProbs: [],
      language: "<|de|>",
    });
    expect(parseResult({})).toEqual(result({}));
    for (const nothing of [null, undefined, "text"]) expect(() => parseResult(nothing)).toThrow("no result");
  });
});
