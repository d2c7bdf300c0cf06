import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { isDeliberate } from "../../../../../src/domain/planning/retakes/decide-repetition";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { marked, removed, spoken } from "./spoken";

describe("deliberate repetitions stay", () => {
  test.each([
    ["digits that a recognizer spells as words", "my code is / too, too, too, too. / got it?"],
    ["digits among digits", "it is four four / to / to seven nine."],
    ["a word that the recognizer stretched over others", "we can / we~3 we will talk."],
    ["a letter in a spelled name", "my name is violet, / the / the I O L E T."],
    ["letters", "that is B as in bravo, / B / B C."],
    ["a phone number", "call nine one nine / nine one nine / nine one one."],
    ["counting", "one two three / one two three / and go."],
    [
      "letters and names of a list, recognized as words",
      "Ella, / / And? / / / / And, / / Oh, / / woman, / I, / I brow, / hair.",
    ],
    ["list items", "milk, / milk and eggs, / milk and honey."],
    ["a word that ends a sentence and starts the next", "yes, we have it. / it is free, who are you? you know."],
    ["a word for emphasis", "it was a long long way, very very far."],
    ["thanks", "thank you. / thank you very much."],
    [
      "the answer of a listener who repeats the last words",
      "almost thirty years. / thirty years? / thirty years in spring.",
    ],
    ["a short sentence, whose last word is longer", "it works~0.5. / it works every time."],
    ["a short phrase", "yes we can. / yes we can. / and we will."],
    ["a phrase without a pause", "never ever give up. never ever give up. / now go."],
    ["a chant", "we want justice now. we want justice now. we want justice now. / thank you."],
    ["three times with and", "tomorrow, and tomorrow, and tomorrow, creeps in this petty pace."],
    [
      "the end of a sentence and the start of the next",
      "that is how it is. / it is not bad. / as fast as I can. / I can do it.",
    ],
    [
      "three sentences that start alike",
      "we are going to win. / we are going to win the house. / we are going to win the senate.",
    ],
    ["a chant that goes on", "we want bread we want bread we want bread and roses."],
    [
      "a refrain with other words between",
      "roll on until the light. / we sold the plates. / roll on until the light. / we sold the clock. / roll on until the light.",
    ],
    ["a quotation", "he said we shall overcome, and they sang / we shall overcome, / together."],
    ["a refrain", "glory hallelujah. / glory hallelujah. / glory hallelujah. / his truth is marching on."],
    ["parallel sentences", "now I think they are bad for our country. / I think they are bad for the whole party."],
    [
      "long parallel sentences",
      "each of us in this house has a debt. / each of us in this house has a gift for others.",
    ],
  ])("%s", (_, text) => {
    expect(removed(text)).toBe("");
  });

  test.each([
    ["a phrase twice", "yes we can. / yes we can. / and we will.", "review.deliberate_repetition: yes we can."],
    [
      "parallel sentences",
      "now, I think they are bad for our country. / I think they are bad for the whole party.",
      "review.different_ending: I think they are bad for",
    ],
  ])("%s is marked", (_, text, expected) => {
    expect(marked(text)).toBe(expected);
  });

  test("a chant stays if its audio resembles a single unrecognized word at the end", () => {
    const words = spoken("wonderful wonderful wonderful ~0.9");
    const tokens = tokenize(words, "en");
    const removed = new Uint8Array(tokens.length);
    const phraseStarts = tokens.map((_, i) => i === 0);
    const context = { words, tokens, lexicon: ENGLISH, phraseStarts, removed };
    const audio = { contradictedByAudio: false, confirmedByAudio: true, alignment: -1 };
    expect(isDeliberate(context, { from: 0, end: 3, retakeStart: 3, matched: 1, cost: 0, ...audio })).toBe(true);
  });

  const items = fc.uniqueArray(fc.constantFrom("justice", "bread", "peace", "freedom", "water", "we", "want", "the"), {
    minLength: 1,
    maxLength: 5,
  });
  test("a chant of three items or more is never cut", () =>
    fc.assert(
      fc.property(items, fc.integer({ min: 3, max: 8 }), fc.constantFrom(" ", "! "), (item, count, between) => {
        fc.pre(item.some((word) => word.length > 3 || word === "want"));
        const chant = Array.from({ length: count }, () => item.join(" ")).join(between);
        expect(removed(`listen. / ${chant}. / thanks.`)).toBe("");
      }),
    ));
  test("numbers and letters are never cut", () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom("one", "two", "five", "B", "C", "nine", "/"), { maxLength: 12 }), (said) => {
        expect(removed(`the code is ${said.join(" ")} and that is it.`)).toBe("");
      }),
    ));
});

describe("clear restarts are removed", () => {
  test.each([
    ["a stutter", "so I, I think so.", "stutter.word: I,"],
    ["a stutter after a pause", "and then / I, I think so.", "stutter.word: I,"],
    ["a broken-off word", "now. / the shut, the shutter must be shut.", "false_start.broken_off: the shut,"],
    ["two words", "let me let me tell you.", "false_start.prefix: let me"],
    ["a phrase that is not finished", "but how can? / how can we ensure that?", "false_start.inside_phrase: how can?"],
    [
      "a start three times",
      "turn the / turn the / turn the key.",
      "false_start.prefix: turn the turn the | false_start.prefix: turn the",
    ],
    [
      "a take that stops at an article",
      "when the archive moved, a student opened the / when the archive moved, the pupils found it.",
      "false_start.broken_off: when the archive moved, a student opened the",
    ],
    [
      "a line after a remark, misrecognized",
      "light ?birds cost a few cents for every day that you keep. / one more time. / ?late ?books ?pass ?with ?essence for every day that you keep. / now.",
      "retake.after_remark: light birds cost a few cents for every day that you keep. | remark.between_takes: one more time.",
    ],
    [
      "a few words before a longer sentence",
      "do not point. / do not point the camera at the window.",
      "retake.repeated_line: do not point.",
    ],
    ["a line after a pause", "we open at nine. / we open at nine.", "retake.repeated_line: we open at nine."],
  ])("%s", (_, text, expected) => {
    expect(removed(text)).toBe(expected);
  });
});
