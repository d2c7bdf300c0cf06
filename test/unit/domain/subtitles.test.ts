import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { WebVTTParser } from "webvtt-parser";
import type { PlanJson } from "../../../src/domain/plan-json";
import type { Word } from "../../../src/domain/speech";
import { type Cue, createCues, formatSrt, formatVtt } from "../../../src/domain/subtitles";
import { measureColumns } from "../../../src/domain/subtitles/tokens";
import { measureProcessorMs } from "../../processor-time";

const MS = 1_000;
const SECOND = 1_000_000;
const GAP = 80 * MS;

/** Returns words spoken at an even pace, with pauses after punctuation. */
function spoken(text: string, from = 0.1, secondsEach = 0.3): Word[] {
  let at = Math.round(from * SECOND);
  return text.split(" ").map((each) => {
    const start = at;
    const end = start + Math.round(secondsEach * SECOND);
    at = end + (/[.!?]$/.test(each) ? 300 : /,$/.test(each) ? 120 : 20) * MS;
    return { text: each, start, end, confidence: 1 };
  });
}

/** Returns a plan that keeps these seconds. */
function keeping(...parts: [number, number][]): PlanJson {
  const segments = parts.map(([start, end]) => ({
    start,
    end,
    start_frame: null,
    end_frame: null,
    text: "",
    review: null,
  }));
  return {
    source_duration: parts.at(-1)?.[1] ?? 0,
    kept_duration: parts.reduce((sum, [start, end]) => sum + end - start, 0),
    frame_rate: null,
    segments,
    removed: [],
    takes: [],
    missing: [],
    warnings: [],
  };
}

const textOf = (cues: readonly Cue[]) => cues.map((cue) => cue.lines.join("\n"));

describe("cues", () => {
  test("end at sentence and clause ends, with lines that break where a reader would pause", () => {
    const words = spoken(
      "Good morning everyone, and welcome back to the channel. Today we are going to look at how a small team can record, cut and publish a talk in a single afternoon. Mr. Smith said it was impossible.",
    );
    expect(textOf(createCues(words, keeping([0, 60]), "cut"))).toEqual([
      "Good morning everyone,\nand welcome back to the channel.",
      "Today we are going to look\nat how a small team can record,",
      "cut and publish a talk\nin a single afternoon.",
      "Mr. Smith said it was impossible.",
    ]);
  });

  test("do not contain a long pause, and do not stay much longer than their words", () => {
    const words = [...spoken("Before the pause we say this.", 0), ...spoken("And after it we say that.", 20)];
    const cues = createCues(words, keeping([0, 40]), "cut");
    expect(textOf(cues)).toEqual(["Before the pause we say this.", "And after it we say that."]);
    expect(cues[0]!.end).toBeLessThan(3 * SECOND);
    expect(cues[1]!.start).toBe(20 * SECOND);
  });

  test("are separated by 1.5 s of silence, even if one of them is then too short", () => {
    const said = (silence: number) => {
      const words = [...spoken("what I mean is", 0), ...spoken("so", 1.26 + silence)];
      return createCues(words, keeping([0, words[4]!.end / SECOND]), "cut");
    };
    expect(said(1.4)).toHaveLength(1);
    expect(said(1.6)).toHaveLength(2);
  });

  test("are moved to the cut's clock, or stay on the source's", () => {
    const words = [...spoken("One two three.", 10), ...spoken("gone gone gone", 20), ...spoken("Four five six.", 30)];
    const plan = keeping([9.5, 12], [29, 32]);
    const cut = createCues(words, plan, "cut");
    expect(cut.map((cue) => cue.start)).toEqual([0.5 * SECOND, 3.5 * SECOND]);
    const source = createCues(words, plan, "source");
    expect(source.map((cue) => cue.start)).toEqual([10 * SECOND, 30 * SECOND]);
    expect(textOf(source)).toEqual(textOf(cut));
    expect(textOf(cut)).toEqual(["One two three.", "Four five six."]);
  });

  test("omit a word that the plan cuts through, but not one that extends slightly beyond the edge", () => {
    const words = spoken("zero one two three", 0, 0.5);
    const edge = words[2]!.end / SECOND;
    expect(textOf(createCues(words, keeping([0.2, edge - 0.015]), "cut"))).toEqual(["one two"]);
    expect(textOf(createCues(words, keeping([0.2, edge - 0.1]), "cut"))).toEqual(["one"]);
  });

  test("of a short segment between two splices stay within it", () => {
    const words = [...spoken("Yes", 1, 0.3), ...spoken("no more of this", 5)];
    const [first] = createCues(words, keeping([0.9, 1.5], [4.9, 7]), "cut");
    expect(first).toEqual({ start: 0, end: 0.6 * SECOND, lines: ["Yes"] });
  });

  test("are readable in scripts without spaces, and split words wider than a line", () => {
    const word = (text: string, at: number, seconds: number): Word => ({
      text,
      start: at * SECOND,
      end: (at + seconds) * SECOND,
      confidence: 1,
    });
    const japanese = createCues(
      [word("今日は天気がいいですね、だから散歩に行きましょう。", 0, 4), word("そうしましょう。", 4, 2)],
      keeping([0, 8]),
      "cut",
    );
    expect(textOf(japanese)).toEqual(["今日は天気がいいですね、\nだから散歩に行きましょう。", "そうしましょう。"]);
    const long = createCues([word("x".repeat(300), 0, 20)], keeping([0, 21]), "cut");
    expect(long.flatMap((cue) => cue.lines).join("")).toBe("x".repeat(300));
    expect(Math.max(...long.flatMap((cue) => cue.lines.map(measureColumns)))).toBeLessThanOrEqual(42);
    const family = "👨‍👩‍👧‍👦".repeat(60);
    const emoji = createCues([word(family, 0, 20)], keeping([0, 21]), "cut").flatMap((cue) => cue.lines);
    expect(emoji.join("")).toBe(family);
    expect(emoji.every((line) => line.startsWith("👨‍") && line.endsWith("👦"))).toBe(true);
  });

  test("are empty without words", () => {
    expect(createCues([], keeping([0, 5]), "cut")).toEqual([]);
    expect(createCues([{ text: " \n", start: 0, end: SECOND, confidence: 1 }], keeping([0, 5]), "cut")).toEqual([]);
    expect(createCues(spoken("Nothing is kept."), keeping(), "cut")).toEqual([]);
  });
});

