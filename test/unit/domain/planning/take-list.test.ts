import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CUT_MODES, type Plan } from "../../../../src/domain/plan";
import { listTakes, takeWorth } from "../../../../src/domain/planning/take-list";
import { COMMON } from "../../../../src/domain/planning/thresholds";
import { fromSeconds } from "../../../../src/domain/time";
import { planCut } from "../../../../src/work/cuts/plan-cut";
import { createRecording, type Moment, type TestRecording } from "../../work/cuts/test-recording";

const planOf = (recording: TestRecording, script = "", removeRetakes = true): Promise<Plan> =>
  planCut({
    analysis: recording.analysis,
    probed: {
      info: {
        type: "audio",
        demuxer: "wav",
        duration: recording.analysis.duration,
        startPts: 0,
        video: null,
        audio: [],
        timecode: null,
      },
      frames: null,
    },
    script,
    options: { ...CUT_MODES.natural, remove_retakes: removeRetakes },
    forcedAlign: recording.forcedAlign,
    recognize: recording.recognize,
    measureVoices: recording.measureVoices,
    compareAudio: recording.compareAudio,
    language: "en",
  });

/** Formats each line with the words of its takes. `*` marks the chosen one, `…` one that is not complete. */
function formatTakes({ takes }: Plan, recording: TestRecording): string[] {
  const words = recording.analysis.transcript!.words;
  return takes.map(({ line, chosen, candidates }) => {
    const texts = candidates.map(({ start, end, complete }, i) => {
      const said = words.filter((word) => word.start >= start && word.end <= end).map((word) => word.text);
      return `${i === chosen ? "*" : ""}${said.join(" ")}${complete ? "" : "…"}`;
    });
    return `${line} = ${texts.join(" / ")}`;
  });
}

describe("takes without a script", () => {
  const cases: { name: string; moments: Moment[]; takes: string[] }[] = [
    {
      name: "two whole takes",
      moments: [1, "We open at nine every day.", 0.9, "We open at nine every day.", 0.6, "Come and see us.", 1],
      takes: ["We open at nine every day. = We open at nine every day. / *We open at nine every day."],
    },
    {
      name: "a chain of false starts",
      moments: [1, "Turn the key", 0.5, "Turn the key to the", 0.6, "Turn the key to the left side.", 1],
      takes: [
        "Turn the key to the left side. = Turn the key… / Turn the key to the… / *Turn the key to the left side.",
      ],
    },
    {
      name: "with a remark between, which is no take",
      moments: [
        1,
        "The train leaves at noon today.",
        0.8,
        "Sorry, one more time.",
        0.8,
        "The train leaves at noon today.",
        1,
      ],
      takes: ["The train leaves at noon today. = The train leaves at noon today. / *The train leaves at noon today."],
    },
    {
      name: "several lines that are said again together",
      moments: [
        1,
        "We open at nine every day. The museum is in the old mill.",
        0.8,
        "We open at nine every day. The museum is in the old mill.",
        1,
      ],
      takes: [
        "We open at nine every day. = We open at nine every day. / *We open at nine every day.",
        "The museum is in the old mill. = The museum is in the old mill. / *The museum is in the old mill.",
      ],
    },
    {
      name: "a restart inside a take belongs to its own line",
      moments: [
        1,
        "We open at nine every day.",
        0.4,
        "The museum is",
        0.5,
        "The museum is in the old mill.",
        0.8,
        "We open at nine every day.",
        0.4,
        "The museum is in the old mill.",
        1,
      ],
      takes: [
        "We open at nine every day. = We open at nine every day. / *We open at nine every day.",
        "The museum is in the old mill. = The museum is… / The museum is in the old mill. / *The museum is in the old mill.",
      ],
    },
    {
      name: "a stutter is no take",
      moments: [1, "Then the", 0.15, "the lamp was lit again.", 1],
      takes: [],
    },
    {
      name: "similar sentences that stay are no takes",
      moments: [1, "Press the button to start.", 0.8, "Press the button to stop.", 1],
      takes: [],
    },
  ];
  test.each(cases)("$name", async ({ moments, takes }) => {
    const recording = createRecording(...moments);
    expect(formatTakes(await planOf(recording), recording)).toEqual(takes);
  });

  test("a whole take scores higher than a part of it, and each covers its words", async () => {
    const recording = createRecording(1, "Turn the key", 0.5, "Turn the key to the left side.", 1);
    const [take] = (await planOf(recording)).takes;
    const [part, whole] = take!.candidates;
    expect(whole!.score).toBeGreaterThan(0.9);
    expect(part!.score).toBeLessThan(0.6);
    expect(whole!.start).toBeLessThanOrEqual(recording.findWord("Turn", 1).start);
    expect(whole!.end).toBeGreaterThanOrEqual(recording.findWord("side.").end);
  });

  test("no takes are listed when the options keep retakes", async () => {
    const recording = createRecording(1, "We open at nine every day.", 0.9, "We open at nine every day.", 1);
    expect((await planOf(recording, "", false)).takes).toEqual([]);
  });
});

