import { describe, expect, test } from "bun:test";
import { findFillers, isFillerText } from "../../../../../src/domain/planning/fillers/filler-words";
import { spokenPrefix } from "../../../../../src/domain/planning/retakes/acoustic-repetitions";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { Word } from "../../../../../src/domain/speech";
import { runThrough } from "../run-through";

/** Words of a text, each 0.3 s long; a `/` is a pause of half a second, `?word` one that the recogniser was not sure of. */
function spoken(text: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  for (const token of text.split(" ")) {
    if (token === "/") {
      at += 500_000;
      continue;
    }
    const unsure = token.startsWith("?");
    words.push({
      text: unsure ? token.slice(1) : token,
      start: at,
      end: at + 300_000,
      confidence: unsure ? 0.3 : 0.95,
    });
    at += 300_000;
  }
  return words;
}

function removed(text: string): string {
  const words = spoken(text);
  const { retakes } = runThrough(findRetakes(words, tokenize(words, "en")));
  return retakes
    .sort((a, b) => a.from - b.from)
    .map(
      ({ from, to, kind }) =>
        `${kind}: ${words
          .slice(from, to)
          .map((word) => word.text)
          .join(" ")}`,
    )
    .join(" | ");
}

describe("retakes", () => {
  test.each([
    ["whole takes", "we open at nine. / we open at nine.", "retake: we open at nine."],
    ["a false start", "turn the / turn the key now.", "retake: turn the"],
    ["two false starts", "turn the / turn the key / turn the key now.", "retake: turn the | retake: turn the key"],
    ["a stop inside a word", "place the micro / place the microphone here.", "retake: place the micro"],
    ["a slip in a misheard word", "we open at ?wine / we open at nine today.", "retake: we open at wine"],
    [
      "a long attempt that goes astray",
      "all of the people in this room blue / all of the people in this room know why it failed.",
      "retake: all of the people in this room blue",
    ],
    [
      "a line begun three times, misheard the second time",
      "spray thin layers and / spray that / spray thin layers and let each one dry.",
      "retake: spray thin layers and | retake: spray that",
    ],
    ["misspelled takes", "carots are good for you. / carrots are good for you.", "retake: carots are good for you."],
    ["a restart inside a sentence", "the thing you need / you need is time.", "retake: you need"],
    ["a stutter", "and the the key", "retake: the"],
    [
      "talk between the takes",
      "we open at nine. / sorry, again. / we open at nine.",
      "retake: we open at nine. | remark: sorry, again.",
    ],
    [
      "several sentences again",
      "we open. we close at noon. / we open. we close at noon.",
      "retake: we open. we close at noon.",
    ],
  ])("%s", (_, text, expected) => {
    expect(removed(text)).toBe(expected);
  });

  test.each([
    ["sentences that begin alike", "press the button to start. / press the button to stop."],
    ["rhetoric", "we need water, we need bread, and we need peace."],
    ["a clause taken up with and", "we will knock, / and we will knock again."],
    ["emphasis", "it was very very late, no no doubt."],
    ["a short answer", "yes. / yes, we do."],
    [
      "a sentence between two like it",
      "we open at nine. / the key is under the mat by the old green door to the garden behind it all. / we open at nine.",
    ],
    ["parallel sentences", "in the morning, we pray for peace. / in the evening, we pray for peace."],
    ["what two sentences end with", "in the morning, / we pray for peace. / at night, / we pray for peace. / amen."],
    [
      "a list",
      "step one, press the green button. / step two, press the red button. / step three, press the green button.",
    ],
    ["a list of one thing after the other", "add one cup of flour. / add one cup of sugar. / add one cup of milk."],
    ["figures", "call five five five, one two, one two, / the code is seven."],
    [
      "a number that is given once more",
      "that is five five five one two. / again, / it is five five five one two, and thank you.",
    ],
    ["a question after its answer", "where are you going? / i am going to the market. / where are you going alone?"],
    ["words that may stand twice", "what it is, is a mistake, / and he had had enough."],
    ["the same words much later", `we open at nine. ${"/ ".repeat(100)} we open at nine.`],
  ])("%s stay", (_, text) => {
    expect(removed(text)).toBe("");
  });

  test.each([
    ["a short misheard word", "we met in the old tree. / we met in the old tray.", "doubt"],
    [
      "one among many",
      "heat the oven to ninety degrees, line a large square tree with paper. / heat the oven to ninety degrees, line a large square tray with paper.",
      "gone",
    ],
  ])("words surely heard that differ put it in doubt: %s", (_, text, expected) => {
    const words = spoken(text);
    const { retakes, doubts } = runThrough(findRetakes(words, tokenize(words, "en")));
    expect([retakes.length, doubts.length]).toEqual(expected === "gone" ? [1, 0] : [0, 1]);
  });

  test("of an attempt that was begun three times the whole goes, whatever was known when it was begun the second time", () => {
    const words = spoken(
      "it is worth a mention / that as an / it is worth a / it is worth a mention / that as an example.",
    );
    const { retakes } = runThrough(findRetakes(words, tokenize(words, "en")));
    const stays = words.filter((_, i) => !retakes.some(({ from, to }) => from <= i && i < to));
    expect(stays).toEqual(words.slice(12));
  });

  test("an attempt that the recogniser did not make out goes when the sound says what it is", () => {
    const words = spoken("now go. / ?relative / we hope to see you.");
    const tokens = tokenize(words, "en");
    const found = [{ from: 2, retakeStart: 3, end: 3, spoken: 3, rest: 0, weak: true }];
    expect(runThrough(findRetakes(words, tokens, { found, different: [] })).retakes).toMatchObject([
      { from: 2, to: 3, retakeStart: 3 },
    ]);
    words[2]!.confidence = 0.9;
    expect(runThrough(findRetakes(words, tokens, { found, different: [] })).retakes).toEqual([]);
  });

  test("words that fit, drawn out over another one, are no retake", () => {
    const words = spoken("turn left at the church / turn left at the bakery");
    const found = [{ from: 0, retakeStart: 5, end: 5, spoken: 4, rest: 0, weak: false }];
    expect(runThrough(findRetakes(words, tokenize(words, "en"), { found, different: [] })).retakes).toEqual([]);
  });

  test("a sentence that differs only in its last word is in doubt, and stays", () => {
    const words = spoken("the lamp shows warm / the lamp shows cold water.");
    const { retakes, doubts } = runThrough(findRetakes(words, tokenize(words, "en")));
    expect(retakes).toEqual([]);
    expect(doubts).toEqual([{ from: 0, to: 3, review: "resembles what is said next" }]);
  });

  test("what the sound contradicts is in doubt", () => {
    const words = spoken("press the red button now please. / press the green button now please.");
    const tokens = tokenize(words, "en");
    const { retakes, doubts } = runThrough(
      findRetakes(words, tokens, { found: [], different: [{ from: 0, retakeStart: 6 }] }),
    );
    expect(retakes).toEqual([]);
    expect(doubts).toHaveLength(1);
  });

  test("an echo shows an attempt that is spelled otherwise", () => {
    const words = spoken("reload it / we hope to see you.");
    const tokens = tokenize(words, "en");
    const found = [{ from: 0, retakeStart: 2, end: 2, spoken: 3, rest: 0, weak: false }];
    expect(runThrough(findRetakes(words, tokens, { found, different: [] })).retakes).toEqual([
      { from: 0, to: 2, retakeStart: 2, kind: "retake" },
    ]);
  });

  test("a weak echo of words that the recogniser was sure of is in doubt", () => {
    const words = spoken("ask what your country needs / ask what you can do.");
    const tokens = tokenize(words, "en");
    const found = [{ from: 0, retakeStart: 5, end: 5, spoken: 4, rest: 0, weak: true }];
    expect(runThrough(findRetakes(words, tokens, { found, different: [] })).retakes).toEqual([]);
  });

  test("the spoken beginning of a text ends where it no longer fits", () => {
    expect(spokenPrefix([-0.1, -0.2, -0.1, -9, -7, -0.5])).toBe(3);
    expect(spokenPrefix([-0.1, -6, -0.2, -0.1])).toBe(4);
    expect(spokenPrefix([-12, -8, -9])).toBe(0);
  });
});

describe("fillers", () => {
  test.each(["um", "Um,", "uh", "Uhm...", "hmm", "er", "erm", "Mm-hmm".replace("-", "")])("%s is one", (text) => {
    expect(isFillerText(text)).toBe(true);
  });
  test.each(["umbrella", "like", "her", "ham", "a", "hum", "mother", "well"])("%s is none", (text) => {
    expect(isFillerText(text)).toBe(false);
  });
  test("apart or stretched they are found, inside fluent speech short ones are not", () => {
    const found = (text: string) => [...findFillers(spoken(text))];
    expect(found("read / um, / the page")).toEqual([1]);
    const fluent = spoken("read um the page").map((word) => ({ ...word, end: word.start + 300_000 }));
    fluent[1]!.end = fluent[1]!.start + 200_000;
    fluent[2]!.start = fluent[1]!.end;
    expect([...findFillers(fluent)]).toEqual([]);
  });
});
