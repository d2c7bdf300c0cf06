import { expect, test } from "bun:test";
import fc from "fast-check";
import { wordDistance } from "../../../../src/domain/text/normal";
import { alignWords } from "../../../../src/domain/text/word-alignment";

const words = (text: string) => text.split(" ").filter((word) => word !== "");
const aligned = (a: string, b: string, openEnd = false) => {
  const { pairs, cost } = alignWords(words(a), words(b), wordDistance, openEnd);
  return { pairs: [...pairs], cost };
};

test("the same words stand for each other", () => {
  expect(aligned("turn the key", "turn the key")).toEqual({ pairs: [0, 1, 2], cost: 0 });
});
test("a word more costs less than a word less", () => {
  expect(aligned("turn the big key", "turn the key")).toEqual({ pairs: [0, 1, -1, 2], cost: 0.7 });
  expect(aligned("turn key", "turn the key")).toEqual({ pairs: [0, 2], cost: 1 });
});
test("what comes after costs nothing when the end is open", () => {
  expect(aligned("turn the", "turn the key to the left", true)).toEqual({ pairs: [0, 1], cost: 0 });
  expect(aligned("turn the", "turn the key to the left").cost).toBe(4);
});
test("pairs are in order, inside, and of words that are alike; a text against itself costs nothing", () => {
  const text = fc.array(fc.constantFrom("turn", "turns", "the", "key", "left"), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, fc.boolean(), (a, b, openEnd) => {
      const { pairs, cost } = alignWords(a, b, wordDistance, openEnd);
      const used = [...pairs].filter((pair) => pair >= 0);
      expect(used).toEqual([...new Set(used)].sort((x, y) => x - y));
      for (const [i, pair] of pairs.entries()) if (pair >= 0) expect(wordDistance(a[i]!, b[pair]!)).toBeLessThan(1);
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(alignWords(a, a, wordDistance, openEnd).cost).toBe(0);
    }),
  );
});
