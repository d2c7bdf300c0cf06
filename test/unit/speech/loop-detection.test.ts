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
    ["a word said six times may be meant", "xaaaaaa", null],
    ["a word said seven times is a loop", "xaaaaaaa", "xa"],
    ["a pair said four times may be meant", "xabababab", null],
    ["a pair said five times is a loop", "xababababab", "xab"],
    ["a phrase said four times is a loop", "startabcdeabcdeabcdeabcde", "startabcde"],
    ["a phrase said three times may be meant", "startabcdeabcdeabcde", null],
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
