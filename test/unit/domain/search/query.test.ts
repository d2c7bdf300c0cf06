/** Search texts of users. */
import { expect, test } from "bun:test";
import { formatWordTerm, parseSearch } from "../../../../src/domain/search/query";

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

test("more than 16 words are ignored", () => {
  expect(parseSearch("w ".repeat(128))?.terms).toHaveLength(16);
});
