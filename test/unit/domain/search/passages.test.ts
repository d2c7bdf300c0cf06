/** Passages of transcripts: any words are in them once, and each place in a text has its time. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { findTime, type SpokenWord, splitPassages } from "../../../../src/domain/search/passages";

/** Words of half a second, with a pause of 100 ms after each. */
const speak = (text: string, from = 0): SpokenWord[] =>
  text.split(" ").map((word, n) => ({ text: word, start: from + 600 * n, end: from + 600 * n + 500 }));

const whole = (text: string) => splitPassages(speak(text));

test("a sentence ends a passage, which repeats the start of the next one", () => {
  const first = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen.";
  const [passage, next, ...rest] = whole(`${first} And the second sentence is a short one.`);
  expect([passage!.text, passage!.text.slice(0, passage!.ownLength)]).toEqual([
    `${first} And the second sentence is a`,
    first,
  ]);
  expect([next!.text, next!.ownLength, rest]).toEqual([
    "And the second sentence is a short one.",
    next!.text.length,
    [],
  ]);
});

test("a pause ends a passage, and so do many words without one", () => {
  const words = [...speak("a b c d e f g h"), ...speak("i j", 60_000)];
  expect(splitPassages(words).map(({ text, ownLength }) => text.slice(0, ownLength))).toEqual([
    "a b c d e f g h",
    "i j",
  ]);
  const long = Array.from({ length: 100 }, (_, n) => `w${n}`).join(" ");
  expect(whole(long).map(({ text, ownLength }) => text.slice(0, ownLength).split(" ").length)).toEqual([40, 40, 20]);
});

test("letters of scripts without spaces are joined", () => {
  const [passage] = whole("我 们 去 Berlin 吧 。");
  expect([passage!.text, passage!.isUnspaced]).toEqual(["我们去 Berlin 吧。  ", true]);
  expect(whole("Guten Tag")[0]!.isUnspaced).toBe(false);
});

test("the time of a match is from its first word to the word after its last", () => {
  const [passage] = whole("say Offcut not off cut");
  const timeOf = (text: string) => {
    const from = passage!.text.indexOf(text);
    return findTime(passage!, [from, from + text.length]);
  };
  expect(timeOf("Offcut")).toEqual({ start: 600, end: 1200 });
  expect(timeOf("not off")).toEqual({ start: 1200, end: 2400 });
  expect(timeOf("cut")).toEqual({ start: 600, end: 1200 });
  expect(timeOf("off cut")).toEqual({ start: 1800, end: 2900 });
});

test("characters that are not text are dropped", () => {
  const words = ["\u0002bold\u0003", " ", "\u0000", "two\nlines", "\ud800x", "e\u0301"].map((text, n) => ({
    text,
    start: n,
    end: n,
  }));
  expect(splitPassages(words).map(({ text }) => text)).toEqual(["bold two lines x é"]);
  expect(splitPassages([])).toEqual([]);
});

test("any words are in the passages once, in their order, and keep their times", () => {
  const word = fc.record({
    text: fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }),
    pause: fc.nat(2_000),
    length: fc.nat(70_000),
  });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 200 }), (given) => {
      let at = 0;
      const words = given.map(({ text, pause, length }) => {
        const start = at + pause;
        at = start + length;
        return { text, start, end: at };
      });
      const passages = splitPassages(words);
      const own = passages
        .map(({ text, ownLength }) => text.slice(0, ownLength))
        .join("")
        .replace(/\s/gu, "");
      const clean = words.map(({ text }) =>
        text.normalize("NFC").replace(/\s+/gu, " ").replace(/\p{C}/gu, "").trim().slice(0, 200).toWellFormed(),
      );
      expect(own).toBe(clean.join("").replace(/\s/gu, ""));
      for (const passage of passages) {
        const { start, end } = findTime(passage, [0, 1]);
        expect(start).toBe(passage.start);
        expect(end).toBeLessThanOrEqual(passage.end);
        // Rounded to 10 ms.
        const last = findTime(passage, [passage.text.length, passage.text.length]);
        const known = words.some((each) => Math.abs(each.start - last.start) <= 10);
        expect([known, last.end]).toEqual([true, passage.end]);
      }
    }),
  );
});
