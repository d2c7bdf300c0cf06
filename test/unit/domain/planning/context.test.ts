import { expect, test } from "bun:test";
import { fitRecognitionBudget, requestAlignments, requestRecognitions } from "../../../../src/domain/planning/context";

const window = { start: 0, end: 1_000_000 };

test("a planner's query has the requests of one kind, and its reply is the results", () => {
  const steps = requestRecognitions([{ window }]);
  expect(steps.next()).toEqual({ done: false, value: { kind: "recognize", requests: [{ window }] } });
  const results = [{ words: [], meanLogProb: -1 }];
  expect(steps.next({ kind: "recognize", results })).toEqual({ done: true, value: results });
});

test("without requests nothing is queried", () => {
  expect(requestRecognitions([]).next()).toEqual({ done: true, value: [] });
  expect(requestAlignments([]).next()).toEqual({ done: true, value: [] });
});

test("a reply of another kind is rejected", () => {
  const steps = requestAlignments([{ window, text: "um" }]);
  steps.next();
  expect(() => steps.next({ kind: "recognize", results: [] })).toThrow("no reply of the kind align");
});

test.each([
  ["60 s of a short recording", 600, 6],
  ["3% of a long one", 3600, 10],
])("at most %s are recognized again", (_, seconds, expected) => {
  const requests = Array.from({ length: 20 }, () => ({ window: { start: 0, end: 10_000_000 } }));
  expect(fitRecognitionBudget(requests, seconds * 1_000_000).length).toBe(expected);
});
