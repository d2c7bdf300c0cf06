import { describe, expect, test } from "bun:test";
import { brotliCompressSync, crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { decodeBasis, encodeBasis, type StoredBasis } from "../../../../src/domain/pacing/stored-basis";
import { ValueReader, ValueWriter } from "../../../../src/domain/pacing/value-coder";
import { CUT_MODES } from "../../../../src/domain/plan";
import { type PlanJson, planToJson } from "../../../../src/domain/plan-json";
import { assembleBasis, toPacingOptions } from "../../../../src/domain/planning/basis";
import type { Finding } from "../../../../src/domain/planning/rules";
import type { DecidedSpan } from "../../../../src/domain/planning/spans";
import { packBasis, packTexts, unpackBasis, unpackTexts } from "../../../../src/work/cuts/stored-basis";

const HOP = 5_000;
const LINES = ["First of all, measure the wall.", "Then cut the boards.", "Sand the edges."];

/** Returns a repeatable sequence of integers below a bound. */
function createDice(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Returns a talk of random phrases: most are kept, others are retakes, fillers or away from the script. */
function createTalk(phrases: number, hasScript: boolean): { basis: StoredBasis; json: PlanJson } {
  const dice = createDice(phrases);
  const spans: DecidedSpan[] = [];
  let time = 200 * HOP;
  for (let i = 0; i < phrases; i++) {
    const start = time + HOP * (20 + dice(150));
    const isFiller = dice(12) === 0;
    const end = start + HOP * (isFiller ? 30 + dice(60) : 80 + dice(500));
    time = end;
    const text = isFiller ? "Um." : Array.from({ length: 1 + dice(9) }, () => "word".slice(dice(4))).join(" ");
    const finding = isFiller
      ? toFiller({ start, end })
      : dice(6) === 0
        ? toTake({ start, end }, dice, hasScript)
        : null;
    const reason = isFiller ? "filler" : finding && "retake";
    spans.push({ start, end, text, reason, findings: finding ? [finding] : [] });
  }
  const basis = { spans, wordPauses: [], edgeMargin: 7_559, texts: [] };
  const duration = time + 200 * HOP;
  const assembled = assembleBasis({ ...basis, frames: null }, duration, toPacingOptions(CUT_MODES.natural));
  const takes = hasScript ? LINES.map((line) => ({ line, chosen: 0, candidates: [] })) : [];
  const rest = { frameRate: null, takes, missing: [], warnings: [], language: "en" };
  return { basis, json: planToJson({ sourceDuration: duration, ...assembled, ...rest }) };
}

const toFiller = (span: { start: number; end: number }): Finding => ({
  ...span,
  rule: "filler.written",
  scores: { duration: span.end - span.start, pause: 200_000 },
});

const toTake = (
  { start, end }: { start: number; end: number },
  dice: (n: number) => number,
  hasScript: boolean,
): Finding =>
  hasScript
    ? {
        start,
        end: end - HOP * dice(10),
        rule: "retake.last_good_take",
        scores: { line: LINES[dice(3)]!, quality: dice(1001) / 1000, keptQuality: 1, keptAt: end + HOP * dice(900) },
      }
    : {
        start,
        end,
        rule: "false_start.prefix",
        scores: {
          repeatedAt: end + HOP * 60,
          pause: HOP * 60,
          words: 3,
          similarity: 0.912,
          alignment: -dice(2400) / 1000,
        },
      };

describe("the stored form of a basis", () => {
  test.each([
    [8, false],
    [8, true],
    [40, false],
    [40, true],
    [300, true],
    [3000, false],
  ])("of %d phrases takes at most 5%% of the plan, and is read as it was (script: %p)", (phrases, hasScript) => {
    const { basis, json } = createTalk(phrases, hasScript);
    const packed = packBasis(basis, json);
    expect(unpackBasis(packed, json)).toEqual(basis);
    const share = Buffer.from(packed, "base64").length / Buffer.byteLength(JSON.stringify(json));
    expect(share).toBeLessThan(0.05);
    expect(share).toBeGreaterThan(0.005);
  });

  const { basis, json } = createTalk(8, true);
  const differs: Finding = {
    ...{ start: basis.spans[0]!.start, end: basis.spans[0]!.end },
    rule: "review.differs_from_script",
    scores: { line: LINES[1]!, similarity: 0.871, alignment: null },
  };
  const edited: StoredBasis = {
    ...basis,
    spans: [{ ...basis.spans[0]!, findings: [differs] }, ...basis.spans.slice(1)],
    wordPauses: [{ start: 3 * HOP, end: 17_001 }],
    texts: [{ start: 1.25, end: 2.000001, text: "Grüße, „Ana“ 👋" }],
    pacing: { ...toPacingOptions(CUT_MODES.tight), padding_after_seconds: 1 / 3, remove_off_script: false },
  };

  test("has the texts and the pacing of edits, and words that the plan does not have", () => {
    const other = { ...json, segments: json.segments.map((segment) => ({ ...segment, text: "other" })), takes: [] };
    for (const plan of [json, other]) expect(unpackBasis(packBasis(edited, plan), plan)).toEqual(edited);
  });

  test("keeps its form, because it is in the databases of others", () => {
    expect(packBasis(edited, json)).toBe(
      "AnpZ2RPHv1uAuYX3zb9++tUxdvbtoK7//zZmnEXnw38mMyH6i+QO8KLUj4LTYexj6c7JAWc2lheauDmzzNtx2gbXFthoHTG4s2Wvqt8zbMTddbyz0oBmRpG8+tO+1TuWwYQZ3CFvR6elybzL5EUJ",
    );
  });

  test("of an earlier release is read", () => {
    const plan = {
      ...json,
      removed: [],
      segments: json.segments.slice(0, 1).map((one) => ({ ...one, text: "so we go" })),
    };
    const span = { start: 1_140_000, end: 2_040_000 };
    const rows = [
      [1_140_000, 900_000, 1, 3, [0, 5_000, 0]],
      [60_000, 40_000, -1, "um", []],
    ];
    const older = {
      version: 1,
      margin: 7,
      texts: [],
      rules: [["filler.written", { duration: 9, pause: 4 }]],
      spans: rows,
    };
    const packed = brotliCompressSync(JSON.stringify(older)).toString("base64");
    expect(unpackBasis(packed, plan)).toEqual({
      edgeMargin: 7,
      texts: [],
      wordPauses: [],
      spans: [
        {
          ...span,
          text: "so we go",
          reason: "filler",
          findings: [{ ...span, start: 1_145_000, rule: "filler.written", scores: { duration: 9, pause: 4 } }],
        },
        { start: 2_100_000, end: 2_140_000, text: "um", reason: null, findings: [] },
      ],
    });
  });

  test("that is damaged or cut off anywhere is null", () => {
    const bytes = Buffer.from(packBasis(edited, json), "base64");
    for (let i = 0; i < bytes.length; i++) {
      const damaged = Buffer.from(bytes);
      damaged[i]! ^= 1 << (i % 8);
      expect(unpackBasis(damaged.toString("base64"), json)).toBeNull();
      expect(unpackBasis(bytes.subarray(0, i).toString("base64"), json)).toBeNull();
    }
  });

  test("has null for the texts when those of a cut by hand are damaged, cut off or of another shape", () => {
    const packed = packTexts(edited.texts)!;
    expect(unpackTexts(packed, json)).toEqual(edited.texts);
    const bytes = Buffer.from(packed, "base64");
    for (let i = 0; i < bytes.length; i++) {
      const damaged = Buffer.from(bytes);
      damaged[i]! ^= 1 << (i % 8);
      expect(unpackTexts(damaged.toString("base64"), json)).toBeNull();
      expect(unpackTexts(bytes.subarray(0, i).toString("base64"), json)).toBeNull();
    }
    for (const other of [{}, null, "text", [null], [{ start: 1, end: 2 }], [{ start: "1", end: 2, text: "a" }]]) {
      const body = deflateRawSync(JSON.stringify(other));
      const sum = Buffer.alloc(2);
      sum.writeUInt16BE(crc32(body) & 0xffff);
      expect(unpackTexts(Buffer.concat([Buffer.of(3), sum, body]).toString("base64"), json)).toBeNull();
    }
  });

  test.each([Number.POSITIVE_INFINITY, Number.NaN])("with a margin of %d is null", (edgeMargin) => {
    expect(unpackBasis(packBasis({ ...basis, edgeMargin }, json), json)).toBeNull();
  });

  test("is refused when its lists have too many items together", () => {
    const writer = new ValueWriter();
    writer.number("margin", [HOP], 0);
    writer.count("spans", 150_000);
    writer.symbol("reason0", 3, 0);
    for (const name of ["span0.gap", "span0.duration"]) writer.number(name, [HOP], 0);
    writer.flag("text0.next", true);
    writer.unsigned("text0", 0);
    writer.count("findings0", 150_000);
    expect(() => decodeBasis(writer.finish(), json)).toThrow("Coded lists are too long.");
  });

  test("is null when its texts are too long together", () => {
    const [span] = basis.spans;
    const [segment] = json.segments;
    const words = Array.from({ length: 2 }, () => "x".repeat(1024 ** 2 - 1));
    const plan = { ...json, removed: [], segments: words.map((text) => ({ ...segment!, text })) };
    const spans = words.map((text) => ({ ...span!, text }));
    for (const [length, isRead] of [
      [2, true],
      [3, false],
    ] as const) {
      const packed = packBasis({ ...basis, spans, texts: [{ start: 0, end: 1, text: "y".repeat(length) }] }, plan);
      expect(unpackBasis(packed, plan) !== null).toBe(isRead);
    }
  });

  test("has no score that is not finite", () => {
    const spans = [
      { ...basis.spans[0]!, findings: [{ ...differs, scores: { ...differs.scores, alignment: -Infinity } }] },
    ];
    expect(unpackBasis(packBasis({ ...basis, spans }, json), json)?.spans[0]?.findings).toEqual([differs]);
    const writer = new ValueWriter();
    writer.number("score", [HOP], Number.NaN);
    expect(() => new ValueReader(writer.finish()).number("score", [HOP], 0)).toThrow(RangeError);
  });

  test("of random bytes is an error or a basis with valid times", () => {
    const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      let read: StoredBasis;
      try {
        read = decodeBasis(bytes, json);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        return;
      }
      for (const { start, end } of read.spans) expect(end).toBeGreaterThanOrEqual(start);
      expect(decodeBasis(encodeBasis(read, json), json)).toEqual(read);
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

test("numbers, flags and texts are read as they were written", () => {
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const property = fc.property(fc.array(fc.tuple(number, fc.boolean(), fc.string({ unit: "grapheme" }))), (values) => {
    const writer = new ValueWriter();
    for (const [value, flag, text] of values) {
      writer.number("number", [HOP, 1, 1 / 1000], value);
      writer.flag("flag", flag);
      writer.text("text", text);
    }
    const reader = new ValueReader(writer.finish());
    for (const [value, flag, text] of values) {
      // There is one zero.
      expect(reader.number("number", [HOP, 1, 1 / 1000], 0)).toBe(value + 0);
      expect(reader.flag("flag", false)).toBe(flag);
      expect(reader.text("text", "")).toBe(text);
    }
  });
  fc.assert(property);
});
