/** The words of recordings that are being transcribed. */
import { expect, test } from "bun:test";
import { MAX_PARTIAL_WORDS } from "../../../../src/domain/speech";
import { createPartialTranscripts } from "../../../../src/work/live/partial-transcripts";

const say = (...texts: string[]) => texts.map((text, n) => ({ text, start: n, end: n + 1, confidence: 1 }));

test("words of another run are read from the first one, however many there are", () => {
  const words = createPartialTranscripts();
  words.add("a", 0, say("one", "two"));
  const { run, text } = words.read("a", 0, 0);
  expect(text).toEqual(["one", "two"]);
  words.add("a", 2, say("three"));
  expect(words.read("a", run, 2)).toMatchObject({ run, from: 2, text: ["three"] });
  words.add("a", 0, say("uno", "due", "tre", "quattro"));
  const again = words.read("a", run, 3);
  expect(again).toMatchObject({ from: 0, text: ["uno", "due", "tre", "quattro"] });
  expect(again.run).toBeGreaterThan(run);
  expect(words.read("a", again.run, 4)).toMatchObject({ run: again.run, from: 4, text: [] });
});

test("words that did not arrive are left out, and those after them continue the run", () => {
  const words = createPartialTranscripts();
  words.add("a", 3, say("four"));
  words.add("a", 4, say("five"));
  expect(words.read("a", 0, 0).text).toEqual(["four", "five"]);
  words.add("b", 0, say("one"));
  const { run } = words.read("b", 0, 0);
  words.add("b", 2, say("three"));
  // Sent again, because the answer was lost.
  words.add("b", 2, say("three", "four"));
  words.add("b", 4, say("five"));
  words.add("b", 6, say("seven"));
  expect(words.read("b", run, 1)).toMatchObject({ run, from: 1, text: ["three", "four", "five", "seven"] });
  words.add("b", 0, say("uno"));
  words.add("b", 1, say("due"));
  expect(words.read("b", run, 5)).toMatchObject({ from: 0, text: ["uno", "due"] });
});

test("an answer has a limited number of words, and the next one continues", () => {
  const words = createPartialTranscripts();
  words.add("a", 0, say(...Array.from({ length: MAX_PARTIAL_WORDS + 2 }, (_, n) => String(n))));
  const { run, text } = words.read("a", 0, 0);
  expect(text.length).toBe(MAX_PARTIAL_WORDS);
  expect(words.read("a", run, text.length).text).toEqual([String(MAX_PARTIAL_WORDS), String(MAX_PARTIAL_WORDS + 1)]);
});
