import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applyPlanTexts } from "../../../web/editor/model/corrections";
import type { Words } from "../../../web/editor/model/words";

/** A word each second. */
const toWords = (text: string): Words => {
  const words = text.split(" ");
  return {
    text: words,
    start: words.map((_, index) => index * 1_000_000),
    end: words.map((_, index) => index * 1_000_000 + 500_000),
  };
};
const show = (recognized: string, text: string) =>
  applyPlanTexts(toWords(recognized), [{ start: 0, end: 1000, text }]).text;

describe("the words of a cut", () => {
  test.each<[string, string, string[]]>([
    ["the workshop. Today", "the workshop, today", ["the", "workshop,", "today"]],
    ["Sandy edges until", "Sand the edges until", ["Sand the", "edges", "until"]],
    ["book shelf is ready", "bookshelf is ready", ["bookshelf", "", "is", "ready"]],
    ["measure wall", "measure the wall", ["measure the", "wall"]],
    ["wall", "the wall", ["the wall"]],
    ["one two", "three", ["three", ""]],
    ["one two", "", ["one", "two"]],
  ])("%p as %p", (recognized, text, expected) => {
    expect(show(recognized, text)).toEqual(expected);
  });

  test("outside the segments stay", () => {
    const { text } = applyPlanTexts(toWords("a b c d"), [{ start: 1, end: 3, text: "x y" }]);
    expect(text).toEqual(["a", "x y", "", "d"]);
  });

  test("read as the text of their segment, whatever was recognized", () => {
    const sentence = fc.array(fc.constantFrom("a", "b", "c", "d,", "E"), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sentence, sentence, (recognized, text) => {
        const shown = show(recognized.join(" "), text.join(" "));
        expect(shown).toHaveLength(recognized.length);
        expect(shown.filter(Boolean).join(" ")).toBe(text.join(" "));
      }),
    );
  });
});
