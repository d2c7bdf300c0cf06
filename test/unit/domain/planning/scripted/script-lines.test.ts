import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";

const lines = (script: string) => parseScript(script, "en").map((line) => line.text);

describe("a script as people write it", () => {
  test("is divided into its sentences", () => {
    expect(lines("Open it. Read it!\nIs it good?")).toEqual(["Open it.", "Read it!", "Is it good?"]);
  });

  test.each([
    [
      "bullets and numbers",
      "- Open it.\n* Read it.\n• Keep it.\n2. Close it.\n- [x] Go.",
      ["Open it.", "Read it.", "Keep it.", "Close it.", "Go."],
    ],
    [
      "speakers",
      "ANNA: Hello there.\nHost 2: Good evening.\nDR. SMITH (V.O.): Welcome.",
      ["Hello there.", "Good evening.", "Welcome."],
    ],
    ["a colon in a sentence", "Remember: never stop.", ["Remember: never stop."]],
    ["stage directions in brackets", "[music] Hello. [She waves]\n[END]", ["Hello."]],
    ["stage directions in parentheses", "Hello (pause) there. (cut to the kitchen)", ["Hello there."]],
    ["parentheses that are read", "The first (and last) book.", ["The first (and last) book."]],
    ["emphasis and code", "This is **very** _good_ `code`.", ["This is very good code."]],
    ["links", "See [our page](https://example.com).", ["See our page."]],
    ["rules and comments", "One.\n---\n<!-- not this -->\nTwo.", ["One.", "Two."]],
    [
      "abbreviations",
      "Dr. Lee met Mr. Fox, e.g. at noon. Then J. Doe left.",
      ["Dr. Lee met Mr. Fox, e.g. at noon.", "Then J. Doe left."],
    ],
    ["a letter at the end of a sentence", "Press a. Then press b.", ["Press a.", "Then press b."]],
    [
      "lines that end in a letter, as wide as wrapped text",
      "Turn the big wheel to the letter A.\nThen turn it back again to 5 p.m.\nPress it.",
      ["Turn the big wheel to the letter A.", "Then turn it back again to 5 p.m.", "Press it."],
    ],
    [
      "a title at the end of a wrapped row",
      "On the way to the old town we met Dr.\nLee, who had not seen it.",
      ["On the way to the old town we met Dr. Lee, who had not seen it."],
    ],
    ["decimals", "It weighs 3.5 kg. It costs $4.", ["It weighs 3.5 kg.", "It costs $4."]],
    ["quotes after the full stop", "He said “go.” We went.", ["He said “go.”", "We went."]],
    ["Windows line ends and Unicode spaces", "One.\r\n\u200bTwo.\u00a0Three.", ["One.", "Two.", "Three."]],
    ["only emoji", "🎬\n👍👍\nGo.", ["Go."]],
    ["nothing to be spoken", " \n[music]\n***\n", []],
  ])("%s", (_, script, expected) => {
    expect(lines(script)).toEqual(expected);
  });

  test("headings and asides are optional", () => {
    const parsed = parseScript("# Chapter one\n(She smiles at him)\nHello.");
    expect(parsed.map(({ text, optional }) => [text, optional])).toEqual([
      ["Chapter one", true],
      ["She smiles at him", true],
      ["Hello.", false],
    ]);
  });

  test("text wrapped at a column is unwrapped, separate lines are not", () => {
    const wrapped =
      "When the long summer had ended and the\nlast of the boats had been brought into\nthe harbour, we lit the stove.";
    expect(lines(wrapped)).toHaveLength(1);
    expect(lines("First we wash\nthen we cut\nand then we eat")).toHaveLength(3);
  });

  test("numbers have a reading in digits and one in words", () => {
    expect(parseScript("We sold 24.", "en")[0]!.spoken).toEqual(["We sold 24.", "We sold twenty four."]);
  });

  test("long sentences are divided", () => {
    const long = `${"We went on and on, ".repeat(20)}and then we stopped.`;
    for (const line of parseScript(long)) expect(line.words.length).toBeLessThanOrEqual(30);
    expect(parseScript(long).flatMap((line) => line.words)).toHaveLength(104);
  });

  test("lines of any text have words", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (script) => {
        for (const line of parseScript(script)) {
          expect(line.words.length).toBeGreaterThan(0);
          expect(line.spoken.length).toBeGreaterThan(0);
          expect(line.text).toBe(line.text.trim());
        }
      }),
    );
  });
});
