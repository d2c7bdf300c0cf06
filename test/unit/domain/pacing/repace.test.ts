import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { basisFromJson, basisToJson } from "../../../../src/domain/pacing/basis-json";
import { applyEdits, listEdits, NO_EDITS, reapply } from "../../../../src/domain/pacing/edits";
import { repace, toPacingOptions } from "../../../../src/domain/pacing/repace";
import { CUT_MODES } from "../../../../src/domain/plan";
import { type PlanJson, planToJson } from "../../../../src/domain/plan-json";
import { type FrameTimes, fromSeconds, TICKS_PER_SECOND } from "../../../../src/domain/time";
import { packBasis, unpackBasis } from "../../../../src/work/cuts/stored-basis";
import { checkAny, planOf } from "../planning/any-recording";

// 300 recordings are planned in each test, twice in one: seconds on a quiet machine.
setDefaultTimeout(120_000);

/** Returns whether a frame is shown for more than a second. */
const hasLongFrame = (frames: FrameTimes | null): boolean =>
  frames?.kind === "listed" &&
  [...frames.times].some((time, n) => (frames.times[n + 1] ?? frames.end) - time > TICKS_PER_SECOND);

describe("any recording", () => {
  test("with the options of the cut, repacing returns its plan, also from the stored basis and from that of the API", () =>
    checkAny((plan, { analysis, options, probed: { frames } }) => {
      const json = planToJson(plan);
      const words = analysis.transcript?.words ?? [];
      const stored = unpackBasis(packBasis({ ...plan.basis, texts: [] }, json), json);
      const { frames: _, ...basisWithoutFrames } = plan.basis;
      expect(stored).toEqual({ ...basisWithoutFrames, texts: [] });
      const bases = [plan.basis, { ...stored!, frames }, basisFromJson(structuredClone(basisToJson(plan.basis)))];
      for (const basis of bases) expect(repace(json, words, basis, toPacingOptions(options)).plan).toEqual(json);
    }));

  test("with other options, repacing returns the plan of a cut with them", () =>
    checkAny(async (plan, input) => {
      const basis = basisFromJson(structuredClone(basisToJson(plan.basis)));
      const modes = Object.values(CUT_MODES);
      const i = input.seed % modes.length;
      const options = { ...modes[i]!, remove_fillers: i === 0, remove_retakes: i === 1 };
      const other = planToJson((await planOf(input, options))!);
      const { segments, removed } = repace(planToJson(plan), [], basis, toPacingOptions(options)).plan;
      expect({ segments, removed }).toEqual({ segments: other.segments, removed: other.removed });
    }));

  test("with no reason, only noise is removed", () =>
    checkAny((plan, { options }) => {
      const nothing = { remove_fillers: false, remove_retakes: false, remove_off_script: false, remove_pauses: false };
      const { plan: all } = repace(planToJson(plan), [], plan.basis, { ...toPacingOptions(options), ...nothing });
      for (const { reason } of all.removed) expect(["noise", "silence"]).toContain(reason);
      const hasNoise = plan.basis.spans.some(({ reason }) => reason === "noise");
      if (all.segments.length > 0 && !hasNoise) expect(all.removed).toEqual([]);
    }));

  test("edits stay when nothing else changes", () =>
    checkAny((plan, { analysis, options }) => {
      const json = planToJson(plan);
      const words = analysis.transcript?.words ?? [];
      const kept = json.segments.filter((_, i) => i % 2 === 0);
      const edits = listEdits(json, kept, []);
      const clock = { duration: plan.sourceDuration, frames: plan.basis.frames };
      const repaced = repace(json, words, plan.basis, toPacingOptions(options), edits);
      expect(repaced.unapplied).toEqual([]);
      expect(repaced.plan).toEqual(applyEdits(json, edits, words, clock));
      const spans = (all: readonly { start: number; end: number }[]) => all.map(({ start, end }) => [start, end]);
      expect(spans(repaced.plan.segments)).toEqual(spans(kept));
    }));

  test("a segment that was removed leaves nothing behind with other pauses, a restored span stays", () =>
    checkAny((plan, { options, probed }) => {
      const json = planToJson(plan);
      const [first] = json.segments;
      // Within one frame, a neighbor that is extended to whole frames covers the removed segment.
      if (!first || hasLongFrame(probed.frames)) return;
      // A frame may have a second, and a span is extended to whole ones.
      const isApart = (span: { start: number; end: number }) =>
        span.start > first.end + 2 || span.end < first.start - 2;
      const gone = json.removed.find((span) => (span.reason === "retake" || span.reason === "filler") && isApart(span));
      const kept = [...json.segments.slice(1), ...(gone ? [gone] : [])].toSorted((a, b) => a.start - b.start);
      const edits = listEdits(json, kept, []);
      for (const mode of [CUT_MODES.tight, CUT_MODES.loose]) {
        const next = toPacingOptions({ ...options, ...mode, remove_fillers: options.remove_fillers });
        const { plan: repaced } = repace(json, [], plan.basis, next, edits);
        const isKept = (time: number) => repaced.segments.some(({ start, end }) => start <= time && time < end);
        expect(isKept((first.start + first.end) / 2)).toBe(false);
        if (gone) expect(isKept((gone.start + gone.end) / 2)).toBe(true);
      }
      expect(reapply(NO_EDITS, json, json)).toEqual({ edits: NO_EDITS, unapplied: [] });
      expect(fromSeconds(json.source_duration)).toBe(plan.sourceDuration);
    }));
});

