import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findPath } from "../../../../../src/domain/planning/scripted/find-path";
import { matchLines } from "../../../../../src/domain/planning/scripted/match-lines";
import { parseScript, type ScriptLine, splitCompounds } from "../../../../../src/domain/planning/scripted/script-lines";
import type { Token } from "../../../../../src/domain/planning/tokens";
import { findDistanceTable } from "../../../../../src/domain/text/distances";
import { measureWordDistance } from "../../../../../src/domain/text/normalize";
import { runWithoutAlignment } from "../run-without-alignment";

/** Tokens of 0.3 s; `/` is a pause of half a second. */
function tokens(text: string): Token[] {
  const out: Token[] = [];
  let at = 0;
  for (const token of text.split(" ")) {
    if (token === "/") {
      at += 500_000;
      continue;
    }
    out.push({ normal: token, word: out.length, start: at, end: at + 300_000 });
    at += 300_000;
  }
  return out;
}

const lines = (...texts: string[]) => parseScript(texts.join("\n"));
const pathOf = (
  script: ScriptLine[],
  words: Token[],
  boundsOf?: (line: number) => { from: number; to: number },
  maxStoredSteps?: number,
) =>
  runWithoutAlignment(
    findPath(
      script,
      words,
      { repeated: new Uint8Array(words.length), bias: () => null, ...(boundsOf ? { boundsOf } : {}) },
      maxStoredSteps,
    ),
  );
const keptOf = (script: ScriptLine[], text: string) => {
  const words = tokens(text);
  const { kept } = pathOf(script, words);
  return words
    .filter((_, j) => kept[j])
    .map((word) => word.normal)
    .join(" ");
};

describe("the path of the script", () => {
  test.each([
    ["a false start", "turn the key / turn the key to the left / now open it", "turn the key to the left now open it"],
    [
      "a remark between lines",
      "turn the key to the left / is this on / now open it",
      "turn the key to the left now open it",
    ],
    ["a misrecognized word", "turn a key to the left / now open it", "turn a key to the left now open it"],
    ["an extra word", "turn the big key to the left / now open it", "turn the big key to the left now open it"],
    ["a missing line", "now open it", "now open it"],
    ["nothing of the script", "we had soup / it was good soup", ""],
  ])("leaves out %s", (_, text, expected) => {
    expect(keptOf(lines("Turn the key to the left.", "Now open it."), text)).toBe(expected);
  });

  test.each([
    ["that is said once stays", false, "turn the key and do very much now open it"],
    ["that is said again goes", true, "turn the key now open it"],
  ])("talk in place of swapped and wrong words %s", (_, isRepeated, expected) => {
    const words = tokens("turn the key / and do very much / now open it");
    const repeated = Uint8Array.from(words, (_, j) => (isRepeated && j >= 3 && j < 7 ? 1 : 0));
    const script = lines("Turn the key.", "Thank you much very.", "Now open it.");
    const { kept } = runWithoutAlignment(findPath(script, words, { repeated, bias: () => null }));
    expect(words.flatMap(({ normal }, j) => (kept[j] ? [normal] : [])).join(" ")).toBe(expected);
  });

  const VOCABULARY = ["turn", "the", "key", "left", "now", "open", "it"];
  const words = fc.array(fc.constantFrom(...VOCABULARY, "/"), { maxLength: 40 }).map((all) => tokens(all.join(" ")));
  const script = fc
    .array(fc.array(fc.constantFrom(...VOCABULARY), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
    .map((all) => lines(...all.map((line) => line.join(" "))));

  test("paired tokens are in order and kept", () => {
    fc.assert(
      fc.property(script, words, (given, spoken) => {
        const { pairs, kept } = pathOf(given, spoken);
        const used = [...pairs].filter((j) => j >= 0);
        expect(used).toEqual([...new Set(used)].sort((a, b) => a - b));
        for (const j of used) expect(kept[j]).toBe(1);
      }),
    );
  });

  test("a bounded search finds the same path when the bounds hold, with few or many steps in memory", () => {
    fc.assert(
      fc.property(script, words, fc.nat(6), fc.nat(200), (given, spoken, margin, maxStoredSteps) => {
        const whole = pathOf(given, spoken);
        const paired = new Set(whole.pairs);
        let at = 0;
        let low = 0;
        let high = 0;
        const bounds = given.map(({ words: { length } }) => {
          const own = [...whole.pairs.slice(at, at + length)].filter((j) => j >= 0);
          at += length;
          low = Math.max(low, own[0] ?? 0);
          high = Math.max(high, (own.at(-1) ?? -1) + 1);
          // Other words may be kept after the line.
          while (whole.kept[high] && !paired.has(high)) high++;
          return { from: Math.max(0, low - margin), to: Math.min(spoken.length, high + margin) };
        });
        for (let i = bounds.length - 2; i >= 0; i--) bounds[i]!.from = Math.min(bounds[i]!.from, bounds[i + 1]!.from);
        expect(pathOf(given, spoken, undefined, maxStoredSteps)).toEqual(whole);
        expect(pathOf(given, spoken, (line) => bounds[line]!, maxStoredSteps)).toEqual(whole);
      }),
    );
  });
});

test.each([1_000, 5])(
  "lines are found where bounds leave words between them, with %p steps in memory",
  (maxStoredSteps) => {
    const words = tokens("turn it / the key the key the / open now / left key");
    const bounds = [
      { from: 0, to: 2 },
      { from: 7, to: 9 },
    ];
    const { pairs } = pathOf(lines("Turn it.", "Open now."), words, (line) => bounds[line]!, maxStoredSteps);
    expect([...pairs]).toEqual([0, 1, 7, 8]);
  },
);

test("all matches of a line are found", () => {
  const words = tokens("turn the key / turn the key to the left / what now / turn the keys to the left");
  const [found] = runWithoutAlignment(matchLines(lines("Turn the key to the left."), words));
  expect(found!.map(({ from, to }) => [from, to])).toEqual([
    [0, 3],
    [3, 9],
    [11, 17],
  ]);
  expect(found![1]!.score).toBe(1);
});

test.each([
  ["a line", 1, 40],
  ["each of two thousand lines", 2_000, 20],
  ["each of many lines", 20_000, 3],
])("%s has a limited number of matches", (_, count, expected) => {
  const words = tokens(Array.from({ length: 60 }, () => "late birds sing").join(" / "));
  const script = new Array<ScriptLine>(count).fill(lines("Late birds sing.")[0]!);
  const found = runWithoutAlignment(matchLines(script, words));
  expect(new Set(found.map((row) => row.length))).toEqual(new Set([expected]));
});

test("compounds are divided on the side that writes one word", () => {
  const { lines: script, tokens: words } = splitCompounds(
    lines("The letterpress is a back up."),
    tokens("the letter press is a backup"),
  );
  expect(script[0]!.words).toEqual(["the", "letter", "press", "is", "a", "back", "up"]);
  expect(words.map((word) => word.normal)).toEqual(["the", "letter", "press", "is", "a", "back", "up"]);
  expect(words[6]!.end).toBe(1_800_000);
});

test("the distance table has the distances of the words", () => {
  const word = fc.string({ minLength: 1, maxLength: 9, unit: fc.constantFrom(..."abcdeé") });
  fc.assert(
    fc.property(fc.array(word), fc.array(word), (text, others) => {
      const { ids, row } = findDistanceTable(text.map((normal) => ({ normal })));
      for (const one of others)
        for (const [j, other] of text.entries())
          expect(row(one)[ids[j]!]).toBeCloseTo(measureWordDistance(one, other), 5);
    }),
  );
});