const TEXTS = [
  "a",
  "word",
  "sentence.",
  "clause,",
  "and",
  "internationalisation",
  "<i>",
  "x-->y",
  "R&D",
  "日本語。",
  "42",
  "Really?",
];

const talk = fc
  .array(
    fc.record({
      text: fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "grapheme", maxLength: 60 })),
      length: fc.integer({ min: 0, max: 1_200_000 }),
      pause: fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 80_000 }) },
        fc.integer({ min: -50_000, max: 4_000_000 }),
      ),
    }),
    { maxLength: 60 },
  )
  .map((list) => {
    let at = 0;
    return list.map(({ text, length, pause }): Word => {
      const start = Math.max(0, at + pause);
      at = start + length;
      return { text, start, end: at, confidence: 1 };
    });
  });

const parts = fc.array(fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 100, max: 20_000 })), {
  minLength: 1,
  maxLength: 8,
});

/** Checks the rules of readable cues. `parts`: the kept segments on the cues' clock. */
function checkCues(cues: readonly Cue[], parts: readonly (readonly [number, number])[]): void {
  for (const [i, cue] of cues.entries()) {
    const [before, after] = [cues[i - 1], cues[i + 1]];
    expect(cue.lines.length).toBeGreaterThanOrEqual(1);
    expect(cue.lines.length).toBeLessThanOrEqual(2);
    for (const line of cue.lines) {
      expect(measureColumns(line)).toBeLessThanOrEqual(42);
      expect(line.trim()).not.toBe("");
    }
    expect(cue.start % MS).toBe(0);
    expect(cue.end - cue.start).toBeGreaterThanOrEqual(MS);
    expect(cue.end - cue.start).toBeLessThanOrEqual(7 * SECOND);
    if (before) expect(cue.start).toBeGreaterThanOrEqual(before.end);
    const part = parts.find(([start, end]) => cue.start >= start - MS && cue.end <= end + MS);
    expect(part).toBeDefined();
    if (cue.end - cue.start >= SECOND - MS) continue;
    const roomBefore = cue.start - Math.max(part![0], before ? before.end + GAP : 0);
    const roomAfter = Math.min(part![1], after ? after.start - GAP : part![1]) - cue.end;
    expect(Math.max(roomBefore, roomAfter)).toBeLessThanOrEqual(2 * MS);
  }
}