describe("a chosen take", () => {
  const [first, second, other] = [
    { start: 0, end: 2 },
    { start: 3, end: 5 },
    { start: 6, end: 9 },
  ];
  const take = (span: { start: number; end: number }) => ({ ...span, score: 0.9, complete: true });
  const plan = (chosen: number, line = "so we go"): PlanJson => ({
    source_duration: 10,
    kept_duration: 5,
    frame_rate: null,
    segments: [chosen === 0 ? first : second, other].map((span) => ({
      ...span,
      start_frame: null,
      end_frame: null,
      text: "",
      review: null,
    })),
    removed: [{ ...(chosen === 0 ? second : first), reason: "retake", rule: "retake.worse_take", text: "" }],
    takes: [{ line, chosen, candidates: [take(first), take(second)] }],
    missing: [],
    warnings: [],
    language: "en",
  });
  const clock = { duration: fromSeconds(10), frames: null };
  const edits = listEdits(plan(1), [first, other], []);
  const spansOf = ({ segments }: PlanJson) => segments.map(({ start, end }) => [start, end]);

  test("is found where it was restored in place of the planned one", () => {
    expect(edits.takes).toEqual([{ line: "so we go", ...first }]);
    expect(listEdits(plan(1), [second, other], []).takes).toEqual([]);
    expect(listEdits(plan(1), [first, second, other], []).takes).toEqual([]);
  });

  test.each([
    ["in a plan that chose another one", plan(1)],
    ["in a plan that chose it itself", plan(0)],
    ["in a plan with another text of the line", plan(1, "So, we go!")],
  ])("stays, and no other take of the line does: %s", (_, next) => {
    const moved = reapply(edits, plan(1), next);
    expect(moved.unapplied).toEqual([]);
    expect(moved.edits.takes).toEqual(edits.takes);
    expect(spansOf(applyEdits(next, moved.edits, null, clock))).toEqual([
      [0, 2],
      [6, 9],
    ]);
  });

  test("is reported when the new plan does not have the line, whose span is then as planned", () => {
    const next = { ...plan(1), takes: [] };
    const moved = reapply(edits, plan(1), next);
    expect(moved.unapplied).toEqual([{ kind: "take", ...first, message: "the line is not in the new cut: so we go" }]);
    expect([moved.edits.takes, moved.edits.restored]).toEqual([[], []]);
  });
});
