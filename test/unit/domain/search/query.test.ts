/** Search texts of users. */
import { expect, test } from "bun:test";
import { findClosest, formatWordTerm, parseSearch, type TextRange } from "../../../../src/domain/search/query";

const format = (text: string) => parseSearch(text)?.terms.map(formatWordTerm).join(" ") ?? null;

test.each([
  ["hello world", '"hello" "world" *'],
  ["hello world ", '"hello" "world"'],
  ["he", '"he"'],
  ['"hello world" again', '"hello world" "again" *'],
  ['"hello world', '"hello world"'],
  ["„guten Tag“", '"guten Tag"'],
  ["don't AND OR NOT NEAR(a b)", `"don't" "AND" "OR" "NOT" "NEAR(a" "b)"`],
  ["text:x* ^y (z)", '"text:x*" "^y" "(z)" *'],
  ["a & b -- ' \u0000 \u0002c", '"a" "b" "c"'],
])("%j is searched for as %s", (text, expected) => {
  expect(format(text)).toBe(expected);
});

test.each(["", " ", '"', '""', "&", "…", "\u0000", "🎬"])("%j has nothing to search for", (text) => {
  expect(parseSearch(text)).toBeNull();
});

test("text of a script without spaces is searched for in trigrams", () => {
  expect(parseSearch("人民 Bank")).toEqual({
    index: "trigrams",
    terms: [
      { text: "人民", isPrefix: false },
      { text: "Bank", isPrefix: true },
    ],
  });
});

test.each<[string, string, string]>([
  ["cut the wood", "The second step is to cut the wood.", "cut the wood."],
  ["wood cut", "Wood is here, and here we cut wood.", "cut wood."],
  ["step", "A step, and another step.", "step, and another step."],
  ["absent words", "Words, and other words.", "Words, and other words."],
])("%j is closest together at the right place of %j", (typed, text, rest) => {
  const words = typed.toLowerCase().split(" ");
  const matches = [...text.matchAll(/\p{L}+/gu)]
    .filter(([word]) => words.includes(word.toLowerCase()))
    .map(({ 0: { length }, index }) => [index, index + length] as TextRange);
  const [from] = matches[findClosest(text, matches, parseSearch(typed)!)]!;
  expect(text.slice(from)).toBe(rest);
});

test("the place is found at once in a text that repeats a word as often as it can", () => {
  const text = `${"a ".repeat(1_998)}b`;
  const matches = [...text.matchAll(/[ab]/g)].map(({ index }): TextRange => [index, index + 1]);
  expect(findClosest(text, matches, parseSearch("a b ")!)).toBe(1_997);
});

test("a match has all words of a phrase, and may have several terms", () => {
  const text = "wood, and cut it, and cut wood";
  expect(
    findClosest(
      text,
      [
        [6, 9],
        [18, 21],
        [22, 30],
      ],
      parseSearch('and "cut wood"')!,
    ),
  ).toBe(1);
  expect(
    findClosest(
      "木の家と木材",
      [
        [0, 1],
        [4, 5],
        [4, 6],
      ],
      parseSearch("木 木材")!,
    ),
  ).toBe(2);
});

test("more than 16 words are ignored", () => {
  expect(parseSearch("w ".repeat(128))?.terms).toHaveLength(16);
});