describe("the last complete take is kept, unless it is clearly worse", () => {
  const LINE = "The train leaves at noon today.";
  const twice = () => createRecording(1, LINE, 0.9, LINE, 0.9, "Be there in time.", 1);
  const keepsFirst = (plan: Plan, recording: TestRecording) =>
    plan.segments[0]!.start <= recording.findWord("train", 0).start &&
    plan.segments[1]!.start > recording.findWord("train", 1).end;
  const SCRIPT = `${LINE}\nBe there in time.`;

  test.each(["", SCRIPT])("the last of two good ones (script: %p)", async (script) => {
    const recording = twice();
    const plan = await planOf(recording, script);
    expect(keepsFirst(plan, recording)).toBe(false);
    expect(plan.takes[0]!.chosen).toBe(1);
  });

  test.each(["", SCRIPT])("the first when the last is clipped (script: %p)", async (script) => {
    const recording = twice();
    const last = recording.findWord("train", 1);
    recording.analysis.energy.fill(-1, last.start / 5_000, recording.findWord("today.", 1).end / 5_000);
    const plan = await planOf(recording, script);
    expect(keepsFirst(plan, recording)).toBe(true);
    expect(plan.takes[0]!.chosen).toBe(0);
    expect(plan.takes[0]!.candidates[1]!.score).toBeLessThan(0.5);
  });

  test("the first when the recognizer was unsure of the last", async () => {
    const recording = twice();
    const words = recording.analysis.transcript!.words;
    for (const word of words.slice(6, 12)) word.confidence = 0.1;
    const plan = await planOf(recording);
    expect(keepsFirst(plan, recording)).toBe(true);
    expect(plan.takes[0]!.chosen).toBe(0);
  });

  test("a loud voice without clipping is no worse", async () => {
    const recording = twice();
    recording.analysis.energy.fill(
      -6,
      recording.findWord("train", 1).start / 5_000,
      recording.findWord("today.", 1).end / 5_000,
    );
    expect((await planOf(recording)).takes[0]!.chosen).toBe(1);
  });
});

test("with a script all takes of a line are listed, except what is kept for another line", async () => {
  const recording = createRecording(
    1,
    "Press the red button now",
    0.6,
    "Press the red button now please.",
    0.8,
    "Press the green button now please.",
    1,
  );
  const plan = await planOf(recording, "Press the red button now please.\nPress the green button now please.");
  expect(formatTakes(plan, recording)).toEqual([
    "Press the red button now please. = Press the red button now… / *Press the red button now please.",
    "Press the green button now please. = *Press the green button now please.",
  ]);
});

test("listed takes are disjoint, in order and long enough, and include the chosen one", () => {
  const candidate = fc
    .record({
      start: fc.integer({ min: 0, max: 9_000_000 }),
      length: fc.integer({ min: 0, max: 3_000_000 }),
      score: fc.double({ min: -0.5, max: 1.5, noNaN: true }),
      complete: fc.boolean(),
    })
    .map(({ length, ...one }) => ({ ...one, end: one.start + length }));
  const segment = (start: number) => ({
    start: fromSeconds(start),
    end: fromSeconds(start + 0.6),
    startFrame: null,
    endFrame: null,
    text: "",
    review: null,
  });
  fc.assert(
    fc.property(candidate, fc.array(candidate, { maxLength: 8 }), (chosen, others) => {
      const segments = [1, 2, 5, 8].map(segment);
      const takes = listTakes([{ line: "a", chosen, others }], segments);
      const isKept = segments.some((one) => Math.min(one.end, chosen.end) > Math.max(one.start, chosen.start));
      expect(takes.length).toBe(isKept ? 1 : 0);
      for (const take of takes) {
        const own = take.candidates[take.chosen]!;
        expect(own.start).toBeGreaterThanOrEqual(chosen.start);
        expect(own.end).toBeLessThanOrEqual(chosen.end);
        for (const [i, one] of take.candidates.entries()) {
          if (i > 0) expect(one.start).toBeGreaterThanOrEqual(take.candidates[i - 1]!.end);
          if (one !== own) expect(one.end - one.start).toBeGreaterThanOrEqual(COMMON.minDuration);
          expect(one.score).toBeWithin(0, 1.0001);
        }
      }
    }),
  );
});

test("the last take is kept unless an earlier one is better by 0.3", () => {
  const isLastKept = (loss: number) => takeWorth(0.9 - loss, 1) > takeWorth(0.9, 0);
  expect([isLastKept(0.29), isLastKept(0.31)]).toEqual([true, false]);
});
