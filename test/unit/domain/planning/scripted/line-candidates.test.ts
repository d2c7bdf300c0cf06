import { expect, test } from "bun:test";
import { findLineBounds } from "../../../../../src/domain/planning/scripted/find-path";
import {
  fitToBudget,
  type LineCandidate,
  toAlignmentRequests,
} from "../../../../../src/domain/planning/scripted/line-candidates";
import type { ScriptLine } from "../../../../../src/domain/planning/scripted/script-lines";
import { fromSeconds } from "../../../../../src/domain/time";

const windowOf = (seconds: number) => ({ start: 0, end: fromSeconds(seconds) });

test.each([
  [26, 1],
  [28, 0],
])("a line is aligned with at most 27 s: %p s", (seconds, expected) => {
  expect(toAlignmentRequests({ spoken: ["a"] } as ScriptLine, windowOf(seconds)).length).toBe(expected);
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
