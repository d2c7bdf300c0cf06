import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { keepWholeAttempts } from "../../../../../src/domain/planning/scripted/settle-path";
import { cutRecording } from "../../../work/cuts/cut-recording";
import { createRecording, type Moment } from "../../../work/cuts/test-recording";

const PARAGRAPHS = [
  ["First of all measure the wall.", "Write down every single number.", "Then buy the boards in town."],
  ["The second step is the paint.", "Choose a light color for it.", "Cover the floor with old paper."],
  ["Finally put the shelf in place.", "Use four long screws on each side.", "Check that it is level again."],
];
const SCRIPT = PARAGRAPHS.map((lines) => lines.join(" ")).join("\n\n");
const OTHER_WORDS = ["blue", "seven", "garlic"];
const SECOND = PARAGRAPHS[1]!;

/** An attempt at the second paragraph: per line, the word that is misrecognized, if any, and the pause after it. */
type Reading = { line: string; wrong: number; pause: number }[];
const lineArbitrary = fc.record({
  wrong: fc.integer({ min: -6, max: 5 }),
  pause: fc.double({ min: 0.2, max: 0.8, noNaN: true }),
});
const reading = fc.tuple(lineArbitrary, lineArbitrary, lineArbitrary);

const say = (lines: readonly string[], manner: readonly { wrong: number; pause: number }[]): Reading =>
  lines.map((line, i) => ({ line, ...manner[i]! }));

const toMoments = (lines: Reading): Moment[] =>
  lines.flatMap(({ line, wrong, pause }, i) => {
    const words = line.replace(".", "").split(" ");
    return [words.map((word, k) => (k === wrong ? OTHER_WORDS[i % 3]! : word)).join(" "), pause];
  });

const FLUENT = { wrong: -1, pause: 0.4 };
const fluent = (lines: readonly string[]): Moment[] => toMoments(say(lines, [FLUENT, FLUENT, FLUENT]));

/** Returns the attempts from which lines of the second paragraph are kept, such as `[0, 0, 1]`. */
async function listKeptAttempts(attempts: readonly Reading[]): Promise<number[]> {
  const before: Moment[] = [1, ...fluent(PARAGRAPHS[0]!), 0.8];
  const moments = [
    ...before,
    ...attempts.flatMap((attempt) => [...toMoments(attempt), 0.7]),
    ...fluent(PARAGRAPHS[2]!),
  ];
  const recording = createRecording(...moments);
  const { segments } = await cutRecording(recording, SCRIPT);
  const words = recording.analysis.transcript!.words;
  let at = PARAGRAPHS[0]!.join(" ").split(" ").length;
  return attempts.flatMap((attempt, n) =>
    attempt.flatMap(({ line }) => {
      const middle = words.slice(at, at + 2).at(-1)!.start;
      at += line.split(" ").length;
      return segments.some(({ start, end }) => start <= middle && middle < end) ? [n] : [];
    }),
  );
}

test.each([0, 1, 2])("line %p of a paragraph that is said again at once is kept as it was said last", async (again) => {
  const lines = say(SECOND, [FLUENT, FLUENT, FLUENT]);
  const kept = await listKeptAttempts([lines.slice(0, again + 1), lines.slice(again)]);
  expect(kept).toEqual([...lines.slice(0, again).map(() => 0), ...lines.slice(again).map(() => 1)]);
});

test("a paragraph with two attempts is one of them when one was read without a mistake", () =>
  fc.assert(
    fc.asyncProperty(reading, fc.boolean(), async (manner, isFirst) => {
      const good = say(
        SECOND,
        manner.map(({ pause }) => ({ wrong: -1, pause })),
      );
      const other = say(SECOND, manner);
      const kept = await listKeptAttempts(isFirst ? [good, other] : [other, good]);
      expect(kept).toHaveLength(SECOND.length);
      expect(new Set(kept).size).toBe(1);
    }),
    { numRuns: 60 },
  ));

test("a line that is said again alone stays with the other lines of its attempt", async () => {
  const [first, second, third] = say(SECOND, [FLUENT, FLUENT, FLUENT]);
  const again = [first!, { ...second!, wrong: 2 }, second!, third!];
  expect(await listKeptAttempts([again])).toHaveLength(3);
});

test("attempts that each lack a line are joined", async () => {
  const whole = say(SECOND, [FLUENT, FLUENT, FLUENT]);
  expect(await listKeptAttempts([whole.slice(0, 2), whole.slice(1)])).toContain(1);
  expect(await listKeptAttempts([whole.slice(0, 1), whole.slice(1)])).toEqual([0, 1, 1]);
});

describe("a take that extends into the paragraph beside its own leaves the words there kept:", () => {
  const lines = [0, 1, 1, 2].map((paragraph) => ({
    ...{ text: "two words", spoken: ["two words"], words: ["two", "words"], optional: false, paragraph },
  }));
  /** A take of a line whose two words are `at` and `at + 1`. */
  const take = (line: number, at: number, [from, to] = [at, at + 2]): LineCandidate => ({
    ...{ line, from: from!, to: to!, score: 1, pairs: Int32Array.of(at, at + 1), window: { start: at, end: at + 2 } },
    ...{ alignment: null, similarity: 1, quality: 1, complete: true, accepted: true },
  });
  const keep = (second: LineCandidate[], third: LineCandidate[]) => {
    const path = {
      pairs: Int32Array.of(0, 1, 2, 3, 14, 15, 16, 17),
      kept: Uint8Array.from({ length: 18 }, (_, j) => Number(j < 4 || j >= 14)),
    };
    const { kept } = keepWholeAttempts(path, lines, [[take(0, 0)], second, third, [take(3, 16)]]);
    return [...kept].flatMap((one, j) => (one === 1 ? [j] : []));
  };

  test("the one before", () => {
    const kept = keep([take(1, 2, [0, 4]), take(1, 12)], [take(2, 4), take(2, 14)]);
    expect(kept).toEqual([0, 1, 12, 13, 14, 15, 16, 17]);
  });

  test("the one after", () => {
    const kept = keep([take(1, 2), take(1, 12)], [take(2, 4), take(2, 14, [14, 18])]);
    expect(kept).toEqual([0, 1, 2, 3, 4, 5, 16, 17]);
  });
});
