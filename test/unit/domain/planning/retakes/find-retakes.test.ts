import { describe, expect, test } from "bun:test";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { countSpokenWords, findExchangedTexts } from "../../../../../src/domain/planning/retakes/acoustic-repetitions";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { AlignmentRequest, ForcedAlignment } from "../../../../../src/domain/speech";
import { runWithoutAlignment } from "../run-without-alignment";
import { removed, spoken } from "./spoken";

test.each([
  [
    "a remark of 9 words",
    "we open at nine. / sorry I did not turn the light on properly / we open at nine.",
    "we open at nine. / sorry I did not turn the green light on properly / we open at nine.",
    "retake.after_remark: we open at nine. | remark.between_takes: sorry I did not turn the light on properly",
  ],
  [
    "8 s of other words",
    "we open at nine tomorrow. / and then~3.4 it rains all~3 day. / we open at nine tomorrow.",
    "we open at nine tomorrow. / and then~3.4 it rains all~4 day. / we open at nine tomorrow.",
    "retake.repeated_later: we open at nine tomorrow.",
  ],
  [
    "a last word that is lengthened by a third",
    "the left lamp.~0.39 / the left lamp shows the water.",
    "the left lamp.~0.42 / the left lamp shows the water.",
    "retake.repeated_line: the left lamp.",
  ],
  [
    "45 s",
    `first of all ${"/ ".repeat(84)}first of all measure the wall.`,
    `first of all ${"/ ".repeat(94)}first of all measure the wall.`,
    "false_start.prefix: first of all",
  ],
])("a retake has at most %s", (_, text, beyond, expected) => {
  expect(removed(text)).toBe(expected);
  expect(removed(beyond)).toBe("");
});

