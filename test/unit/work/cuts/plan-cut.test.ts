import { describe, expect, test } from "bun:test";
import type { Plan } from "../../../../src/domain/plan";
import { fromSeconds, type Span, toSeconds } from "../../../../src/domain/time";
import { cutRecording, errorCodeOf } from "./cut-recording";
import { createRecording, type Moment } from "./test-recording";

const joinTexts = (plan: Plan) => plan.segments.map((segment) => segment.text).join(" | ");
const listRemovedRules = (plan: Plan) =>
  plan.removed.filter((span) => span.reason !== "silence").map((span) => span.rule);
const isKept = (plan: Plan, span: Span) =>
  plan.segments.some((segment) => segment.start <= span.start && span.end <= segment.end);
describe("without a script", () => {
  test("long pauses are cut down to the padding, short ones stay whole", async () => {
    const recording = createRecording(
      1,
      "Here is one sentence.",
      0.4,
      "Here follows another.",
      2,
      "And that was all.",
      1,
    );
    const plan = await cutRecording(recording);
    expect(joinTexts(plan)).toBe("Here is one sentence. Here follows another. | And that was all.");
    const last = recording.findWord("another.").end;
    const next = recording.findWord("And").start;
    expect(plan.segments[0]!.end - last).toBe(fromSeconds(0.18));
    expect(next - plan.segments[1]!.start).toBe(fromSeconds(0.12));
    expect(plan.removed.map((span) => span.reason)).toEqual(["silence", "silence", "silence"]);
    expect(plan.removed.map((span) => span.rule)).toEqual(["pause.leading", "pause.long", "pause.trailing"]);
  });

  const cases: { name: string; moments: Moment[]; kept: string; rules: string[] }[] = [
    {
      name: "a false start is removed",
      moments: [1, "Place the microphone", 0.7, "Place the microphone below your chin.", 1],
      kept: "Place the microphone below your chin.",
      rules: ["false_start.prefix"],
    },
    {
      name: "the last of two whole takes stays",
      moments: [1, "We open at nine every day.", 0.9, "We open at nine every day.", 1],
      kept: "We open at nine every day.",
      rules: ["retake.repeated_line"],
    },
    {
      name: "several false starts in a row are removed",
      moments: [1, "Turn the key", 0.5, "Turn the key to the", 0.6, "Turn the key to the left side.", 1],
      kept: "Turn the key to the left side.",
      rules: ["false_start.prefix", "false_start.prefix"],
    },
    {
      name: "a remark between two takes is removed with the first",
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
      rules: ["retake.after_remark", "remark.between_takes"],
    },
    {
      name: "a stutter is removed",
      moments: [1, "Then the", 0.15, "the lamp was lit again.", 1],
      kept: "Then | the lamp was lit again.",
      rules: ["stutter.word"],
    },
    {
      name: "isolated fillers are removed",
      moments: [1, "Before you begin,", 0.3, "um,", 0.35, "read the whole page.", 1],
      kept: "Before you begin, | read the whole page.",
      rules: ["filler.written"],
    },
    {
      name: "a filler that was not transcribed is removed",
      moments: [1, "Before you begin,", 0.3, { hum: 0.35 }, 0.35, "read the whole page.", 1],
      kept: "Before you begin, | read the whole page.",
      rules: ["filler.unwritten"],
    },
    {
      name: "sentences that only start alike stay",
      moments: [1, "Press the button to start.", 0.8, "Press the button to stop.", 1],
      kept: "Press the button to start. | Press the button to stop.",
      rules: [],
    },
    {
      name: "a repeated opening stays",
      moments: [1, "Some people say it costs a lot.", 0.8, "Some people say it takes too long.", 1],
      kept: "Some people say it costs a lot. | Some people say it takes too long.",
      rules: [],
    },
    {
      name: "words said twice for emphasis stay",
      moments: [1, "It was very very cold, no no doubt.", 1],
      kept: "It was very very cold, no no doubt.",
      rules: [],
    },
    {
      name: "a word that contains a filler stays",
      moments: [1, "Her", 0.3, "umbrella", 0.3, "was red.", 1],
      kept: "Her umbrella was red.",
      rules: [],
    },
    {
      name: "a click in a pause is removed with the pause",
      moments: [1, "One thing is certain.", 1.5, { click: 0.04 }, 1.5, "It will rain.", 1],
      kept: "One thing is certain. | It will rain.",
      rules: [],
    },
    {
      name: "a knock in a pause is removed",
      moments: [1, "One thing is certain.", 1.5, { click: 0.12 }, 1.5, "It will rain.", 1],
      kept: "One thing is certain. | It will rain.",
      rules: ["noise.outside_speech"],
    },
  ];
  test.each(cases)("$name", async ({ moments, kept, rules }) => {
    const plan = await cutRecording(createRecording(...moments));
    expect(joinTexts(plan)).toBe(kept);
    expect(listRemovedRules(plan)).toEqual(rules as never[]);
  });

  test("fillers and retakes stay when the options keep them", async () => {
    const recording = createRecording(1, "Turn the key", 0.6, "Turn the key", 0.3, "um,", 0.3, "to the left.", 1);
    const plan = await cutRecording(recording, "", { remove_fillers: false, remove_retakes: false });
    for (const word of recording.analysis.transcript!.words) expect(isKept(plan, word)).toBe(true);
  });

  test("unrecognized speech stays and is marked", async () => {
    const plan = await cutRecording(createRecording(1, "This is clear.", 1, { hum: 2 }, 1, "So is this.", 1));
    expect(plan.segments.map((segment) => segment.review)).toEqual([null, "unclear speech", null]);
  });

  test.each([
    [0.78, true],
    [0.82, false],
  ])("noise that is %p of all sound is removed: %p", async (share, expected) => {
    const said = "Measure the wall with a ruler.";
    const seconds = createRecording(said).analysis.duration / 1e6;
    const noise = { click: (seconds * share) / (1 - share) };
    const plan = await cutRecording(createRecording(1, said, 1, noise, 1));
    expect(plan.removed.some(({ reason }) => reason === "noise")).toBe(expected);
  });

  test("voice with almost no words is kept, with a warning", async () => {
    const recording = createRecording(1, { hum: 8 }, 2, { click: 0.9 }, 2, { hum: 7 }, 1.5, "Thank you.", 1);
    const plan = await cutRecording(recording);
    expect(plan.warnings).toEqual(["Recording is mostly music or noise: only pauses were removed."]);
    expect(plan.removed.every((span) => span.reason === "silence")).toBe(true);
    expect(plan.language).toBeNull();
    expect(plan.keptDuration).toBeGreaterThan(fromSeconds(15));
  });

  test("without a transcript the cut is made from voice activity", async () => {
    const recording = createRecording(1, "Bonjour tout le monde.", 2, "Au revoir.", 1);
    recording.analysis.transcript = null;
    const plan = await cutRecording(recording);
    expect(plan.segments).toHaveLength(2);
    expect(plan.warnings).toHaveLength(1);
    expect(recording.requests).toEqual([]);
  });
});

