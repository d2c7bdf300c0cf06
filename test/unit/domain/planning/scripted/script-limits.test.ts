import { describe, expect, test } from "bun:test";
import { findScriptLimit } from "../../../../../src/domain/planning/scripted/script-limits";
import { measureWordDistance } from "../../../../../src/domain/text/normalize";

const CHARACTERS = "must have at most 200000 characters";
const NORMALIZED = "must have at most 200000 characters after Unicode normalization (NFKC)";
const WORDS = "must have at most 20000 words";

describe("the length of a script", () => {
  test.each<[string, string, string | null]>([
    ["nothing", "", null],
    ["20,000 words", "word ".repeat(20_000), null],
    ["20,001 words", "word ".repeat(20_001), WORDS],
    ["20,000 words in lines", "a word\n".repeat(10_000), null],
    ["200,000 letters in one word", "x".repeat(200_000), null],
    ["200,001 letters in one word", "x".repeat(200_001), CHARACTERS],
    ["200,000 spaces", " ".repeat(200_000), null],
    ["200,000 characters of two units", "🎬".repeat(200_000), null],
    ["200,001 characters of two units", "🎬".repeat(200_001), CHARACTERS],
    ["a million letters", "x".repeat(1_000_000), CHARACTERS],
    ["letters that are each four words", "\ufdfa".repeat(8_000), WORDS],
    ["330,000 of them", "\ufdfa".repeat(330_000), WORDS],
    ["letters that are each four letters, in one word", "\ufdf2".repeat(60_000), NORMALIZED],
    ["20,001 words without spaces", "漢".repeat(20_001), WORDS],
    ["20,000 words without spaces", "漢".repeat(20_000), null],
    ["numbers that are many words when spoken", "1".repeat(20_001), WORDS],
    ["half a character at the end", `x\ud83c`, null],
  ])("%s", (_, script, expected) => {
    expect(findScriptLimit(script)).toBe(expected);
  });
});

test("very long words are compared in constant time", () => {
  const [a, b] = ["x".repeat(300_000), `${"x".repeat(299_999)}y`];
  expect(measureWordDistance(a, b)).toBe(1);
  expect(measureWordDistance(a, a)).toBe(0);
  expect(measureWordDistance(a, "x")).toBe(1);
  expect(measureWordDistance("color", "colour")).toBe(0.3);
});
