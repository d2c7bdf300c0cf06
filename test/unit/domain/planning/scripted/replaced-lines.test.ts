import { describe, expect, test } from "bun:test";
import type { ConfirmedTake } from "../../../../../src/domain/planning/scripted/confirm-takes";
import { keepDifferingWords } from "../../../../../src/domain/planning/scripted/differing-words";
import type { LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { addReplacedLines, keepLeftWords } from "../../../../../src/domain/planning/scripted/missing-lines";
import { SCRIPTED_STAGES } from "../../../../../src/domain/planning/scripted/plan-scripted";
import { SCRIPT } from "../../../../../src/domain/planning/thresholds";
import { createRecordedWords, createRecording, cutWithScript, listKeptWords, record, run } from "./spoken-recording";

const PACE = SCRIPT.usualTicksPerCharacter;

test("a line whose weak take is too short for it gets the sentence in its place", () => {
  const recording = record(
    "who wrote the poem / some roads led to the harbor / thank you all",
    "Who wrote it.\nWinter silver to lead the.\nThank you all.",
  );
  const take = (line: number, from: number, to: number) =>
    ({
      line,
      from,
      to,
      skipped: [],
      pairs: new Int32Array(),
      window: { start: 0, end: 1 },
    }) as unknown as ConfirmedTake;
  const replace = (weak: ConfirmedTake) => {
    const takes = [take(0, 0, 3), null, take(2, 10, 13)];
    const path = {
      pairs: new Int32Array(),
      kept: Uint8Array.from({ length: 13 }, (_, j) => (j < 3 || j > 9 ? 1 : 0)),
      differing: new Uint8Array(13),
    };
    const repeated = new Uint8Array(13);
    const state = { takes, confirmed: [takes[0], weak, takes[2]], candidates: [[], [], []], path, recording, repeated };
    const stage = SCRIPTED_STAGES.find(({ name }) => name === "replaced lines")!;
    const { takes: all } = run(stage.run(state as never) as unknown as Generator<unknown, typeof state>);
    return [all[1]!.from, all[1]!.to];
  };
  expect(replace(take(1, 3, 4))).toEqual([3, 10]);
  expect(replace(take(1, 4, 9))).toEqual([4, 9]);
});

test.each([
  ["unclear words that are as long as it", "this? is the? carbon? our? for? designing", true],
  ["fewer unclear words", "this? is the? carbon? our?", false],
  ["clear words", "we will start in a minute", false],
  ["voice without words", "~ / ~ / ~ / ~ / ~ / ~ / ~", false],
  ["a few unclear words with voice", "this? ~ is ~ the? ~ carbon?", false],
])("a first line that is not found gets %s: %p", (_, said, expected) => {
  const recording = record(`${said} / good evening all`, "Third part of our course on bookbinding.\nGood evening all.");
  const { tokens } = recording;
  const count = tokens.length - 3;
  const good = { line: 1, from: count, to: count + 3, skipped: [] } as unknown as ConfirmedTake;
  const takes: (ConfirmedTake | null)[] = [null, good];
  const kept = Uint8Array.from(tokens, (_, j) => (j < count ? 0 : 1));
  const path = { pairs: new Int32Array(10).fill(-1), kept, differing: kept };
  run(addReplacedLines(takes, [[], []], path, recording, new Uint8Array(tokens.length), false, PACE));
  expect(takes[0]?.to ?? 0).toBe(expected ? count : 0);
});

describe("unclear words are as many as fit in their duration", () => {
  /** Adds what is said in place of the second of three lines, at this pace. Returns whether it stays. */
  const isKept = (said: string, pace: number) => {
    const recording = record(
      `good evening all / ${said} / thank you all`,
      "Good evening all.\nBoats sailed.\nThank you all.",
    );
    const { tokens } = recording;
    const [first, last] = [3, tokens.length - 3];
    const takes = [[0, first], null, [last, last + 3]].map(
      (range, line) => range && ({ line, from: range[0], to: range[1], skipped: [] } as unknown as ConfirmedTake),
    );
    const kept = Uint8Array.from(tokens, (_, j) => (j < first || j >= last ? 1 : 0));
    const path = { pairs: new Int32Array(8).fill(-1), kept, differing: new Uint8Array(tokens.length) };
    run(addReplacedLines(takes, [[], [], []], path, recording, new Uint8Array(tokens.length), false, pace));
    return takes[1] !== null;
  };

  test.each([
    ["more words that are short", "let? me? just? go?", 90_000, true],
    ["more words that are as long", "let? me? just? go?", 60_000, false],
    ["one word that is long enough", "ferries?", 70_000, true],
  ])("%s: %p at %p µs for a character", (_, said, pace, expected) => {
    expect(isKept(said, pace)).toBe(expected);
  });
});

test("unclear words after the last line do not go before words that resemble it", () => {
  const said = "good evening all / carbon is the third part now / hm? so? you? got? it? all? or? not? yet?";
  const recording = record(said, "Good evening all.\nThird part of our course.");
  const { tokens } = recording;
  const takes: (ConfirmedTake | null)[] = [{ line: 0, from: 0, to: 3, skipped: [] } as unknown as ConfirmedTake, null];
  const kept = Uint8Array.from(tokens, (_, j) => (j < 3 ? 1 : 0));
  const path = { pairs: new Int32Array(8).fill(-1), kept, differing: kept };
  const candidates = [[], [{ line: 1, from: 6, to: 8 } as unknown as LineCandidate]];
  run(addReplacedLines(takes, candidates, path, recording, new Uint8Array(tokens.length), false, PACE));
  expect([takes[1]?.from, takes[1]?.to]).toEqual([3, 9]);
});

test.each([
  ["go on with the take before them", "gulls follow boats home / winter came", [0, 4, 4, 6]],
  ["go on with the take after them", "gulls follow / boats home winter came", [0, 2, 2, 6]],
  ["stand alone", "gulls follow / boats home / winter came", [0, 2, 4, 6]],
])("words that the path keeps for a line that is elsewhere stay when they %s", (_, said, expected) => {
  const recording = record(said, "Gulls follow.\nWinter came.");
  const take = (line: number, from: number, to: number) =>
    ({ line, from, to, skipped: [], pairs: new Int32Array(), review: null }) as unknown as ConfirmedTake;
  const path = { pairs: new Int32Array(), kept: new Uint8Array(6).fill(1), differing: new Uint8Array(6) };
  const { takes, path: after } = keepLeftWords([take(0, 0, 2), take(1, 4, 6)], path, recording);
  expect(takes.flatMap((one) => [one!.from, one!.to])).toEqual(expected);
  expect([...after.differing].includes(1)).toBe(expected[1] === expected[2]);
});

test("the stage that replaces lines keeps the words of a line that is elsewhere", () => {
  const recording = record("gulls follow boats home / winter came", "Gulls follow.\nWinter came.");
  const take = (line: number, from: number, to: number) =>
    ({ line, from, to, skipped: [], pairs: new Int32Array(), review: null }) as unknown as ConfirmedTake;
  const path = { pairs: new Int32Array(), kept: new Uint8Array(6).fill(1), differing: new Uint8Array(6) };
  const takes = [take(0, 0, 2), take(1, 4, 6)];
  const state = { takes, confirmed: takes, candidates: [[], []], path, recording, repeated: new Uint8Array(6) };
  const stage = SCRIPTED_STAGES.find(({ name }) => name === "replaced lines")!;
  const after = run(stage.run(state as never) as unknown as Generator<unknown, typeof state>);
  expect([after.takes[0]!.to, [...after.path.differing].join("")]).toEqual([4, "001100"]);
});

test("the stage of lines out of order leaves those whose take on the path has most of their best one", () => {
  const recording = record("we all slept in their old tents", "They slept in their old tents.");
  const best = { line: 0, from: 2, to: 7, complete: true, quality: 0.9, alignment: null } as LineCandidate;
  const confirmed = [{ line: 0, from: 1, to: 7 } as ConfirmedTake];
  const state = { takes: [null], candidates: [[best]], retaken: [], recording, confirmed };
  const stage = SCRIPTED_STAGES.find(({ name }) => name === "lines out of order")!;
  const after = stage.run(state as never) as unknown as { takes: ConfirmedTake[]; outOfOrder: number[] };
  expect([after.takes[0], after.outOfOrder]).toEqual([confirmed[0]!, []]);
});

describe("cutting with a script", () => {
  /** Returns the words that stay. The recognizer was unsure of the words with `?`. */
  const cut = async (said: string, script: string) => {
    const analysis = createRecording(said);
    const words = analysis.transcript!.words.map((word) =>
      word.text.endsWith("?") ? { ...word, text: word.text.slice(0, -1), confidence: 0.4 } : word,
    );
    const unsure = { ...analysis, transcript: { ...analysis.transcript!, words } };
    const plan = (await cutWithScript(unsure, script))!;
    return { kept: listKeptWords(unsure, plan), missing: plan.missing };
  };
  const AFTER = "carpenters appreciate wonderful mahogany / everything considered excellent";

  test("counts the words in place of the first line at the pace of the speaker", async () => {
    const script =
      "Third part of our course on bookbinding.\nCarpenters appreciate wonderful mahogany.\nEverything considered excellent.";
    const slow = "we can get it for you / he is in at ten or so";
    const unclear = "this? was? carbon? lately?";
    expect((await cut(`${unclear} / ${AFTER}`, script)).missing).toEqual([]);
    const ofSlow = "Third part of our course on bookbinding.\nWe can get it for you.\nHe is in at ten or so.";
    expect((await cut(`${unclear} / ${slow}`, ofSlow)).missing).toHaveLength(1);
  });

  test("counts the words in place of a lost word at the pace of the speaker", async () => {
    const unclear = "let? me? just?";
    const slow = await cut(
      `we can get it for you / ${unclear} / he is in at ten or so`,
      "We can get it for you.\nBoats he is in at ten or so.",
    );
    expect(slow.kept).toContain("let me just");
    const fast = await cut(
      AFTER.replace("/", `/ ${unclear} /`),
      "Carpenters appreciate wonderful mahogany.\nBoats everything considered excellent.",
    );
    expect(fast.kept).not.toContain("let me just");
  });

  test("keeps words that go on with a line and resemble one that is elsewhere", async () => {
    const said =
      "good evening to everybody in this room boats are / winter came early to the harbor town / boats sailed home past rocks / thank you all for listening to me";
    const { kept } = await cut(
      said,
      "Good evening to everybody in this room.\nBoats sailed home past rocks.\nWinter came early to the harbor town.\nThank you all for listening to me.",
    );
    expect(kept).toBe(said.replaceAll(" /", ""));
  });

  test("misses a line in whose place a clear word is drawn out", async () => {
    let at = 100;
    const say = (text: string, hundredths = 30) => {
      const words = text.split(" ").map((word) => {
        at += hundredths;
        return `${word} ${at - hundredths} ${at} 95`;
      });
      at += 60;
      return words;
    };
    const words = [
      say("Good evening to everybody in this room."),
      say("Unfortunately.", 110),
      say("Winter came early to the harbor town."),
    ];
    const analysis = createRecordedWords(words.flat().join(" | "));
    const missing = "Boats sailed home past rocks.";
    const plan = await cutWithScript(
      analysis,
      `Good evening to everybody in this room.\n${missing}\nWinter came early to the harbor town.`,
    );
    expect(plan!.missing).toEqual([missing]);
  });
});

describe("voice without words", () => {
  const script = "Good evening all.\nGulls follow boats home.\nThank you all.";
  const setUp = (said: string) => {
    const recording = record(`good evening all / ${said} / thank you all`, script);
    const { tokens } = recording;
    const [first, last] = [3, tokens.length - 3];
    const pairs = Int32Array.of(0, 1, 2, -1, -1, -1, -1, last, last + 1, last + 2);
    const kept = Uint8Array.from(tokens, (_, j) => (j < first || j >= last ? 1 : 0));
    return { recording, path: { pairs, kept, differing: new Uint8Array(tokens.length) }, first, last };
  };

  test.each([
    ["ferry ~", true],
    ["ferry ~~~", false],
  ])("stays in place of a line if it is about as long: %p %p", (said, expected) => {
    const { recording, path, first, last } = setUp(said);
    const takes = [[0, first], null, [last, last + 3]].map(
      (range, line) => range && ({ line, from: range[0], to: range[1], skipped: [] } as unknown as ConfirmedTake),
    );
    run(addReplacedLines(takes, [[], [], []], path, recording, new Uint8Array(recording.tokens.length), false, PACE));
    expect(takes[1] !== null).toBe(expected);
  });

  test.each([
    ["~", true],
    ["~~~~~", false],
  ])("stays in place of words of the script if it is about as long: %p %p", (said, expected) => {
    const { recording, path, first } = setUp(said);
    const found = run(keepDifferingWords(path, recording, new Uint8Array(recording.tokens.length), false, PACE));
    expect(found.kept[first] === 1).toBe(expected);
  });
});
