/** Scripts that belong to other recordings. */
import { describe, expect, test } from "bun:test";
import { cutRecording, errorCodeOf } from "./cut-recording";
import { createRecording } from "./test-recording";

const SCRIPT =
  "Measure the wall and write down every number.\nDraw a line with a soft pencil.\nThe glue dries in an hour.";

describe("a script of another recording", () => {
  test("is rejected", async () => {
    const recording = createRecording(1, "Heat the oven first.", 0.8, "Then wash the carrots.", 1);
    expect(await errorCodeOf(cutRecording(recording, SCRIPT))).toBe("script_mismatch");
  });

  test("a script that shares half of a short line with the talk by chance is rejected", async () => {
    const talk = [
      "The trams go straight to the left bank.",
      "Nobody waits for long in summer.",
      "Each ride costs two coins.",
    ];
    const more = [
      "Bring a coat along.",
      "Our guide speaks three languages.",
      "Lunch is served on deck.",
      "Cameras are welcome.",
    ];
    const recording = createRecording(1, ...[...talk, ...more].flatMap((line) => [line, 0.8]));
    const script =
      "The keeper went straight to the left.\nA stadium fell silent.\nMinutes later they scored.\nWhat an upset.";
    const forcedAlign: typeof recording.forcedAlign = async (requests) =>
      (await recording.forcedAlign(requests)).map((result) => ({ ...result, meanLogProb: -5, tailLogProb: -9 }));
    expect(await errorCodeOf(cutRecording({ ...recording, forcedAlign }, script))).toBe("script_mismatch");
  });

  test("words in the place of script words do not count as spoken script", async () => {
    const talk = [
      "We need clean water, we need safe streets, and we need honest work.",
      "Some people said costs too much.",
      "Some people said takes too long.",
      "I say we have waited long enough.",
      "Not tomorrow, not next year, but now,",
      "And if he close the bar, we will knock, and we will knock again.",
    ];
    const recording = createRecording(1, ...talk.flatMap((line) => [line, 0.6]));
    const script =
      "The goalkeeper dived to the left. The stadium went silent. Two minutes later they scored again. It was the biggest upset of the season.";
    const forcedAlign: typeof recording.forcedAlign = async (requests) =>
      (await recording.forcedAlign(requests)).map((result) => ({ ...result, meanLogProb: -5.5, tailLogProb: -9 }));
    expect(await errorCodeOf(cutRecording({ ...recording, forcedAlign }, script))).toBe("script_mismatch");
  });

  test.each([
    [3, "none"],
    [4, "script_mismatch"],
  ] as const)("is known by a quarter of the speech, among %p other sentences: %p", async (count, code) => {
    const others = [
      "Trams cross the left bank.",
      "Nobody waits here in summer.",
      "Rides cost two silver coins.",
      "Guides speak several foreign languages.",
    ];
    const line = "Every pigeon knows its roof.";
    const recording = createRecording(1, ...[line, ...others.slice(0, count)].flatMap((text) => [text, 0.8]));
    const script = [
      line,
      "Fold butter into warm dough.",
      "Sugar dissolves while milk boils.",
      "Bake until golden brown crusts.",
      "Whisk egg whites very gently.",
      "Sprinkle cinnamon over sliced apples.",
      "Vanilla smells best when fresh.",
    ].join("\n");
    const forcedAlign: typeof recording.forcedAlign = async (requests) =>
      (await recording.forcedAlign(requests)).map((result) => ({ ...result, meanLogProb: -5, tailLogProb: -9 }));
    expect(await errorCodeOf(cutRecording({ ...recording, forcedAlign }, script))).toBe(code);
  });
});