describe("arbitrary words and cuts", () => {
  const squeezed = (text: string) =>
    text.toWellFormed().replace(/[\s\p{Cc}\p{Zl}\p{Zp}\u200b\ufeff\u202a-\u202e\u2066-\u2069]+/gu, "");

  test("cues are in order, without overlap, within their segment, at most two lines of 42 columns, 1 to 7 seconds where there is room, and contain each kept word once", () => {
    fc.assert(
      fc.property(talk, parts, (words, lengths) => {
        let at = 0;
        const plan = keeping(
          ...lengths.map(([gap, length]): [number, number] => {
            const start = at + gap;
            at = start + length;
            return [start / 1000, at / 1000];
          }),
        );
        const source = createCues(words, plan, "source");
        const cut = createCues(words, plan, "cut");
        expect(textOf(cut)).toEqual(textOf(source));
        const bounds = plan.segments.map(({ start, end }) => [start * SECOND, end * SECOND] as const);
        let played = 0;
        const moved = bounds.map(([start, end]) => {
          played += end - start;
          return [played - (end - start), played] as const;
        });
        checkCues(source, bounds);
        checkCues(cut, moved);
        const kept = [...words]
          .sort((a, b) => a.start - b.start || a.end - b.end)
          .filter((word) =>
            bounds.some(
              ([start, end]) => word.start >= start - 20 * MS && word.start < end && word.end <= end + 20 * MS,
            ),
          );
        expect(squeezed(textOf(source).join(""))).toBe(squeezed(kept.map((word) => word.text).join("")));
      }),
      { numRuns: 2000 },
    );
  });

  test("formatted files parse back to the cues", () => {
    const parser = new WebVTTParser();
    fc.assert(
      fc.property(talk, (words) => {
        const cues = createCues(words, keeping([0, 200]), "cut");
        const vtt = parser.parse(formatVtt(cues), "metadata");
        expect(vtt.errors).toEqual([]);
        expect(vtt.cues.map((cue) => [Math.round(cue.startTime * SECOND), Math.round(cue.endTime * SECOND)])).toEqual(
          cues.map((cue) => [cue.start, cue.end]),
        );
        const plain = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
        expect(vtt.cues.map((cue) => plain(cue.text))).toEqual(textOf(cues));
        expect(readSrt(formatSrt(cues))).toEqual(cues);
      }),
      { numRuns: 300 },
    );
  });
});

/** Parses SubRip like a minimal reader: blocks between empty lines. */
function readSrt(file: string): Cue[] {
  if (file === "") return [];
  return file
    .trimEnd()
    .split("\n\n")
    .map((block, i) => {
      const [number, times, ...lines] = block.split("\n");
      expect(number).toBe(String(i + 1));
      const clock = /^(\d\d):(\d\d):(\d\d),(\d{3}) --> (\d\d):(\d\d):(\d\d),(\d{3})$/.exec(times!);
      const [h, m, s, ms, h2, m2, s2, ms2] = clock!.slice(1).map(Number) as number[];
      const ticks = (...[a, b, c, d]: number[]) => (((a! * 60 + b!) * 60 + c!) * 1000 + d!) * MS;
      for (const line of lines) expect(line).not.toMatch(/-->|<[a-z/]|\{\\|&#?\w+;/i);
      return {
        start: ticks(h!, m!, s!, ms!),
        end: ticks(h2!, m2!, s2!, ms2!),
        lines: lines.map((line) => line.replaceAll("\u2060", "")),
      };
    });
}

describe("formats", () => {
  const cues: Cue[] = [
    { start: 0, end: 1_500 * MS, lines: ["<b>not bold</b> & R&amp;D", "a --> b {\\an8}"] },
    { start: 3_600 * SECOND + 61_001 * MS, end: 360_000 * SECOND, lines: ["1 < 2"] },
  ];

  test("WebVTT escapes markup", () => {
    expect(formatVtt(cues)).toBe(
      [
        "WEBVTT",
        "",
        "00:00:00.000 --> 00:00:01.500",
        "&lt;b&gt;not bold&lt;/b&gt; &amp; R&amp;amp;D",
        "a --&gt; b {\\an8}",
        "",
        "01:01:01.001 --> 100:00:00.000",
        "1 &lt; 2",
        "",
      ].join("\n"),
    );
    expect(formatVtt([])).toBe("WEBVTT\n");
  });

  test("SubRip has no escapes: an invisible joiner breaks up tags, entities and time lines", () => {
    expect(formatSrt(cues)).toBe(
      [
        "1",
        "00:00:00,000 --> 00:00:01,500",
        "<\u2060b>not bold<\u2060/b> & R&\u2060amp;D",
        "a --\u2060> b {\u2060\\an8}",
        "",
        "2",
        "01:01:01,001 --> 100:00:00,000",
        "1 < 2",
        "",
      ].join("\n"),
    );
    expect(formatSrt([])).toBe("");
  });
});

test("an hour of speech is divided quickly", async () => {
  const words = spoken(
    Array.from({ length: 10_000 }, (_, i) => (i % 13 === 12 ? "words." : i % 5 === 4 ? "said," : "many")).join(" "),
  );
  const cost = await measureProcessorMs(() => {
    expect(createCues(words, keeping([0, 4000]), "cut").length).toBeGreaterThan(500);
  });
  expect(cost).toBeLessThan(2000);
});
