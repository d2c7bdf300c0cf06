import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import type { ProbedMedia } from "../../../src/domain/media";
import { CUT_MODES, type CutOptions, type Plan } from "../../../src/domain/plan";
import { fromSeconds, type Span, toSeconds } from "../../../src/domain/time";
import { planCut } from "../../../src/work/plan-cut";
import { type Moment, recording, type World } from "./plan-cut-world";

const audio = (duration: number): ProbedMedia => ({
  info: { type: "audio", demuxer: "wav", duration, startPts: 0, video: null, audio: [], timecode: null },
  frames: null,
});

const cut = (world: World, script = "", options: Partial<CutOptions> = {}): Promise<Plan> =>
  planCut({
    analysis: world.listening,
    probed: audio(world.listening.duration),
    script,
    options: { ...CUT_MODES.natural, ...options },
    forcedAlign: world.force,
    language: "en",
  });

const texts = (plan: Plan) => plan.segments.map((segment) => segment.text).join(" | ");
const removed = (plan: Plan) => plan.removed.filter((span) => span.reason !== "silence").map((span) => span.reason);
const holds = (plan: Plan, span: Span) =>
  plan.segments.some((segment) => segment.start <= span.start && span.end <= segment.end);
const code = async (plan: Promise<Plan>) =>
  plan.then(
    () => "none",
    (error: unknown) => (error instanceof AppError ? error.code : "other"),
  );

describe("without a script", () => {
  test("long pauses are removed except the padding, short ones are kept", async () => {
    const world = recording(1, "Here is one sentence.", 0.4, "Here follows another.", 2, "And that was all.", 1);
    const plan = await cut(world);
    expect(texts(plan)).toBe("Here is one sentence. Here follows another. | And that was all.");
    const last = world.when("another.").end;
    const next = world.when("And").start;
    expect(plan.segments[0]!.end - last).toBe(fromSeconds(0.18));
    expect(next - plan.segments[1]!.start).toBe(fromSeconds(0.12));
    expect(plan.removed.map((span) => span.reason)).toEqual(["silence", "silence", "silence"]);
  });

  const cases: { name: string; moments: Moment[]; kept: string; gone: string[] }[] = [
    {
      name: "a false start goes",
      moments: [1, "Place the microphone", 0.7, "Place the microphone below your chin.", 1],
      kept: "Place the microphone below your chin.",
      gone: ["retake"],
    },
    {
      name: "of two whole takes the last stays",
      moments: [1, "We open at nine every day.", 0.9, "We open at nine every day.", 1],
      kept: "We open at nine every day.",
      gone: ["retake"],
    },
    {
      name: "several attempts in a row all go",
      moments: [1, "Turn the key", 0.5, "Turn the key to the", 0.6, "Turn the key to the left side.", 1],
      kept: "Turn the key to the left side.",
      gone: ["retake", "retake"],
    },
    {
      name: "talk between two takes goes with the first",
      moments: [
        1,
        "The train leaves at noon today.",
        0.8,
        "Sorry, one more time.",
        0.8,
        "The train leaves at noon today.",
        1,
      ],
      kept: "The train leaves at noon today.",
      gone: ["retake", "off_script"],
    },
    {
      name: "a stutter goes",
      moments: [1, "Then the", 0.15, "the lamp was lit again.", 1],
      kept: "Then | the lamp was lit again.",
      gone: ["retake"],
    },
    {
      name: "isolated hesitations go",
      moments: [1, "Before you begin,", 0.3, "um,", 0.35, "read the whole page.", 1],
      kept: "Before you begin, | read the whole page.",
      gone: ["filler"],
    },
    {
      name: "a hesitation that was not transcribed goes",
      moments: [1, "Before you begin,", 0.3, { hum: 0.35 }, 0.35, "read the whole page.", 1],
      kept: "Before you begin, | read the whole page.",
      gone: ["filler"],
    },
    {
      name: "sentences that only begin alike stay",
      moments: [1, "Press the button to start.", 0.8, "Press the button to stop.", 1],
      kept: "Press the button to start. | Press the button to stop.",
      gone: [],
    },
    {
      name: "a repeated opening stays",
      moments: [1, "Some people say it costs a lot.", 0.8, "Some people say it takes too long.", 1],
      kept: "Some people say it costs a lot. | Some people say it takes too long.",
      gone: [],
    },
    {
      name: "words said twice for emphasis stay",
      moments: [1, "It was very very cold, no no doubt.", 1],
      kept: "It was very very cold, no no doubt.",
      gone: [],
    },
    {
      name: "a word that contains a hesitation stays",
      moments: [1, "Her", 0.3, "umbrella", 0.3, "was red.", 1],
      kept: "Her umbrella was red.",
      gone: [],
    },
    {
      name: "a click in a pause goes",
      moments: [1, "One thing is certain.", 1.5, { click: 0.04 }, 1.5, "It will rain.", 1],
      kept: "One thing is certain. | It will rain.",
      gone: ["noise"],
    },
  ];
  test.each(cases)("$name", async ({ moments, kept, gone }) => {
    const plan = await cut(recording(...moments));
    expect(texts(plan)).toBe(kept);
    expect(removed(plan)).toEqual(gone as never[]);
  });

  test("what is turned off is not removed", async () => {
    const world = recording(1, "Turn the key", 0.6, "Turn the key", 0.3, "um,", 0.3, "to the left.", 1);
    const plan = await cut(world, "", { remove_fillers: false, remove_retakes: false });
    for (const word of world.listening.transcript!.words) expect(holds(plan, word)).toBe(true);
  });

  test("speech without a transcript is kept and marked for review", async () => {
    const plan = await cut(recording(1, "This is clear.", 1, { hum: 2 }, 1, "So is this.", 1));
    expect(plan.segments.map((segment) => segment.review)).toEqual([null, "speech that was not understood", null]);
  });

  test("without a transcript the cut is planned from voice activity", async () => {
    const world = recording(1, "Bonjour tout le monde.", 2, "Au revoir.", 1);
    world.listening.transcript = null;
    const plan = await cut(world);
    expect(plan.segments).toHaveLength(2);
    expect(plan.warnings).toHaveLength(1);
    expect(world.asked).toEqual([]);
  });
});