describe("retakes", () => {
  test.each([
    ["whole takes", "we open at nine. / we open at nine.", "retake.repeated_line: we open at nine."],
    ["a false start", "turn the / turn the key now.", "false_start.prefix: turn the"],
    [
      "two false starts",
      "turn the / turn the key / turn the key now.",
      "false_start.prefix: turn the | false_start.prefix: turn the key",
    ],
    ["a stop inside a word", "place the micro / place the microphone here.", "false_start.broken_off: place the micro"],
    [
      "a slip in a misrecognized word",
      "we open at ?wine / we open at nine today.",
      "false_start.prefix: we open at wine",
    ],
    [
      "a long take with another ending",
      "all of the people in this room blue / all of the people in this room know why it failed.",
      "false_start.broken_off: all of the people in this room blue",
    ],
    [
      "an unclear ending of three words",
      "you can prune them in ?hot ?and ?borer. / you can prune them in late winter or in early spring.",
      "false_start.broken_off: you can prune them in hot and borer.",
    ],
    [
      "a line started twice without a pause",
      "place the place the place the camera on the table.",
      "false_start.prefix: place the | false_start.prefix: place the",
    ],
    [
      "a line started three times, misrecognized the second time",
      "spray thin layers and / spray that / spray thin layers and let each one dry.",
      "false_start.prefix: spray thin layers and | false_start.between_takes: spray that",
    ],
    [
      "misspelled takes",
      "carots are good for you. / carrots are good for you.",
      "retake.repeated_line: carots are good for you.",
    ],
    [
      "a sentence that is said again in other words",
      "/ all the plants in here get their water from a little computer. / every plant in this greenhouse is watered by a small computer. / then we go home.",
      "retake.repeated_line: all the plants in here get their water from a little computer.",
    ],
    ["a restart inside a sentence", "the thing you need / you need is time.", "false_start.inside_phrase: you need"],
    ["a stutter", "and the the key", "stutter.word: the"],
    [
      "words said again at once",
      "turn the wheel to turn the wheel to the left.",
      "false_start.prefix: turn the wheel to",
    ],
    [
      "words said again at once inside a sentence",
      "and then we add the salt we add the salt slowly.",
      "false_start.inside_phrase: we add the salt",
    ],
    [
      "words said again at once that end like the sentence before",
      "a man stopped me. some one had seen me some one had seen me come home.",
      "false_start.prefix: some one had seen me",
    ],
    [
      "a long take said again at once, with a misrecognized word",
      "before you press record read the before view press record read the script.",
      "false_start.prefix: before you press record read the",
    ],
    [
      "a remark between the takes",
      "we open at nine. / sorry, again. / we open at nine.",
      "retake.after_remark: we open at nine. | remark.between_takes: sorry, again.",
    ],
    [
      "several sentences again",
      "we open. we close at noon. / we open. we close at noon.",
      "retake.repeated_line: we open. we close at noon.",
    ],
  ])("%s", (_, text, expected) => {
    expect(removed(text)).toBe(expected);
  });

  test.each([
    ["sentences that start alike", "press the button to start. / press the button to stop."],
    ["a parallel clause without a pause", "he heard me not and he watched me not and left."],
    [
      "two things that differ",
      "/ red wires carry the hot current. / blue wires carry the cold current. / so far so good.",
    ],
    [
      "what happens next",
      "/ the farmer sold his land to the church. / his son bought back the land from that church. / so far so good.",
    ],
    ["rhetoric", "we need water, we need bread, and we need peace."],
    ["a clause continued with and", "we will knock, / and we will knock again."],
    [
      "endings with a word that was recognized clearly",
      "you can prune them in ?hot ?and borer. / you can prune them in late winter or in early spring.",
    ],
    ["emphasis", "it was very very late, no no doubt."],
    ["a short answer", "yes. / yes, we do."],
    [
      "a sentence between two like it",
      "we open at nine. / the key is under the mat by the old green door to the garden behind it all. / we open at nine.",
    ],
    ["parallel sentences", "in the morning, we pray for peace. / in the evening, we pray for peace."],
    [
      "the same ending of two sentences",
      "in the morning, / we pray for peace. / at night, / we pray for peace. / amen.",
    ],
    [
      "a list",
      "step one, press the green button. / step two, press the red button. / step three, press the green button.",
    ],
    ["a list of one thing after the other", "add one cup of flour. / add one cup of sugar. / add one cup of milk."],
    ["numbers", "call five five five, one two, one two, / the code is seven."],
    [
      "a number that is given once more",
      "that is five five five one two. / again, / it is five five five one two, and thank you.",
    ],
    ["a question after its answer", "where are you going? / i am going to the market. / where are you going alone?"],
    ["words that can follow themselves", "what it is, is a mistake, / and he had had enough."],
    ["the same words much later", `we open at nine. ${"/ ".repeat(100)} we open at nine.`],
  ])("%s stay", (_, text) => {
    expect(removed(text)).toBe("");
  });

  test.each([
    ["a short misrecognized word", "we met in the old tree. / we met in the old tray.", "marked"],
    [
      "one among many",
      "heat the oven to ninety degrees, line a large square tree with paper. / heat the oven to ninety degrees, line a large square tray with paper.",
      "removed",
    ],
  ])("clearly recognized words that differ: %s", (_, text, expected) => {
    const words = spoken(text);
    const { retakes, possible } = runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH));
    expect([retakes.length, possible.length]).toEqual(expected === "removed" ? [1, 0] : [0, 1]);
  });

  test("a line that was started three times is removed whole, whatever was known at its second start", () => {
    const words = spoken(
      "it is worth a mention / that as an / it is worth a / it is worth a mention / that as an example.",
    );
    const { retakes } = runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH));
    const stays = words.filter((_, i) => !retakes.some(({ from, to }) => from <= i && i < to));
    expect(stays).toEqual(words.slice(12));
  });

  test("an unclear word is removed when the audio shows that it is a false start", () => {
    const words = spoken("now go. / ?relative / we hope to see you.");
    const tokens = tokenize(words, "en");
    const found = [
      { from: 2, retakeStart: 3, end: 3, matched: 3, trailing: 0, alignment: -2, evidence: "weak" as const },
    ];
    expect(runWithoutAlignment(findRetakes(words, tokens, ENGLISH, { found, different: [] })).retakes).toMatchObject([
      { from: 2, to: 3, retakeStart: 3 },
    ]);
    words[2]!.confidence = 0.9;
    expect(runWithoutAlignment(findRetakes(words, tokens, ENGLISH, { found, different: [] })).retakes).toEqual([]);
  });

  test("words that align, stretched over another word, are no retake", () => {
    const words = spoken("turn left at the church / turn left at the bakery");
    const found = [
      { from: 0, retakeStart: 5, end: 5, matched: 4, trailing: 0, alignment: -0.5, evidence: "clear" as const },
    ];
    expect(
      runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH, { found, different: [] })).retakes,
    ).toEqual([]);
  });

  test("a sentence that differs only in its last word stays and is marked", () => {
    const words = spoken("the lamp shows warm / the lamp shows cold water.");
    const { retakes, possible } = runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH));
    expect(retakes).toEqual([]);
    expect(possible).toMatchObject([{ from: 0, to: 3, match: { rule: "review.different_ending" } }]);
  });

  test("what the audio contradicts stays and is marked", () => {
    const words = spoken("press the red button now please. / press the green button now please.");
    const tokens = tokenize(words, "en");
    const { retakes, possible } = runWithoutAlignment(
      findRetakes(words, tokens, ENGLISH, { found: [], different: [{ from: 0, retakeStart: 6 }] }),
    );
    expect(retakes).toEqual([]);
    expect(possible.map(({ match }) => match.rule)).toEqual(["review.different_words"]);
  });

  test("an acoustic repetition shows a false start that is spelled differently", () => {
    const words = spoken("reload it / we hope to see you.");
    const tokens = tokenize(words, "en");
    const found = [
      { from: 0, retakeStart: 2, end: 2, matched: 3, trailing: 0, alignment: -0.5, evidence: "clear" as const },
    ];
    expect(runWithoutAlignment(findRetakes(words, tokens, ENGLISH, { found, different: [] })).retakes).toMatchObject([
      { from: 0, to: 2, retakeStart: 2, match: { rule: "false_start.prefix", scores: { alignment: -0.5 } } },
    ]);
  });

  test("a weak acoustic repetition of words that the recognizer was sure of stays", () => {
    const words = spoken("ask what your country needs / ask what you can do.");
    const tokens = tokenize(words, "en");
    const found = [
      { from: 0, retakeStart: 5, end: 5, matched: 4, trailing: 0, alignment: -2, evidence: "weak" as const },
    ];
    expect(runWithoutAlignment(findRetakes(words, tokens, ENGLISH, { found, different: [] })).retakes).toEqual([]);
  });

  test.each([
    ["other spellings of the same sounds", [-0.3, -2, -0.3, -1], 1],
    ["another sentence", [-5, -6, -4, -5], 0],
    ["the same sentence with one other word", [-0.1, -0.1, -9, -0.1], 0],
    ["a last word that was broken off", [-0.3, -0.3, -0.3, -7], 1],
  ])("two takes that were recognized differently: %s", (_, exchanged, count) => {
    const words = spoken("you find open numbers / you find all the numbers in the table");
    const pair = { from: 0, until: 4, end: 4, retakeStart: 4, count: 5 };
    const exchange = () => runExchange(words, pair, exchanged);
    expect(exchange()).toHaveLength(count);
    const { retakes } = runWithoutAlignment(
      findRetakes(words, tokenize(words, "en"), ENGLISH, { found: exchange(), different: [] }),
    );
    expect(retakes.map(({ from, to }) => [from, to])).toEqual(count === 1 ? [[0, 4]] : []);
  });

  test("two complete sentences with another last word are not the same sounds", () => {
    const words = spoken("the lamp shows warm / the lamp shows cold / then it stops");
    const pair = { from: 0, until: 4, end: 4, retakeStart: 4, count: 4 };
    expect(runExchange(words, pair, [-0.1, -0.1, -0.1, -7])).toEqual([]);
  });

  test("the spoken start of a text ends where it no longer aligns", () => {
    expect(countSpokenWords([-0.1, -0.2, -0.1, -9, -7, -0.5])).toBe(3);
    expect(countSpokenWords([-0.1, -6, -0.2, -0.1])).toBe(4);
    expect(countSpokenWords([-12, -8, -9])).toBe(0);
  });
});

/**
 * The exchanged texts of two takes that align well with their own audio, and with the given log probabilities in the
 * other's place.
 */
function runExchange(
  words: ReturnType<typeof spoken>,
  pair: Parameters<typeof findExchangedTexts>[0][number],
  exchanged: number[],
) {
  const steps = findExchangedTexts([pair], words, tokenize(words, "en"), 10_000_000);
  const query = steps.next().value as { requests: AlignmentRequest[] };
  const align = ({ text, window }: AlignmentRequest, i: number): ForcedAlignment => {
    const aligned = text.split(" ").map((word, k) => {
      const logProb = i < 2 ? -0.1 : exchanged[Math.min(k, exchanged.length - 1)]!;
      return { text: word, ...window, confidence: 0.9, logProb };
    });
    const meanLogProb = aligned.reduce((sum, { logProb }) => sum + logProb, 0) / aligned.length;
    return { words: aligned, meanLogProb, tailLogProb: meanLogProb };
  };
  const end = steps.next({ kind: "align", results: query.requests.map(align) });
  if (!end.done) throw new Error("Unexpected query.");
  return end.value;
}
