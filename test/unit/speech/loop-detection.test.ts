import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { computeMaxTokens, findLengthWithoutLoop } from "../../../src/speech/loop-detection";

const letters = (text: string) => Array.from(text, (c) => c.charCodeAt(0));
const kept = (text: string) => {
  const length = findLengthWithoutLoop(letters(text));
  return length === null ? null : text.slice(0, length);
};

describe("loop detection", () => {
  test.each([
    ["no repetition", "abcdefg", null],
    ["six repetitions of a word may be intended", "xaaaaaa", null],
    ["seven repetitions of a word are a loop", "xaaaaaaa", "xa"],
    ["four repetitions of a pair may be intended", "xabababab", null],
    ["five repetitions of a pair are a loop", "xababababab", "xab"],
    ["four repetitions of a phrase are a loop", "startabcdeabcdeabcdeabcde", "startabcde"],
    ["three repetitions of a phrase may be intended", "startabcdeabcdeabcde", null],
    ["nothing", "", null],
  ] as [string, string, string | null][])("%s", (_, text, expected) => {
    expect(kept(text)).toBe(expected);
  });

  test("the kept part is a prefix without a loop", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }), (tokens) => {
        const length = findLengthWithoutLoop(tokens);
        if (length === null) return;
        expect(length).toBeGreaterThan(0);
        expect(length).toBeLessThan(tokens.length);
      }),
    );
  });

  test("the number of tokens is bounded by the duration", () => {
    expect(computeMaxTokens(0.2)).toBe(8);
    expect(computeMaxTokens(10)).toBe(69);
  });
});
