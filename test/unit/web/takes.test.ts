import { expect, test } from "bun:test";
import { type EditorPlan, removeRange } from "../../../web/editor/model/plan";
import { explainIncomplete, listTakes } from "../../../web/editor/model/takes";

const WHOLE: EditorPlan = { duration: 4e6, spans: [{ start: 0, end: 4e6, isKept: true, review: null }] };

const said = (start: number, end: number) => ({ start, end, complete: false });

test("a take without its pauses is in the cut beside one that is whole", () => {
  const source = [{ line: "it was last", chosen: 1, candidates: [said(0, 2), said(2, 4)] }];
  const [take] = listTakes(removeRange(WHOLE, { start: 500_000, end: 1_100_000 }), source);
  expect(take!.candidates.map(({ isKept }) => isKept)).toEqual([true, true]);
});

test("a short take of which the padding of another one is left is not in the cut", () => {
  const source = [{ line: "it was last", chosen: 2, candidates: [said(1, 1.2), said(1.22, 1.55), said(1.55, 3)] }];
  const [take] = listTakes(removeRange(WHOLE, { start: 1_120_000, end: 1_490_000 }), source);
  expect(take!.candidates.map(({ isKept }) => isKept)).toEqual([false, false, true]);
  expect(listTakes(WHOLE, source)[0]!.candidates.every(({ isKept }) => isKept)).toBe(true);
});

const LINE = "We lifted the first board, and there was nothing.";

test.each<[said: string, reason: string, line?: string]>([
  ["we lifted the, we lifted the first", "stops early"],
  ["board and there was nothing.", "starts late"],
  ["We lifted the first and there was nothing.", "“board” missing"],
  ["We the first and there nothing.", "3 words missing"],
  ["the first board and", "5 words missing"],
  ["We lifted the first board and there was nothing.", "not complete"],
  ["", "not complete"],
  ["cat sat on the mat", "starts late", "The cat sat on the mat"],
  ["the mat", "starts late", "The cat sat on the mat"],
  ["the cat sat on", "stops early", "The cat sat on the mat"],
  ["the the cat sat the mat", "“on” missing", "The cat sat on the mat"],
  ["I know.", "“don't” missing", "I don’t know."],
  ["we don't", "stops early", "We don’t know."],
  ["मैं ठीक", "stops early", "मैं ठीक हूँ"],
  ["मैं हूँ", "“ठीक” missing", "मैं ठीक हूँ"],
])("“%s”: %s", (said, reason, line = LINE) => {
  expect(explainIncomplete(line, said)).toBe(reason);
});