describe("with a script", () => {
  const SCRIPT = "The library opens at nine.\nYou can borrow ten books at once.\nChildren have a room of their own.";
  const [ONE, TWO, THREE] = SCRIPT.split("\n") as [string, string, string];

  test("only the script is kept, with the last complete take of each line", async () => {
    const plan = await cut(
      recording(
        1,
        "Is this thing on?",
        0.8,
        ONE,
        0.7,
        "You can borrow",
        0.6,
        TWO,
        0.9,
        TWO,
        0.7,
        "Good, next.",
        0.8,
        THREE,
        1,
      ),
      SCRIPT,
    );
    expect(texts(plan)).toBe([ONE, TWO, THREE].join(" | "));
    expect(removed(plan)).toEqual(["off_script", "retake", "retake", "off_script"]);
    expect(plan.missing).toEqual([]);
    const take = plan.takes[1]!;
    expect(take.line).toBe(TWO);
    expect(take.candidates.filter((candidate) => candidate.complete)).toHaveLength(2);
    expect(take.chosen).toBe(take.candidates.length - 1);
  });

  test("a line that is never spoken is reported as missing", async () => {
    const plan = await cut(recording(1, ONE, 0.8, THREE, 1), SCRIPT);
    expect(plan.missing).toEqual([TWO]);
    expect(plan.takes.map((take) => take.line)).toEqual([ONE, THREE]);
  });

  test("an earlier complete take wins over a later one that breaks off", async () => {
    const plan = await cut(recording(1, ONE, 0.8, TWO, 0.9, "You can borrow ten", 0.8, THREE, 1), SCRIPT);
    expect(texts(plan)).toBe([ONE, TWO, THREE].join(" | "));
  });

  test("lines recorded out of order keep their place, with a warning", async () => {
    const plan = await cut(recording(1, TWO, 0.9, THREE, 0.9, ONE, 1), SCRIPT);
    expect(texts(plan)).toBe([TWO, THREE, ONE].join(" | "));
    expect(plan.warnings.join()).toContain(ONE);
    expect(plan.missing).toEqual([]);
  });

  test("a paraphrase is kept when a line has no other take, and marked for review", async () => {
    const other = "Ten books at a time you can borrow here.";
    const plan = await cut(recording(1, ONE, 0.9, other, 0.9, THREE, 1), SCRIPT);
    expect(texts(plan)).toBe([ONE, other, THREE].join(" | "));
    expect(plan.segments[1]!.review).toBe("differs from the script");
    expect(plan.missing).toEqual([]);
  });

  test("fillers inside a line are removed", async () => {
    const plan = await cut(
      recording(1, ONE, 0.9, "You can borrow", 0.3, { hum: 0.3 }, 0.3, "ten books at once.", 0.9, THREE, 1),
      SCRIPT,
    );
    expect(removed(plan)).toEqual(["filler"]);
    expect(texts(plan)).toContain("You can borrow | ten books at once.");
  });

  test("a start that is missing from the transcript is found by alignment", async () => {
    const world = recording(1, ONE, 0.9, { hum: 0.8 }, 0.25, TWO, 0.9, THREE, 1);
    const plan = await cut(world, SCRIPT);
    expect(texts(plan)).toBe([ONE, TWO, THREE].join(" | "));
  });

  test("digits in the script match spoken numbers", async () => {
    const plan = await cut(
      recording(1, "We sold twenty four bikes.", 0.9, "That is fifty percent more.", 1),
      "- We sold 24 bikes.\n- That is 50% more.",
    );
    expect(plan.missing).toEqual([]);
    expect(plan.segments).toHaveLength(2);
  });

  test("a script of another recording is refused", async () => {
    const world = recording(1, "Heat the oven first.", 0.8, "Then wash the carrots.", 1);
    expect(await code(cut(world, SCRIPT))).toBe("script_mismatch");
  });

  test.each([
    [
      "other words of the same talk",
      (n: number) => `We close at ${n} in the evening, and bring the key number ${n + 7}.`,
    ],
    ["the same line again and again", () => "Place the microphone below the chin of a guest."],
  ])("a script of thousands of lines, %s, is aligned with a bounded amount of audio", async (_, line) => {
    const said = ["Place the microphone below your chin.", 0.8, "We open at nine in the morning.", 0.8] as const;
    const world = recording(1, ...said, ...said, ...said);
    await code(cut(world, Array.from({ length: 2_000 }, (_, n) => line(n)).join("\n")));
    const seconds = world.asked.reduce((sum, { window }) => sum + toSeconds(window.end - window.start), 0);
    expect(seconds).toBeGreaterThan(10);
    // Twice, for lines that are found and for those that are not: ten minutes, and eight times the recording.
    expect(seconds).toBeLessThan(2 * (600 + 8 * toSeconds(world.listening.duration)) + 60);
  });

  test("a script without a transcript is refused", async () => {
    const world = recording(1, ONE, 1);
    world.listening.transcript = null;
    expect(await code(cut(world, SCRIPT))).toBe("transcription_unavailable");
  });

  test("a script of punctuation only counts as no script", async () => {
    const plan = await cut(recording(1, ONE, 1), " \n---\n[music]\n");
    expect(texts(plan)).toBe(ONE);
    expect(plan.takes).toEqual([]);
  });
});

test("a recording without speech is refused", async () => {
  expect(await code(cut(recording(2)))).toBe("no_speech");
});

test("without forced alignment the plan relies on the text alone", async () => {
  const world = recording(1, "The library opens at nine.", 0.9, "You can borrow ten books at once.", 1);
  const plan = await cut(
    {
      ...world,
      force: async (requests) => requests.map(() => ({ words: [], meanLogProb: Number.NaN, tailLogProb: Number.NaN })),
    },
    "The library opens at nine.\nYou can borrow ten books at once.",
  );
  expect(plan.segments).toHaveLength(2);
  expect(plan.missing).toEqual([]);
});
