import { expect, test } from "bun:test";
import fc from "fast-check";
import { keepsTheSame, measureKept, type RemovalReason } from "../../../web/editor/model/plan";
import {
  countReasons,
  limitPauses,
  removeReason,
  restoreReason,
  setPause,
} from "../../../web/editor/model/reason-edits";
import { findContext } from "../../../web/editor/model/review-queue";
import { type FindOptions, findSame, findText, replaceText, type Words } from "../../../web/editor/model/words";
import { recordings } from "./arbitrary-edits";

const reasons = fc.constantFrom<RemovalReason>("silence", "filler", "retake", "off_script", "noise");

test("all removals of a reason are restored, the others stay, and they can be removed again", () => {
  fc.assert(
    fc.property(recordings, reasons, ({ plan }, reason) => {
      const restored = restoreReason(plan, reason);
      const [before, after] = [countReasons(plan), countReasons(restored)];
      expect(after.get(reason)).toBeUndefined();
      for (const [other, { time }] of before)
        if (other !== reason) expect(after.get(other)?.time ?? 0).toBeGreaterThanOrEqual(time);
      expect(keepsTheSame(removeReason(restored, plan, reason), plan)).toBe(true);
    }),
  );
});

test("words that are removed by hand with the pauses around them count once", () => {
  const removed = (start: number, reason: RemovalReason) =>
    ({ start, end: start + 1, isKept: false, reason, rule: null, confidence: null }) as const;
  const kept = (start: number) => ({ start, end: start + 1, isKept: true, review: null }) as const;
  const spans = [
    ...[kept(0), removed(1, "manual"), removed(2, "silence"), removed(3, "manual"), kept(4)],
    ...[removed(5, "silence"), removed(6, "manual"), kept(7), removed(8, "silence"), kept(9)],
  ];
  expect(countReasons({ duration: 10, spans })).toEqual(
    new Map([
      ["manual", { count: 2, time: 3 }],
      ["silence", { count: 3, time: 3 }],
    ]),
  );
});

test("only pauses that are longer than the limit are removed", () => {
  fc.assert(
    fc.property(recordings, fc.integer({ min: 1, max: 3_000_000 }), ({ plan }, limit) => {
      const pauses = (spans = plan.spans) =>
        spans.filter((span) => !span.isKept && span.reason === "silence").map(({ start, end }) => end - start);
      const limited = limitPauses(plan, plan, limit);
      expect(pauses(limited.spans)).toEqual(pauses().filter((length) => length >= limit));
      // Raising the limit by mistake can be undone completely.
      expect(keepsTheSame(limitPauses(limited, plan, 1), plan)).toBe(true);
    }),
  );
});

test("the context of a range has a second of kept audio on both sides where there is one", () => {
  fc.assert(
    fc.property(recordings, fc.double({ min: 0, max: 1, noNaN: true }), ({ plan }, share) => {
      const at = Math.floor(share * (plan.duration - 1));
      const { start, end } = findContext(plan, { start: at, end: at + 1 });
      const measure = (from: number, to: number) => {
        let kept = 0;
        for (const span of plan.spans)
          if (span.isKept) kept += Math.max(0, Math.min(to, span.end) - Math.max(from, span.start));
        return kept;
      };
      expect(measure(start, at)).toBe(Math.min(1_000_000, measure(0, at)));
      expect(measure(at + 1, end)).toBe(Math.min(1_000_000, measure(at + 1, plan.duration)));
    }),
  );
});

test("a pause is as long as it is set", () => {
  const duration = 10e6;
  const plan = { duration, spans: [{ start: 0, end: duration, isKept: true as const, review: null }] };
  const pause = { start: 4e6, end: 6e6 };
  for (const kept of [0, 0.4e6, 1e6, 2e6, 3e6])
    expect(measureKept(setPause(plan, pause, kept), pause)).toBe(Math.min(2e6, kept));
});

const say = (text: string): Words => {
  const words = text.split(" ");
  return { text: words, start: words.map((_, n) => n * 1e6), end: words.map((_, n) => n * 1e6 + 5e5) };
};

test("the same words are found whatever their case and punctuation, and only whole ones", () => {
  const words = say("Janus met Jan. Then janus, and Janus's dog");
  expect(findSame(words, { from: 0, to: 1 })).toEqual([
    { from: 0, to: 1 },
    { from: 4, to: 5 },
  ]);
  expect(findText(words, "jan")).toHaveLength(1);
  expect(findText(words, "jan", { matchesCase: false, isWhole: false })).toHaveLength(4);
});

test("a whole word that is a mark is found as it is", () => {
  const marks = say("well — no … - yes-");
  expect(findText(marks, "-")).toEqual([{ from: 4, to: 5 }]);
  expect(findText(marks, "no … -")).toEqual([{ from: 2, to: 5 }]);
  expect(findText(say("İyi"), "iyi")).toHaveLength(1);
});

test.each<[text: string, searched: string, replacement: string, expected: string, options?: Partial<FindOptions>]>([
  ["Known,", "know", "see", "seen,"],
  ["you, know", "you know", "we see", "we see"],
  ["Um", "um", "", ""],
  ["It/it's", "it", "that", "It/that's", { matchesCase: true }],
  ["It/it's", "it", "that", "that/that's"],
  ["start art", "art", "music", "start music", { isWhole: true }],
  ["start “Art”, art!", "art", "music", "start “music”, music!", { isWhole: true }],
  ["start art", "art", "music", "stmusic music"],
  ["also so we", "so we", "they", "also they"],
  ["well - known -", "-", "to", "well to known to", { isWhole: true }],
  ["İyi", "yi", "x", "İx"],
])("in %s, %s is replaced by %s: %s", (text, searched, replacement, expected, options = {}) => {
  expect(replaceText(text, searched, replacement, { matchesCase: false, isWhole: false, ...options })).toBe(expected);
});
