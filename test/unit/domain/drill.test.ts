import { expect, test } from "bun:test";
import fc from "fast-check";
import type { WorkspaceBalance } from "../../../src/domain/backup";
import { formatProblems } from "../../../src/domain/backup-runs";
import { findBalanceProblems, findFrameProblem, type RenderCandidate, selectRender } from "../../../src/domain/drill";
import { fromSeconds } from "../../../src/domain/time";

const balance = (workspace_id: string, credits: number, rest: Partial<WorkspaceBalance> = {}): WorkspaceBalance => ({
  workspace_id,
  entries: 2,
  credits,
  held: 0,
  ...rest,
});

test.each<[string, WorkspaceBalance[], WorkspaceBalance[], string[]]>([
  ["the same in another order", [balance("a", 1), balance("b", 2)], [balance("b", 2), balance("a", 1)], []],
  ["no workspaces", [], [], []],
  [
    "fewer credits",
    [balance("a", 6000)],
    [balance("a", 5900)],
    ["Workspace a has 5,900 credits in its ledger, expected 6,000."],
  ],
  [
    "entries that cancel each other out are missing",
    [balance("a", 5, { entries: 4 })],
    [balance("a", 5)],
    ["Workspace a has 2 ledger entries, expected 4."],
  ],
  [
    "a hold is missing",
    [balance("a", 5, { held: 3 })],
    [balance("a", 5)],
    ["Workspace a has 0 credits on hold, expected 3."],
  ],
  ["a workspace is missing", [balance("a", 5)], [], ["Workspace a has 0 credits in its ledger, expected 5."]],
  ["one too many", [], [balance("a", 5)], ["Workspace a has 5 credits in its ledger, expected 0."]],
])("balances: %s", (_, before, after, problems) => {
  expect(findBalanceProblems(before, after)).toEqual(problems);
});

test("a change of any balance is a problem of that workspace alone", () => {
  const balances = fc.uniqueArray(
    fc.record({
      workspace_id: fc.uuid(),
      entries: fc.nat(9),
      credits: fc.integer({ min: -99, max: 99 }),
      held: fc.nat(9),
    }),
    { selector: ({ workspace_id }) => workspace_id, minLength: 1, maxLength: 9 },
  );
  fc.assert(
    fc.property(balances, fc.nat(), fc.constantFrom("entries", "credits", "held"), (before, pick, field) => {
      expect(findBalanceProblems(before, before.toReversed())).toEqual([]);
      const changed = before[pick % before.length]!;
      const after = before.map((each) => (each === changed ? { ...each, [field]: each[field as "held"] + 1 } : each));
      const problems = findBalanceProblems(before, after);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(changed.workspace_id);
    }),
  );
});

test.each<[string, string[], string[], string | null]>([
  ["the same", ["a", "b"], ["a", "b"], null],
  ["another frame", ["a", "b", "c"], ["a", "x", "y"], "Frame 2 of 3 differs from the stored render."],
  ["a frame less", ["a", "b"], ["a"], "Number of frames differs: 1 rendered, 2 stored."],
  ["nothing stored", [], [], "The stored render has no frame."],
])("frames: %s", (_, stored, rendered, problem) => {
  expect(findFrameProblem("Frame", stored, rendered)).toBe(problem);
});

const candidate = (id: string, seconds: number, rest: Partial<RenderCandidate> = {}): RenderCandidate => ({
  id,
  isCut: true,
  isVideo: true,
  duration: fromSeconds(seconds),
  encodedShare: 1,
  madeWith: "old",
  ...rest,
});

test.each<[string, RenderCandidate[], string | null]>([
  ["no render", [], null],
  ["the shorter one", [candidate("long", 90), candidate("short", 30)], "short"],
  ["the one that copies more", [candidate("encoded", 60), candidate("copied", 90, { encodedShare: 0.1 })], "copied"],
  ["a cut before a whole recording", [candidate("whole", 5, { isCut: false }), candidate("cut", 60)], "cut"],
  [
    "video before audio",
    [candidate("audio", 5, { isVideo: false, encodedShare: null }), candidate("video", 60)],
    "video",
  ],
  [
    "audio when all video is too long",
    [candidate("audio", 600, { isVideo: false, encodedShare: null }), candidate("video", 121)],
    "audio",
  ],
  [
    "one of the same encoder before a shorter one",
    [candidate("old", 5), candidate("new", 90, { madeWith: "new" })],
    "new",
  ],
  ["none that is too long", [candidate("hours", 7200)], null],
  ["a long one that is copied", [candidate("copied", 2000, { encodedShare: 0 })], "copied"],
])("the render to render again: %s", (_, candidates, id) => {
  expect(selectRender(candidates, "new")?.id ?? null).toBe(id);
});

test("an error names five problems and counts the others", () => {
  expect(formatProblems([])).toBeNull();
  expect(formatProblems(["A.", "B."])).toBe("A. B.");
  expect(formatProblems(["A.", "B.", "C.", "D.", "E.", "F.", "G."])).toBe("A. B. C. D. E. And 2 more.");
});
