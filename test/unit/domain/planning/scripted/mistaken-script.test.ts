import { describe, expect, test } from "bun:test";
import { createYieldCounter } from "../../../../../src/domain/planning/context";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { isSaidAgain } from "../../../../../src/domain/planning/retakes/repetition";
import { differsFromScript } from "../../../../../src/domain/planning/scripted/confirm-takes";
import { keepDifferingWords, listNewPhrases } from "../../../../../src/domain/planning/scripted/differing-words";
import { decideScriptedWords, type ExcisedTake } from "../../../../../src/domain/planning/scripted/excise-disfluencies";
import { createLineBias } from "../../../../../src/domain/planning/scripted/find-path";
import { checkMatches, type LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { alignLineAt, matchLines } from "../../../../../src/domain/planning/scripted/match-lines";
import { moveToRetakes } from "../../../../../src/domain/planning/scripted/misaligned-lines";
import { addParaphrases } from "../../../../../src/domain/planning/scripted/missing-lines";
import { SCRIPT } from "../../../../../src/domain/planning/thresholds";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { createRecording, cutWithScript, listKeptWords, record, run, runWithAlignments } from "./spoken-recording";

const PACE = SCRIPT.usualTicksPerCharacter;

describe("whether a phrase is said again", () => {
  const isAgain = (take: string, retake: string) => {
    const { words, tokens } = record(`${take} / ${retake}`, "");
    const count = take.split(" ").length;
    const compared = { words, lexicon: ENGLISH };
    return isSaidAgain(tokens.slice(0, count), tokens.slice(count), 0.5, compared);
  };

  test.each([
    ["some roads led to the hills", "some roads led to the hills", true],
    ["the problem where", "the problem where large files stop", true],
    ["some roads led to the harbor", "some roads led to the hills", false],
    ["some roads led to the harbor?", "some roads led to the hills", true],
    ["the lower corner is folded", "the upper corner is folded", false],
    ["a quiet evening", "some roads led to the hills", false],
  ])("%p, %p: %p", (take, retake, expected) => {
    expect(isAgain(take, retake)).toBe(expected);
  });
});

describe("a take that has less of a wrong line than an earlier one is rated like it", () => {
  const take = "on the next day the whole village met to clear her? own?";
  const retake = "on the next day cole? village met to clear the road";
  const [sameAudio, otherAudio] = [
    { distance: 0.3, worst: 0.5, duration: 0 },
    { distance: 0.3, worst: 0.7, duration: 0 },
  ];

  test.each([
    ["when it sounds like it", retake, sameAudio, true],
    ["not when a word sounds different", retake, otherAudio, false],
    ["not when a clear word differs", retake.replace("village", "parish"), sameAudio, false],
  ])("%s", (_, later, match, expected) => {
    const recording = record(`${take} / ${later}`, "On next the day the met village to the clear morning.");
    const matches = run(matchLines(recording.lines, recording.tokens));
    const [row] = runWithAlignments(checkMatches(matches, recording), -9, match);
    expect(row!.map(({ from }) => from)).toEqual([0, 12]);
    const [first, second] = row!.map(({ similarity }) => similarity);
    expect(second === first).toBe(expected);
  });
});

test("the first words of the next phrase are not the end of a line", () => {
  const take = "the whole village met to clear road";
  const { lines, tokens } = record(`${take} / the whole village met to clear the road`, `${take} the.`);
  const [matches] = run(matchLines(lines, tokens));
  const texts = matches!.map(({ from, to }) =>
    tokens
      .slice(from, to)
      .map(({ normal }) => normal)
      .join(" "),
  );
  expect(texts).toEqual([take, "the whole village met to clear the"]);
});

test("two words beside a pause are not a line by coincidence", () => {
  const { lines, tokens } = record("forty nine / forty nine you have won", "Nine forty.");
  const [matches] = run(matchLines(lines, tokens));
  expect(matches!.filter(({ to, from }) => to - from > 1)).toEqual([]);
});

test.each([
  ["first", "scrap that so / first of all measure the wall", "So first of all measure the wall."],
  ["last", "measure the wall / twice is better", "Measure the wall twice."],
])("the %s word of a line stays, although a pause divides it from the line", (_, said, line) => {
  const { lines, tokens } = record(said, line);
  const [matches] = run(matchLines(lines, tokens));
  const texts = matches!.map(({ from, to }) => tokens.slice(from, to).map(({ normal }) => normal));
  expect(texts).toEqual([lines[0]!.words]);
});

describe("words that differ from the script", () => {
  /** Keeps the words of the line that the path has in the tokens `[from, to)`, and those beside it. */
  function keepBeside(said: string, line: string, [from, to]: [number, number]): string {
    const recording = record(said, line);
    const { tokens, lines } = recording;
    const { pairs } = alignLineAt(0, lines[0]!, tokens, from, to);
    const kept = Uint8Array.from(tokens, (_, j) => (j >= from && j < to ? 1 : 0));
    const path = { pairs, kept, differing: new Uint8Array(tokens.length) };
    const found = run(keepDifferingWords(path, recording, new Uint8Array(tokens.length), false, PACE));
    return tokens
      .filter((_, j) => found.kept[j])
      .map(({ normal }) => normal)
      .join(" ");
  }
  const line = "third year quickly planted nothing";

  test("stay before and after a line with wrong words, in the same sentence", () => {
    const twoWrong = "third winter quickly planted nothing";
    const said = "good evening / in the third year we planted nothing, at all / thank you";
    const kept = keepBeside(said, twoWrong, [4, 9]);
    expect(kept).toBe("in the third year we planted nothing at all");
  });

  test("are together no more than twice the wrong words of the line", () => {
    const said = "good evening / in the third year we planted nothing, at all / thank you";
    expect(keepBeside(said, line, [4, 9])).toBe("in the third year we planted nothing");
  });

  test("are in other phrases no more than twice the words that are missing between the lines", () => {
    const recording = record(
      "good evening / third silver copper we planted nothing indeed / gulls follow the old ferry / thank you",
      "Third winter quickly green marble nothing.\nBoats sailed.\nThank you.",
    );
    const { tokens } = recording;
    // The first line has four wrong words, and two are missing after it.
    const pairs = Int32Array.from([2, 3, 4, 5, 6, 7, -1, -1, 14, 15]);
    const kept = Uint8Array.from(tokens, (_, j) => (pairs.includes(j) ? 1 : 0));
    const path = { pairs, kept, differing: new Uint8Array(tokens.length) };
    const found = run(keepDifferingWords(path, recording, new Uint8Array(tokens.length), false, PACE));
    const differing = tokens.filter((_, j) => found.differing[j]).map(({ normal }) => normal);
    expect(differing).toEqual(["indeed"]);
  });

  test.each([
    ["go on with the words after them", "above the third bud really / above the third boat? and always", true],
    ["stand alone", "above the third bud really / above the third boat? / and always", false],
  ])(
    "resemble what is kept before them, and stay when they go on with the words after them: they %s",
    (_, said, expected) => {
      const recording = record(said, "Above the third kitchen really.\nAbove a bud and always.");
      const { tokens } = recording;
      const pairs = Int32Array.of(0, 1, 2, -1, 4, -1, -1, -1, 9, 10);
      const kept = Uint8Array.from(tokens, (_, j) => (j < 5 || j > 8 ? 1 : 0));
      const path = { pairs, kept, differing: new Uint8Array(tokens.length) };
      const found = run(keepDifferingWords(path, recording, new Uint8Array(tokens.length), false, PACE));
      expect(found.kept[5] === 1).toBe(expected);
    },
  );

  test.each([
    ["yes", true],
    ["yes?", false],
    ["yes? indeed?", true],
    ["yes of course", false],
    ["he coughed", false],
  ])("between pauses, %p stays in place of a word", (said, expected) => {
    const recording = record(`good evening / ${said} / you may touch it`, "Good evening.\nDuring you may touch it.");
    const { tokens } = recording;
    const last = tokens.length - 4;
    const pairs = Int32Array.of(0, 1, -1, last, last + 1, last + 2, last + 3);
    const kept = Uint8Array.from(tokens, (_, j) => (j < 2 || j >= last ? 1 : 0));
    const path = { pairs, kept, differing: new Uint8Array(tokens.length) };
    const found = run(keepDifferingWords(path, recording, new Uint8Array(tokens.length), false, PACE));
    expect(found.kept[2] === 1).toBe(expected);
  });

  test.each([
    ["several words are a phrase", "at? all?", true],
    ["a single one may be a filler", "oil?", false],
    ["several words after a longer pause are other speech", "/ at? all?", false],
  ])("at the end of the script, unclear words after a short pause stay if they are several: %s", (_, end, isKept) => {
    const said = `good evening / in the third year we planted nothing?, ${end}`;
    const kept = keepBeside(said, "third winter quickly planted nothing", [4, 9]);
    expect(kept).toBe(`in the third year we planted nothing${isKept ? " at all" : ""}`);
  });

  test("go when the line has no wrong words", () => {
    const kept = keepBeside(
      "good evening / in the third year we planted nothing / bye",
      "third year we planted nothing",
      [4, 9],
    );
    expect(kept).toBe("third year we planted nothing");
  });

  test("go after a pause when the recognizer was unsure of them", () => {
    expect(keepBeside("good evening / and?, third year we planted nothing / bye", line, [3, 8])).toBe(
      "third year we planted nothing",
    );
  });

  test("resemble what is kept before them, and go when others follow in their run", () => {
    const recording = record("above the third bud really / above the third boat? / now and always", "");
    const { tokens } = recording;
    const kept = Uint8Array.from(tokens, (_, j) => (j < 5 || j > 9 ? 1 : 0));
    const context = { ...recording, path: { kept }, repeated: new Uint8Array(tokens.length) };
    const phrases = run(listNewPhrases({ from: 5, to: 10 }, { ...context, isYieldDue: createYieldCounter() }));
    expect(phrases).toEqual([{ from: 9, to: 10 }]);
  });

  test("are not a remark if its words were unclear", () => {
    const list = (said: string) => {
      const recording = record(said, "");
      const { tokens } = recording;
      const context = {
        ...recording,
        path: { kept: new Uint8Array(tokens.length) },
        repeated: new Uint8Array(tokens.length),
      };
      return run(listNewPhrases({ from: 0, to: tokens.length }, { ...context, isYieldDue: createYieldCounter() }));
    };
    expect(list("let? me? start tonight")).toEqual([{ from: 0, to: 4 }]);
    expect(list("let me start tonight")).toEqual([]);
  });
});

test.each([
  ["is new speech", [1_000_000], 0, [{ from: 1, to: 2 }]],
  ["may be a filler", [800_000], 0, []],
  ["may be spelled letters", [400_000, 400_000, 400_000], 200_000, [{ from: 1, to: 4 }]],
  ["may be several fillers", [400_000, 400_000, 400_000], 300_000, []],
])("voice without words %s: %p µs, with pauses of %p µs", (_, lengths, pause, expected) => {
  const recording = record("good evening", "");
  const [first, last] = recording.words;
  let at = first!.end;
  const voice = lengths.map((length) => {
    at += pause + length;
    return { text: "", start: at - length, end: at, confidence: 0 };
  });
  const words = [first!, ...voice, { ...last!, start: at, end: at + 300_000 }];
  const tokens = tokenize(words, "en");
  const kept = Uint8Array.from(tokens, (_, j) => (j === 0 || j === tokens.length - 1 ? 1 : 0));
  const context = { ...recording, words, tokens, path: { kept }, repeated: new Uint8Array(tokens.length) };
  const between = { from: 1, to: tokens.length - 1 };
  const phrases = listNewPhrases(between, { ...context, isYieldDue: createYieldCounter() });
  expect(run(phrases)).toEqual(expected);
});

test("what is said again is not a paraphrase", () => {
  const said = "they counted market days carefully";
  const recording = record(
    `good evening / ${said} / thank you`,
    "Good evening.\nMarket days silver carefully walk.\nThank you.",
  );
  const { tokens } = recording;
  const count = (isRepeated: boolean) => {
    const takes = recording.lines.map(() => null);
    addParaphrases(
      takes,
      [],
      [],
      recording,
      Uint8Array.from(tokens, () => (isRepeated ? 1 : 0)),
      false,
    );
    return takes.filter((take) => take !== null).length;
  };
  expect([count(false), count(true)]).toEqual([1, 0]);
});

test("words beside a line that are said again with it go with it", () => {
  const take = "late birds cost a few cents for every day that we keep them";
  const recording = record(`${take} / one more time / ${take}`, "Late cost a cents few for day every that you.");
  const { tokens, lines } = recording;
  const { pairs } = alignLineAt(0, lines[0]!, tokens, 0, 11);
  const kept = Uint8Array.from(tokens, (_, j) => (j < 13 ? 1 : 0));
  const match = { rule: "retake.after_remark", scores: {} } as never;
  const steps = moveToRetakes({ pairs, kept }, [[]], [{ from: 0, to: 13, retakeStart: 16, match }], recording);
  const { path } = runWithAlignments(steps, -9);
  expect([...path.kept].join("")).toBe(`${"0".repeat(16)}${"1".repeat(13)}`);
});

test("a false start is not worth more for the words of its line that it lacks", () => {
  const count = 4;
  const candidate = (from: number, to: number, score: number) =>
    ({ line: 0, from, to, score, similarity: score, pairs: new Int32Array(8), quality: 0 }) as unknown as LineCandidate;
  const bias = createLineBias([[candidate(0, count, 0.55), candidate(count, 3 * count, 0.55)]], 3 * count)(0)!;
  expect(bias[count]).toBeLessThan(bias[0]!);
});

describe("a script with wrong words, without audio", () => {
  async function keep(said: string, script: string): Promise<string> {
    const analysis = createRecording(said);
    return listKeptWords(analysis, (await cutWithScript(analysis, script, false))!);
  }

  test("keeps two sentences that differ in a word, although a line hardly resembles one of them", async () => {
    const sentences = "some roads led to the harbor some roads led to the hills";
    const kept = await keep(
      `the teacher wrote the letter / who wrote the poem / ${sentences.replace("harbor", "harbor /")}`,
      "The teacher wrote letter the.\nWho wrote?\nwinter roads to lead the.\nSome roads lead to the hills.",
    );
    expect(kept).toBe(`the teacher wrote the letter who wrote the poem ${sentences}`);
  });

  test("keeps the last of two takes", async () => {
    const take = "on the next day the whole village met to clear her road";
    const kept = await keep(
      `nobody was hurt / ${take.replace("her ", "")} / ${take} / let me check the notes / a farmer brought soup`,
      "Nobody was hurt.\nOn morning next day whole the village met to clear road the.\nA farmer brought soup.",
    );
    expect(kept).toBe(`nobody was hurt ${take} a farmer brought soup`);
  });
});

test.each([
  ["differs from the script", true, "gulls follow boats winter came early"],
  ["is that of the script", false, "gulls follow boats"],
])("words of a take that the alignment does not cover stay if it %s", (_, differs, expected) => {
  const recording = record("gulls follow boats / winter came early / um", "Gulls follow boats.");
  const { words, tokens, lines, activity } = recording;
  const aligned = words.slice(0, 3).map((word) => ({ ...word, logProb: -0.1 }));
  const take = {
    line: 0,
    from: 0,
    to: tokens.length,
    pairs: Int32Array.of(0, 1, 2),
    mute: [],
    excisions: [],
    window: { start: 0, end: activity.duration },
    alignment: { words: aligned, meanLogProb: -0.1 },
    isAligned: true,
    review: differs ? differsFromScript(lines[0]!.text, 0.5, null) : null,
  } as unknown as ExcisedTake;
  const kept = new Uint8Array(tokens.length).fill(1);
  const path = { pairs: take.pairs, kept, differing: new Uint8Array(tokens.length) };
  const decided = decideScriptedWords([take], [[]], path, [], new Map(), recording, {} as never);
  const texts = decided.flatMap(({ text, removal }) => (removal ? [] : [text]));
  expect(texts.join(" ")).toBe(expected);
});