describe("with a script", () => {
  const SCRIPT = "The library opens at nine.\nYou can borrow ten books at once.\nChildren have a room of their own.";
  const [ONE, TWO, THREE] = SCRIPT.split("\n") as [string, string, string];

  test("only the script stays, and of each line the last whole take", async () => {
    const plan = await cutRecording(
      createRecording(
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
    expect(joinTexts(plan)).toBe([ONE, TWO, THREE].join(" | "));
    expect(listRemovedRules(plan)).toEqual([
      "off_script.no_line",
      "retake.last_good_take",
      "retake.last_good_take",
      "off_script.no_line",
    ]);
    expect(plan.missing).toEqual([]);
    const take = plan.takes[1]!;
    expect(take.line).toBe(TWO);
    expect(take.candidates.filter((candidate) => candidate.complete)).toHaveLength(2);
    expect(take.chosen).toBe(take.candidates.length - 1);
  });

  test("a line that is never spoken is missing", async () => {
    const plan = await cutRecording(createRecording(1, ONE, 0.8, THREE, 1), SCRIPT);
    expect(plan.missing).toEqual([TWO]);
    expect(plan.takes.map((take) => take.line)).toEqual([ONE, THREE]);
  });

  test("an earlier whole take wins over a later one that breaks off", async () => {
    const plan = await cutRecording(
      createRecording(1, ONE, 0.8, TWO, 0.9, "You can borrow ten", 0.8, THREE, 1),
      SCRIPT,
    );
    expect(joinTexts(plan)).toBe([ONE, TWO, THREE].join(" | "));
  });

  test("lines recorded out of order stay where they are, with a warning", async () => {
    const plan = await cutRecording(createRecording(1, TWO, 0.9, THREE, 0.9, ONE, 1), SCRIPT);
    expect(joinTexts(plan)).toBe([TWO, THREE, ONE].join(" | "));
    expect(plan.warnings.join()).toContain(ONE);
    expect(plan.missing).toEqual([]);
  });

  test("a paraphrase stays when there is no other take, and is marked", async () => {
    const other = "Ten books at a time you can borrow here.";
    const plan = await cutRecording(createRecording(1, ONE, 0.9, other, 0.9, THREE, 1), SCRIPT);
    expect(joinTexts(plan)).toBe([ONE, other, THREE].join(" | "));
    expect(plan.segments[1]!.review).toBe("differs from the script");
    expect(plan.missing).toEqual([]);
  });

  test("fillers inside a line are removed", async () => {
    const plan = await cutRecording(
      createRecording(1, ONE, 0.9, "You can borrow", 0.3, { hum: 0.3 }, 0.3, "ten books at once.", 0.9, THREE, 1),
      SCRIPT,
    );
    expect(listRemovedRules(plan)).toEqual(["filler.within_line"]);
    expect(joinTexts(plan)).toContain("You can borrow | ten books at once.");
  });

  test("a start of a line that the transcript does not show is found by audio", async () => {
    const recording = createRecording(1, ONE, 0.9, { hum: 0.8 }, 0.25, TWO, 0.9, THREE, 1);
    const plan = await cutRecording(recording, SCRIPT);
    expect(joinTexts(plan)).toBe([ONE, TWO, THREE].join(" | "));
  });

  test("digits in the script match spoken numbers", async () => {
    const plan = await cutRecording(
      createRecording(1, "We sold twenty four bikes.", 0.9, "That is fifty percent more.", 1),
      "- We sold 24 bikes.\n- That is 50% more.",
    );
    expect(plan.missing).toEqual([]);
    expect(plan.segments).toHaveLength(2);
  });

  test("unspoken parts of a table in a script are not missing", async () => {
    const table = `Video\tAudio\nWide shot of the hall\t${ONE}\nHands on a shelf\t${TWO}\nThe door, from outside\t${THREE}`;
    const plan = await cutRecording(createRecording(1, ONE, 0.8, TWO, 0.8, THREE, 1), table);
    expect(joinTexts(plan)).toBe([ONE, TWO, THREE].join(" | "));
    expect(plan.missing).toEqual([]);
    expect(plan.takes.map((take) => take.line)).toEqual([ONE, TWO, THREE]);
  });

  test.each([
    [
      "other words of the same talk",
      (n: number) => `We close at ${n} in the evening, and bring the key number ${n + 7}.`,
    ],
    ["the same line again and again", () => "Place the microphone below the chin of a guest."],
  ])("a script of thousands of lines, %s, is aligned with a bounded amount of audio", async (_, line) => {
    const said = ["Place the microphone below your chin.", 0.8, "We open at nine in the morning.", 0.8] as const;
    const recording = createRecording(1, ...said, ...said, ...said);
    await errorCodeOf(cutRecording(recording, Array.from({ length: 2_000 }, (_, n) => line(n)).join("\n")));
    const seconds = recording.requests.reduce((sum, { window }) => sum + toSeconds(window.end - window.start), 0);
    expect(seconds).toBeGreaterThan(10);
    // The budget applies twice, to lines that are found and to those that are not: ten minutes, and eight times the
    // recording.
    expect(seconds).toBeLessThan(2 * (600 + 8 * toSeconds(recording.analysis.duration)) + 60);
  });

  test("a script without a transcript is rejected", async () => {
    const recording = createRecording(1, ONE, 1);
    recording.analysis.transcript = null;
    expect(await errorCodeOf(cutRecording(recording, SCRIPT))).toBe("transcription_unavailable");
  });

  test("a script without words counts as none", async () => {
    const plan = await cutRecording(createRecording(1, ONE, 1), " \n---\n[music]\n");
    expect(joinTexts(plan)).toBe(ONE);
    expect(plan.takes).toEqual([]);
  });
});

test("a recording without speech has nothing to cut", async () => {
  expect(await errorCodeOf(cutRecording(createRecording(2)))).toBe("no_speech");
});

test("a recognizer without forced alignment plans by the text alone", async () => {
  const recording = createRecording(1, "The library opens at nine.", 0.9, "You can borrow ten books at once.", 1);
  const plan = await cutRecording(
    {
      ...recording,
      forcedAlign: async (requests) =>
        requests.map(() => ({ words: [], meanLogProb: Number.NaN, tailLogProb: Number.NaN })),
    },
    "The library opens at nine.\nYou can borrow ten books at once.",
  );
  expect(plan.segments).toHaveLength(2);
  expect(plan.missing).toEqual([]);
});
