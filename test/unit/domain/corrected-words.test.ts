import { describe, expect, test } from "bun:test";
import type { Word } from "../../../src/domain/speech";
import { correctWords } from "../../../src/domain/subtitles/corrected-words";
import { measureProcessorMs } from "../../processor-time";

const SECOND = 1_000_000;
/** One word a second, each half a second long: "a" at 0, "b" at 1, … */
const words: Word[] = [..."abcdefgh"].map((text, i) => ({
  text,
  start: i * SECOND,
  end: i * SECOND + SECOND / 2,
  confidence: 0.9,
}));
const span = ([from, to]: [number, number]) => ({ start: from * SECOND, end: to * SECOND });

/** Formats words as `text@start-end`, in seconds. */
const show = (found: Word[]) =>
  found.map(({ text, start, end }) => `${text}@${start / SECOND}-${end / SECOND}`).join(" ");

describe("a text", () => {
  const kept: [number, number] = [1, 5];
  test.each<[string, string | null, string]>([
    ["that was not given", null, "b@1-1.5 c@2-2.5 d@3-3.5 e@4-4.5"],
    ["that is unchanged", "b c d e", "b@1-1.5 c@2-2.5 d@3-3.5 e@4-4.5"],
    ["with other spaces", "  b\tc\n d  e ", "b@1-1.5 c@2-2.5 d@3-3.5 e@4-4.5"],
    ["with a corrected word", "b X d e", "b@1-1.5 X@2-2.5 d@3-3.5 e@4-4.5"],
    ["with two corrected words", "b X Y e", "b@1-1.5 X@2-2.5 Y@3-3.5 e@4-4.5"],
    ["with two words for one", "b X Y d e", "b@1-1.5 X Y@2-2.5 d@3-3.5 e@4-4.5"],
    ["with one word for two", "b X e", "b@1-1.5 X@2-3.5 e@4-4.5"],
    ["with an inserted word", "b c X d e", "b@1-1.5 c X@2-2.5 d@3-3.5 e@4-4.5"],
    ["with an inserted first word", "X b c d e", "X b@1-1.5 c@2-2.5 d@3-3.5 e@4-4.5"],
    ["with an inserted last word", "b c d e X", "b@1-1.5 c@2-2.5 d@3-3.5 e X@4-4.5"],
    ["without its first and last words", "c d", "c@2-2.5 d@3-3.5"],
    ["with nothing in common", "X Y", "X Y@1-4.5"],
    ["that was emptied", "", ""],
  ])("%s", (_, text, expected) => {
    const result = correctWords(words, [{ ...span(kept), text }], [span(kept)]);
    expect(show(result.filter(({ start }) => start >= SECOND && start < 5 * SECOND))).toBe(expected);
    expect(show(result.filter(({ start }) => start < SECOND || start >= 5 * SECOND))).toBe(
      "a@0-0.5 f@5-5.5 g@6-6.5 h@7-7.5",
    );
  });
});

describe("bounds that were moved:", () => {
  test.each<[string, [number, number], string, string]>([
    ["a longer segment gains the recognized words", [1, 6], "b X d", "b@1-1.5 X@2-2.5 d@3-3.5 e@4-4.5 f@5-5.5"],
    [
      "a longer segment with its words typed has them once",
      [1, 6],
      "b c d e f",
      "b@1-1.5 c@2-2.5 d@3-3.5 e@4-4.5 f@5-5.5",
    ],
    ["a shorter segment loses words", [2, 4], "b c d", "c@2-2.5 d@3-3.5"],
    ["a segment that was split has its own words", [1, 3], "b X", "b@1-1.5 X@2-2.5"],
    ["a corrected word that is clipped stays", [1, 2.3], "b X", "b@1-1.5 X@2-2.3"],
    ["a new text stays in its segment", [1, 2.3], "X Y Z", "X Y Z@1-2.3"],
    ["a segment where nothing was kept", [5, 7], "f X", "f@5-5.5 X@6-6.5"],
  ])("%s", (_, bounds, text, expected) => {
    const result = correctWords(words, [{ ...span(bounds), text }], [span([1, 4])]);
    const inside = ({ start }: Word) => start >= bounds[0] * SECOND && start < bounds[1] * SECOND;
    expect(show(result.filter(inside))).toBe(expected);
  });
});

test("without recognized words a text takes the time of its segment", () => {
  expect(show(correctWords([], [{ ...span([1, 3]), text: "by hand" }], []))).toBe("by hand@1-3");
  expect(correctWords([], [{ ...span([1, 3]), text: null }], [])).toEqual([]);
});

test("hours of speech with a new text are no burden", async () => {
  const long = Array.from({ length: 30_000 }, (_, i) => ({ ...word(i), text: `w${i}` }));
  const text = long.map((_, i) => `v${i}`).join(" ");
  const cost = await measureProcessorMs(() => {
    expect(correctWords(long, [{ start: 0, end: 30_000 * SECOND, text }], []).length).toBe(30_000);
  });
  expect(cost).toBeLessThan(2_000);
});
const word = (i: number): Word => ({ text: "", start: i * SECOND, end: i * SECOND + 1, confidence: 1 });
