/** Times and lines of text that are shown during playback. */
import { expect, test } from "bun:test";
import { findCaption, listCaptions } from "../../../web/editor/model/captions";
import { removeRange } from "../../../web/editor/model/plan";
import { createClock, readTime, toTimecode } from "../../../web/editor/model/timecodes";

const NTSC = { num: 30_000, den: 1001 };
test.each([
  ["the first frame of a recording", { num: 25, den: 1 }, "10:00:00:00", 0, "10:00:00:00"],
  ["a rounded time", { num: 25, den: 1 }, null, 1_039_999, "00:00:01:01"],
  ["drop-frame timecode", NTSC, "00:00:59;28", 66_734, "00:01:00;02"],
  ["a recording without video", null, null, 61_500_000, "00:01:01:12"],
])("timecode: %s", (_, rate, start, time, expected) => {
  expect(toTimecode(createClock(rate, start), time, true)).toBe(expected);
});

test.each([
  ["1:30", 90e6],
  ["90", 90e6],
  ["1.5", 1.5e6],
  ["+5", 15e6],
  ["-2,5", 7.5e6],
  ["10:00:01:05", 1.2e6],
  ["1:2:3:4:5", null],
  ["soon", null],
  ["00:61:00:00", null],
  ["00:00:00:25", null],
  ["00:61:00", 3660e6],
  ["0:75", 75e6],
  ["+0:0:0:30", 11.2e6],
  ["-0:0:2:75", 5e6],
  ["", null],
])("a typed time %s", (text, time) => {
  expect(readTime(createClock({ num: 25, den: 1 }, "10:00:00:00"), text, 10e6, true)).toBe(time);
});

test("captions have kept words only, and end with a sentence or at a pause", () => {
  const text = "This is the first sentence of all. Um, and then there was a pause and another".split(" ");
  const start = text.map((_, index) => index * 400_000 + (index > 12 ? 2e6 : 0));
  const words = { text, start, end: start.map((time) => time + 300_000) };
  const plan = removeRange(
    { duration: 20e6, spans: [{ start: 0, end: 20e6, isKept: true, review: null }] },
    { start: start[7]!, end: start[8]! },
    { reason: "filler", rule: null, confidence: null },
  );
  const captions = listCaptions(plan, words, text);
  expect(captions.map((one) => one.text)).toEqual([
    "This is the first sentence of all.",
    "and then there was a",
    "pause and another",
  ]);
  expect(findCaption(captions, 9)?.text).toBe("and then there was a");
  expect(findCaption(captions, 7)).toBeNull();
  expect(findCaption([], 0)).toBeNull();
});
