import { describe, expect, test } from "bun:test";
import { groupParagraphs } from "../../../../../src/domain/planning/retakes/takes-by-line";
import { planCut } from "../../../../../src/work/cuts/plan-cut";
import { createRecording, type TestRecording } from "../../../work/cuts/test-recording";
import { audioPlanInput } from "../plan-input";

const range = (from: number, to: number) => ({ from, to });

describe("paragraphs", () => {
  test("lines that were spoken together twice are chosen together", () => {
    const lines = [
      { last: range(10, 15), earlier: [range(0, 5)] },
      { last: range(15, 20), earlier: [range(5, 10)] },
    ];
    expect(groupParagraphs(lines)).toEqual([
      {
        lines: [0, 1],
        attempts: [
          [0, 0],
          [1, 1],
        ],
      },
    ]);
  });

  test("a line that is started over inside an attempt counts with its last take there", () => {
    const lines = [
      { last: range(13, 18), earlier: [range(0, 5)] },
      { last: range(18, 23), earlier: [range(5, 8), range(8, 13)] },
    ];
    expect(groupParagraphs(lines)).toEqual([
      {
        lines: [0, 1],
        attempts: [
          [0, 1],
          [1, 2],
        ],
      },
    ]);
  });

  test("a line of which only the retake follows the line before is chosen alone", () => {
    const lines = [
      { last: range(5, 10), earlier: [range(0, 5)] },
      { last: range(15, 20), earlier: [range(10, 15)] },
    ];
    expect(groupParagraphs(lines).map((paragraph) => paragraph.lines)).toEqual([[0], [1]]);
  });
});

describe("attempts at a paragraph", () => {
  const [FIRST, SECOND] = ["We open at nine every day.", "The museum is in the old mill."];
  const plan = (recording: TestRecording) => planCut(audioPlanInput(recording));
  /** Makes the recognizer unsure of the n-th occurrence of the words of a text. */
  const blur = (recording: TestRecording, text: string, nth: number) => {
    for (const word of text.split(" ")) {
      const found = recording.analysis.transcript!.words.filter((one) => one.text === word)[nth]!;
      found.confidence = 0.05;
    }
  };

  test("a bad line in the last attempt moves the whole paragraph to the first one", async () => {
    const recording = createRecording(1, `${FIRST} ${SECOND}`, 0.9, `${FIRST} ${SECOND}`, 1);
    blur(recording, FIRST, 1);
    blur(recording, SECOND, 1);
    expect((await plan(recording)).takes.map((take) => take.chosen)).toEqual([0, 0]);
  });

  test("a good paragraph is not assembled from two attempts for one weak line", async () => {
    const recording = createRecording(1, `${FIRST} ${SECOND}`, 0.9, `${FIRST} ${SECOND}`, 1);
    blur(recording, "We open at nine", 1);
    const { takes, findings } = await plan(recording);
    expect(new Set(takes.map((take) => take.chosen)).size).toBe(1);
    expect(findings.map((one) => one.rule)).not.toContain("review.assembled_takes");
  });

  test("a line that is said again and continued joins two attempts, which is marked", async () => {
    const recording = createRecording(1, `${FIRST} ${SECOND}`, 0.9, `${SECOND} Come and see us soon.`, 1);
    const { segments, findings } = await plan(recording);
    expect(findings.filter((one) => one.rule === "review.assembled_takes")).toHaveLength(1);
    expect(segments.map((one) => one.review)).toContain("joins two attempts");
  });

  test("lines with pauses between them are attempts of their own", async () => {
    const recording = createRecording(1, FIRST, 0.9, SECOND, 0.9, SECOND, 0.9, "Come and see us soon.", 1);
    expect((await plan(recording)).findings.map((one) => one.rule)).not.toContain("review.assembled_takes");
  });
});
