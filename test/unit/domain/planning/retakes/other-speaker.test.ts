import { describe, expect, test } from "bun:test";
import { hasOtherSpeaker, isOtherVoice } from "../../../../../src/domain/planning/other-voices";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { Span } from "../../../../../src/domain/time";
import type { VoiceFeatures } from "../../../../../src/domain/voice";
import { planCut } from "../../../../../src/work/cuts/plan-cut";
import { createRecording } from "../../../work/cuts/test-recording";
import { audioPlanInput } from "../plan-input";
import { spoken } from "./spoken";

const voice = (pitch: number, level: number): VoiceFeatures => ({ pitch, level, voiced: 300_000 });

describe("another speaker", () => {
  test.each([
    ["two people at a phone, a greeting", voice(188, -38.7), voice(281, -28.2)],
    ["two people at a phone, an answer", voice(232, -27.5), voice(178, -37.4)],
    ["an agent and a caller", voice(142, -22.7), voice(203, -38.7)],
  ])("recorded: %s", (_, a, b) => {
    expect([isOtherVoice(a, b), isOtherVoice(b, a)]).toEqual([true, true]);
  });

  test.each([
    ["a stutter", voice(239, -16.5), voice(250, -17.6)],
    ["a louder restart", voice(222, -21.8), voice(222, -17.2)],
    ["a restart after a falling phrase", voice(123, -20.3), voice(114, -26.6)],
    ["a quieter restart", voice(143, -21.6), voice(125, -28.9)],
    ["an excited restart", voice(222, -22.1), voice(381, -20.1)],
    ["an octave error", voice(320, -18.5), voice(157, -15.2)],
    ["no voice", null, voice(157, -15.2)],
  ])("recorded: %s of one speaker", (_, a, b) => {
    expect([isOtherVoice(a, b), isOtherVoice(b, a)]).toEqual([false, false]);
  });

  test("a single word is measured with what surrounds it, words are measured alone", () => {
    const tokens = tokenize(spoken("neither did I I thought so"), "en");
    const base = { cost: 0, contradictedByAudio: false, confirmedByAudio: false, alignment: null };
    const spansOf = (from: number, end: number, matched: number): Span[] => {
      const query = hasOtherSpeaker(tokens, { from, end, retakeStart: end, matched, ...base }).next().value;
      if (typeof query !== "object" || query?.kind !== "measure_voice") throw new Error("Expected spans.");
      return query.requests;
    };
    expect(spansOf(2, 3, 1)).toEqual([
      { start: 0, end: 900_000 },
      { start: 900_000, end: 2_000_000 },
    ]);
    expect(spansOf(1, 3, 2)).toEqual([
      { start: 300_000, end: 900_000 },
      { start: 900_000, end: 1_500_000 },
    ]);
  });

  test("words that another speaker repeats stay and are marked", async () => {
    const recording = createRecording(1, "Hello", 0.5, "hello there who is speaking please", 1);
    const plan = (measureVoices: typeof recording.measureVoices) =>
      planCut({ ...audioPlanInput(recording), measureVoices });
    const [first, second] = [recording.findWord("Hello"), recording.findWord("hello")];
    const same = await plan(recording.measureVoices);
    expect(same.removed.some((span) => span.start <= first.start && span.end >= first.end)).toBe(true);
    const other = await plan(async (spans) =>
      spans.map((span) => (span.start < second.start ? voice(190, -38) : voice(280, -28))),
    );
    expect(other.segments[0]).toMatchObject({ text: "Hello", review: "maybe a retake" });
    expect(other.findings.map((one) => one.rule)).toContain("review.other_speaker");
  });
});
