import { expect, test } from "bun:test";
import { findLineBounds } from "../../../../../src/domain/planning/scripted/find-path";
import {
  checkMatches,
  extendToPhrases,
  fitToBudget,
  type LineCandidate,
  listRetakePairs,
  toAlignmentRequests,
} from "../../../../../src/domain/planning/scripted/line-candidates";
import { matchLines } from "../../../../../src/domain/planning/scripted/match-lines";
import type { ScriptLine } from "../../../../../src/domain/planning/scripted/script-lines";
import type { Token } from "../../../../../src/domain/planning/tokens";
import type { AlignmentRequest, ForcedAlignment } from "../../../../../src/domain/speech";
import { fromSeconds } from "../../../../../src/domain/time";
import { record, run, runWithAlignments } from "./spoken-recording";

const windowOf = (seconds: number) => ({ start: 0, end: fromSeconds(seconds) });

test.each([
  [26, 1],
  [28, 0],
])("a line is aligned with at most 27 s: %p s", (seconds, expected) => {
  expect(toAlignmentRequests({ spoken: ["a"] } as ScriptLine, windowOf(seconds)).length).toBe(expected);
});

test.each([
  ["before a retake of 26 s", 26, 27, 53, true],
  ["before a retake of 28 s", 26, 27, 55, false],
  ["of 28 s", 28, 29, 31, false],
  ["44 s before it", 2, 46, 48, true],
  ["46 s before it", 2, 48, 50, false],
  ["that overlaps it", 3, 2, 5, false],
])("a retake is compared with a better take %s", (_, end, start, retakeEnd, expected) => {
  // Two words in each second, so that a range in seconds is one in tokens.
  const tokens = Array.from({ length: 120 }, (_, j) => ({ start: fromSeconds(j / 2), end: fromSeconds((j + 1) / 2) }));
  const candidate = (from: number, to: number, quality: number) => {
    const window = { start: fromSeconds(from), end: fromSeconds(to) };
    return { from: 2 * from, to: 2 * to, window, quality, similarity: quality } as LineCandidate;
  };
  const row = [candidate(0, end, 0.9), candidate(start, retakeEnd, 0.2)];
  const [take, retake] = row;
  expect(listRetakePairs(row, tokens as Token[])).toEqual(expected ? [{ take: take!, retake: retake! }] : []);
});

test("a range is extended to the next pauses, by at most 60 words", () => {
  const { tokens } = record(Array(200).fill("word").join(" "), "Some words.");
  expect(extendToPhrases({ from: 100, to: 101 }, tokens)).toEqual({ from: 40, to: 161 });
});

test("a retake is compared with the last four takes before it", () => {
  const tokens = Array.from({ length: 7 }, (_, j) => ({ start: fromSeconds(j), end: fromSeconds(j + 1) }));
  const row = tokens.map((window, j) => {
    const quality = j === 6 ? 0.2 : 0.9;
    return { from: j, to: j + 1, window, quality, similarity: quality } as LineCandidate;
  });
  const pairs = listRetakePairs(row, tokens as Token[]);
  expect(pairs.map(({ take, retake }) => [take.from, retake.from])).toEqual([2, 3, 4, 5].map((from) => [from, 6]));
});

test("a take that says the same as two earlier ones is rated like the first, although only the second one is near", () => {
  const said = "on the next day the whole village met to clear the road";
  const recording = record(
    `${said} ${`${"/ ".repeat(50)} ${said} `.repeat(2)}`,
    "On next the day the met village to the clear.",
  );
  const { tokens, lines, words } = recording;
  const starts = [0, 12, 24].map((at) => words[at]!.start);
  const logProbs = [-0.3, -6.5, -6.4];
  const align = ({ window, text }: AlignmentRequest): ForcedAlignment => {
    const logProb = logProbs[starts.findLastIndex((start) => start <= window.start + 500_000)]!;
    const aligned = text.split(" ").map((word, k) => {
      // The last word is in none of the takes, so all are compared with each other.
      return { text: word, ...window, confidence: 0.9, logProb: k === 9 ? -7 : logProb };
    });
    return { words: aligned, meanLogProb: logProb, tailLogProb: logProb };
  };
  const [row] = runWithAlignments(checkMatches(run(matchLines(lines, tokens)), recording), align);
  expect(row!.map(({ from, accepted }) => [from, accepted])).toEqual([
    [0, true],
    [12, true],
    [24, true],
  ]);
});

test("lines are aligned with eight times the recording, and ten minutes", () => {
  const items = Array.from({ length: 20 }, () => ({ requests: [{ window: windowOf(100), text: "" }] }));
  expect(fitToBudget(items, fromSeconds(100)).length).toBe(14);
});

test.each([
  [9_000, 0],
  [11_000, 4_300],
])("the search is bounded by sure candidates beyond ten million cells: %p tokens, from %p", (tokenCount, from) => {
  const line = { words: new Array<string>(1_000).fill("a") } as ScriptLine;
  const sure = { line: 0, from: 5_000, to: 6_000, pairs: new Int32Array(1_000), accepted: true, quality: 1 };
  const boundsOf = findLineBounds([line], [[sure as unknown as LineCandidate]], tokenCount);
  expect(boundsOf(0)).toEqual(from === 0 ? { from, to: tokenCount } : { from, to: 6_700 });
});
