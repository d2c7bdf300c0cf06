import { expect, test } from "bun:test";
import type { ConfirmedTake } from "../../../../../src/domain/planning/scripted/confirm-takes";
import { countWords } from "../../../../../src/domain/planning/scripted/differing-words";
import { exciseDisfluencies } from "../../../../../src/domain/planning/scripted/excise-disfluencies";
import { findPath } from "../../../../../src/domain/planning/scripted/find-path";
import { checkMatches, type LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { matchLines } from "../../../../../src/domain/planning/scripted/match-lines";
import { measureSpeechPace, rescueLines } from "../../../../../src/domain/planning/scripted/rescue-lines";
import { SCRIPT } from "../../../../../src/domain/planning/thresholds";
import { UNRECOGNIZED } from "../../../../../src/domain/planning/tokens";
import type { AlignmentRequest, ForcedAlignment } from "../../../../../src/domain/speech";
import { runWithoutAlignment } from "../run-without-alignment";
import { record, run, runWithAlignments } from "./spoken-recording";

const alignAs = (logProb: number, { window, text }: AlignmentRequest): ForcedAlignment => ({
  words: text.split(" ").map((word) => ({ text: word, ...window, confidence: 0.9, logProb })),
  meanLogProb: logProb,
  tailLogProb: logProb,
});

test("a missing line is aligned with at most the last ten phrases in its place", () => {
  const recording = record("no more / ".repeat(12).slice(0, -3), "The harbor froze early last winter.");
  const starts = new Set<number>();
  runWithAlignments(rescueLines([null], [[]], recording), (request) => {
    starts.add(request.window.start);
    return alignAs(-9, request);
  });
  expect(starts.size).toBe(10);
});

test.each([
  [0.51, 1],
  [0.54, 2],
  [0.86, 2],
  [0.89, 3],
])("voice of %p s without words counts as %p words, of 5 characters of 70 ms", (seconds, expected) => {
  const times = { start: 0, end: seconds * 1e6 };
  const voice = {
    tokens: [{ normal: UNRECOGNIZED, word: 0, ...times }],
    words: [{ text: "", ...times, confidence: 0 }],
  };
  const { atMost } = countWords({ from: 0, to: 1 }, voice, SCRIPT.usualTicksPerCharacter);
  expect(Math.round(atMost)).toBe(expected);
});

test.each([
  [0.05, 1],
  [1.1, 1],
])("a clear word of %p s counts as %p word", (seconds, expected) => {
  const { tokens, words } = record("unfortunately", "");
  const { start } = tokens[0]!;
  const spoken = { tokens: [{ ...tokens[0]!, end: start + seconds * 1e6 }], words };
  const count = countWords({ from: 0, to: 1 }, spoken, SCRIPT.usualTicksPerCharacter);
  expect(count).toEqual({ atLeast: expected, atMost: expected });
});

test("the pace of speech is the same with and without pauses between words", () => {
  const paceOf = (said: string) => {
    const recording = record(said, "Gulls follow boats.");
    const candidate = { line: 0, from: 0, to: 3, accepted: true } as LineCandidate;
    return measureSpeechPace([[candidate]], recording);
  };
  // Three words of 0.3 s have 16 characters.
  expect(paceOf("gulls follow boats")).toBe(900_000 / 16);
  expect(paceOf("gulls / follow / boats")).toBe(900_000 / 16);
});

const HEADING = "how boats sail";

test.each([
  [1, 0],
  [3, 3],
])("of a heading of %p words that is spoken without a pause before it, %p are kept", (count, expected) => {
  const heading = HEADING.split(" ").slice(0, count).join(" ");
  const { tokens, lines } = record(`please wait ${heading}`, heading);
  const options = { repeated: new Uint8Array(tokens.length), bias: () => null };
  const { kept } = runWithoutAlignment(findPath([{ ...lines[0]!, optional: true }], tokens, options));
  expect(kept.reduce((sum, one) => sum + one, 0)).toBe(expected);
});

test.each([
  [0, false],
  [0.01, true],
])("a take that aligns better by %p in a wider stretch is the wider one: %p", (gain, expected) => {
  const recording = record("and then we measure the garden wall / before the rain comes", "Measure the garden wall.");
  const { tokens, lines } = recording;
  const narrow = new Set<number>();
  const align = (request: AlignmentRequest) => {
    const isNarrow = request.window.start > tokens[1]!.end;
    if (isNarrow) narrow.add(request.window.start);
    return alignAs(isNarrow ? -0.5 : -0.5 + gain, request);
  };
  const [row] = runWithAlignments(checkMatches(run(matchLines(lines, tokens)), recording), align);
  expect(row!.map(({ window }) => !narrow.has(window.start))).toEqual([expected]);
});

test("a line may start over after each of the first four pauses in its take", () => {
  const recording = record("we, hang, it, on, a, nail", "We hang it on a nail.");
  const { tokens, activity } = recording;
  const window = { start: tokens[0]!.start, end: tokens.at(-1)!.end };
  const request = { window, text: "we hang it on a nail" };
  const take = {
    ...{ line: 0, from: 0, to: 6, pairs: [0, 1, 2, 3, 4, 5], skipped: [], window, mute: [], score: 1 },
    ...{ alignment: alignAs(-0.5, request), isAligned: true, quality: 1, complete: true, review: null },
  } as unknown as ConfirmedTake;
  const muted: number[] = [];
  runWithAlignments(exciseDisfluencies([take], recording), (asked) => {
    const [span] = asked.mute ?? [];
    if (span && span.start < tokens[0]!.start && span.end > tokens[0]!.end) muted.push(span.end);
    return alignAs(-9, asked);
  });
  const ends = activity.speechRegions.map(({ end }) => muted.some((at) => Math.abs(at - end) < 50_000));
  expect(ends).toEqual([true, true, true, true, false, false]);
});
