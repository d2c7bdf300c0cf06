import { expect, test } from "bun:test";
import fc from "fast-check";
import { measureWordDistance } from "../../../../src/domain/text/normalize";
import { alignWords } from "../../../../src/domain/text/word-alignment";

const words = (text: string) => text.split(" ").filter((word) => word !== "");
const align = (a: string, b: string, openEnd = false) => {
  const { pairs, cost } = alignWords(words(a), words(b), measureWordDistance, openEnd);
  return { pairs: [...pairs], cost };
};

test("equal words are paired", () => {
  expect(align("turn the key", "turn the key")).toEqual({ pairs: [0, 1, 2], cost: 0 });
});
test("a missing word costs less than an added one", () => {
  expect(align("turn the big key", "turn the key")).toEqual({ pairs: [0, 1, -1, 2], cost: 0.7 });
  expect(align("turn key", "turn the key")).toEqual({ pairs: [0, 2], cost: 1 });
});
test("added words at an open end cost nothing", () => {
  expect(align("turn the", "turn the key to the left", true)).toEqual({ pairs: [0, 1], cost: 0 });
  expect(align("turn the", "turn the key to the left").cost).toBe(4);
});
test("pairs are in order, within bounds and of similar words; a text aligned with itself costs nothing", () => {
  const text = fc.array(fc.constantFrom("turn", "turns", "the", "key", "left"), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, fc.boolean(), (a, b, openEnd) => {
      const { pairs, cost } = alignWords(a, b, measureWordDistance, openEnd);
      const used = [...pairs].filter((pair) => pair >= 0);
      expect(used).toEqual([...new Set(used)].sort((x, y) => x - y));
      for (const [i, pair] of pairs.entries())
        if (pair >= 0) expect(measureWordDistance(a[i]!, b[pair]!)).toBeLessThan(1);
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(alignWords(a, a, measureWordDistance, openEnd).cost).toBe(0);
    }),
  );
});
