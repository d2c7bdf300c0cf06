/** Passages with corrected texts: words keep their times, and nothing is added that the passage has. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { correctPassage, LINE_SEPARATOR, splitText } from "../../../../src/domain/search/corrections";
import { findTime, listWords, type SpokenWord, splitPassages } from "../../../../src/domain/search/passages";

/** Words of half a second, with a pause of 100 ms after each. */
const speak = (text: string): SpokenWord[] =>
  text.split(" ").map((word, n) => ({ text: word, start: 600 * n, end: 600 * n + 500 }));

/** The text of some words, from the first to the last. */
const write = (text: string, first: number, last = first): SpokenWord => ({
  text,
  start: 600 * first,
  end: 600 * last + 500,
});

const correct = (spoken: string, ...texts: SpokenWord[]) => {
  const [passage] = splitPassages(speak(spoken));
  const corrected = correctPassage(passage!, texts.map(splitText));
  return corrected && { text: corrected.text, times: listWords(corrected).map(({ start }) => start) };
};

test("a text stands in place of the words in its span", () => {
  expect(correct("my name is Janus and", write("Jānis", 3))).toEqual({
    text: "my name is Jānis and",
    times: [0, 600, 1200, 1800, 2400],
  });
  // Fewer and more words share the time of those that they replace.
  expect(correct("use off cut now", write("Offcut", 1, 2))).toEqual({ text: "use Offcut now", times: [0, 600, 1800] });
  expect(correct("say offcut now", write("off the cut", 1))).toEqual({
    text: "say off the cut now",
    times: [0, 600, 770, 930, 1200],
  });
  // Also for a word that is longer in the transcript.
  expect(correct("a b c", write("x", 0), write("z", 2))?.text).toBe("x b z");
});

test("passages to which a cut adds nothing are not stored again", () => {
  expect(correct("my name is Janus", write("Janus", 3))).toBeNull();
  expect(correct("my name is Janus", write("", 3))).toBeNull();
  expect(correct("my name is Janus", write("Jānis", 9))).toBeNull();
  expect(correct("my name is Janus", write(" \u0000\ue000 ", 3))).toBeNull();
});

test("a text of several passages is divided between them", () => {
  const spoken = speak(Array.from({ length: 60 }, (_, n) => `w${n}`).join(" "));
  const passages = splitPassages(spoken);
  expect(passages).toHaveLength(2);
  const text = Array.from({ length: 60 }, (_, n) => `n${n}`).join(" ");
  const [first, second] = passages.map((passage) => correctPassage(passage, [splitText(write(text, 0, 59))])!);
  expect([first, second].map((one) => one!.text.slice(0, one!.ownLength)).join(" ")).toBe(text);
  // As in transcripts, the first words of the next passage are repeated.
  expect(first!.text).toEndWith(" n45");
  expect(second!.text).toStartWith("n41 n42 ");
});

test("any texts leave times in order, and each word at the place of its text", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "é", "北", " ", "\n", "\ue000", "\u0000"), maxLength: 6 });
  const cuts = fc.array(fc.record({ text: word, gap: fc.nat(3000), length: fc.integer({ min: 1, max: 3000 }) }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), cuts, (count, texts) => {
      let at = 0;
      const spans = texts.map(({ text, gap, length }) => {
        const start = at + gap;
        at = start + length;
        return { text, start, end: at };
      });
      for (const passage of splitPassages(speak(Array.from({ length: count }, (_, n) => `w${n}`).join(" ")))) {
        const corrected = correctPassage(passage, spans.map(splitText));
        if (corrected === null) continue;
        expect(corrected.text).not.toContain(LINE_SEPARATOR[0]!);
        expect(corrected.text).not.toContain(LINE_SEPARATOR[1]!);
        expect(corrected.ownLength).toBeGreaterThan(0);
        const words = listWords(corrected);
        expect(words.map(({ start }) => start)).toEqual(words.map(({ start }) => start).toSorted((a, b) => a - b));
        const last = findTime(corrected, [corrected.ownLength - 1, corrected.ownLength]);
        expect(last.start).toBeGreaterThanOrEqual(passage.start - 10);
        expect(last.start).toBeLessThanOrEqual(passage.end);
      }
    }),
  );
});

test("a text of any length is limited", () => {
  const [passage] = splitPassages(speak("a b c"));
  const long = correctPassage(passage!, [splitText(write("word ".repeat(10_000), 1))])!;
  expect(long.text.length).toBeLessThanOrEqual(4_000);
  expect(long.text).toStartWith("a word word");
});

test("a text without spaces is divided between passages, however long it is", () => {
  const passages = splitPassages(speak(Array.from({ length: 600 }, (_, n) => `w${n}`).join(" ")));
  const text = `${"北京天気、".repeat(100)}end`;
  const corrected = passages.map((passage) => correctPassage(passage, [splitText(write(text, 0, 599))])!);
  expect(corrected.map((one) => one.text.slice(0, one.ownLength)).join("")).toBe(text);
  expect(Math.max(...corrected.map((one) => one.text.length))).toBeLessThan(60);
});

test("times are whole milliseconds", () => {
  const [passage] = splitPassages(speak("my name is Janus"));
  const at = (start: number, end: number) =>
    correctPassage(passage!, [splitText({ text: "our one and only", start, end })]);
  for (const corrected of [at(0.333, 1100.5), at(0.4, 0.6)]) expect(Number.isInteger(corrected!.start)).toBeTrue();
});
