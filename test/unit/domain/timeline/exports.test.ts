import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EXPORT_FORMATS, type ExportFormat, exportTimeline } from "../../../../src/domain/timeline";
import { READERS, type ReadClip, type ReadTimeline } from "./readers";
import {
  constantFrames,
  mediaInfo,
  planOf,
  RATES,
  STRANGE_NAMES,
  type Stretch,
  startFrames,
  stretches,
  timecode,
} from "./sources";

const ROOT = "/Users/Ann Öz/Foot & age";

/** Returns the expected content of a timeline, derived from the stretches alone. */
function expected(list: readonly Stretch[], layout: "tight" | "review"): ReadClip[] {
  const out: ReadClip[] = [];
  let source = 0;
  let record = 0;
  for (const { keep, frames } of list) {
    if (keep || layout === "review") {
      out.push({ record, source, length: frames, enabled: keep });
      record += frames;
    }
    source += frames;
  }
  return out;
}

const total = (list: readonly Stretch[]) => list.reduce((sum, { frames }) => sum + frames, 0);

function read(format: ExportFormat, body: string, rate: { num: number; den: number }, start: number): ReadTimeline {
  const timeline = READERS[format](body, rate);
  if (format !== "edl") return timeline;
  const tracks = timeline.tracks.map((clips) => clips.map((clip) => ({ ...clip, source: clip.source - start })));
  return { ...timeline, tracks };
}

describe("every format parses back to the frames of the plan", () => {
  for (const [name, rate] of Object.entries(RATES))
    test(`at ${name} frames per second`, () => {
      fc.assert(
        fc.property(
          stretches,
          timecode(rate),
          fc.constantFrom(0, 1, 2, 6),
          fc.constantFrom("tight" as const, "review" as const),
          fc.constantFrom(...STRANGE_NAMES),
          fc.boolean(),
          (list, label, channels, layout, file, hasRoot) => {
            const count = total(list);
            const frames = constantFrames(rate, count);
            const info = mediaInfo({ rate, channels, timecode: label, seconds: (count * rate.den) / rate.num });
            const start = startFrames(label, rate);
            for (const format of EXPORT_FORMATS) {
              const result = exportTimeline(
                { plan: planOf(list, frames), info, frames, name: file },
                { format, layout, mediaRoot: hasRoot ? ROOT : null, frameRate: null, dropFrame: null },
              );
              if (!result.ok) throw new Error(result.reason);
              const timeline = read(format, result.body, rate, start);
              expect(timeline.tracks).toEqual([expected(list, layout)]);
              for (const track of timeline.audioTracks ?? []) expect(track).toEqual(expected(list, layout));
              if (timeline.mediaLength !== null) expect(timeline.mediaLength).toBe(count);
              if (timeline.start !== null) expect(timeline.start).toBe(start);
              expect(timeline.name.replace(/^'=/, "=")).toBe(file);
              if (hasRoot && /xml|otio|json/.test(format))
                expect(decodeURIComponent(new URL(timeline.url).pathname)).toBe(`${ROOT}/${file}`);
              if (hasRoot && /mlt|edl/.test(format)) expect(timeline.url).toBe(`${ROOT}/${file}`);
            }
          },
        ),
        { numRuns: 80 },
      );
    });

  test("for audio only, whose edges never clip a word", () => {
    const rate = { num: 30, den: 1 };
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 100_000, max: 4_000_000 }), { minLength: 2, maxLength: 20 }),
        fc.constantFrom("tight" as const, "review" as const),
        (lengths, layout) => {
          const edges = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b) / 1e6);
          const parts = edges.slice(1).map((end, i) => ({ start: edges[i]!, end }));
          const plan = {
            ...planOf([], constantFrames(rate, 1)),
            frame_rate: null,
            source_duration: edges.at(-1)!,
            segments: parts
              .filter((_, i) => i % 2 === 0)
              .map((part) => ({ ...part, start_frame: null, end_frame: null, text: "", review: null })),
            removed: [{ start: 0, end: edges[0]! }, ...parts.filter((_, i) => i % 2 === 1)].map((part) => ({
              ...part,
              reason: "silence" as const,
              rule: null,
              text: "",
            })),
          };
          const info = mediaInfo({ rate: null, channels: 1, timecode: null, seconds: plan.source_duration });
          const results = EXPORT_FORMATS.filter((format) => format !== "edl").map((format) => {
            const options = { format, layout, mediaRoot: null, frameRate: null, dropFrame: null };
            const result = exportTimeline({ plan, info, frames: null, name: "voice & co.wav" }, options);
            if (!result.ok) throw new Error(result.reason);
            return READERS[format](result.body, rate).tracks;
          });
          for (const tracks of results) expect(tracks).toEqual(results[0]!);
          const kept = results[0]![0]!.filter((clip) => clip.enabled);
          expect(kept).toHaveLength(plan.segments.length);
          let record = 0;
          for (const [i, clip] of results[0]![0]!.entries()) {
            expect(clip.record).toBe(record);
            record += clip.length;
            const before = results[0]![0]![i - 1];
            if (before) expect(clip.source).toBeGreaterThanOrEqual(before.source + before.length);
          }
          for (const [i, clip] of kept.entries()) {
            const { start, end } = plan.segments[i]!;
            expect(clip.source / 30).toBeLessThanOrEqual(start + 1 / 30 + 1e-9);
            if (i === 0) expect(clip.source / 30).toBeLessThanOrEqual(start + 1e-9);
            const fileEnd = Math.floor(plan.source_duration * 30 + 1e-6) / 30;
            expect((clip.source + clip.length) / 30).toBeGreaterThanOrEqual(Math.min(end, fileEnd) - 1e-9);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("with 2,100 segments, for which an EDL has three lists in one file", () => {
    const rate = RATES["29.97"]!;
    const list = Array.from({ length: 4200 }, (_, i) => ({ keep: i % 2 === 0, frames: 1 + ((i * 7) % 40) }));
    const frames = constantFrames(rate, total(list));
    const info = mediaInfo({ rate, channels: 2, timecode: "10:00:00;00", seconds: 3000 });
    for (const format of EXPORT_FORMATS) {
      const result = exportTimeline(
        { plan: planOf(list, frames), info, frames, name: "long.mp4" },
        { format, layout: "tight", mediaRoot: null, frameRate: null, dropFrame: null },
      );
      if (!result.ok) throw new Error(result.reason);
      const timeline = read(format, result.body, rate, startFrames("10:00:00;00", rate));
      expect(timeline.tracks[0]).toEqual(expected(list, "tight"));
      if (format === "edl") {
        expect(result.body.match(/^TITLE: .*$/gm)!.map((line) => line.trim())).toEqual([
          "TITLE: long (1 of 3)",
          "TITLE: long (2 of 3)",
          "TITLE: long (3 of 3)",
        ]);
        expect(result.body.match(/^999 /gm)).toHaveLength(2);
      }
    }
  });

  test("with a variable frame rate, by the time of each frame, with a warning", () => {
    const rate = { num: 30, den: 1 };
    const times = new Float64Array(300);
    for (let n = 1; n < 300; n++) times[n] = times[n - 1]! + (n % 7 === 0 ? 66_667 : n % 3 === 0 ? 25_000 : 33_333);
    const frames = { kind: "listed" as const, rate: { num: 29_900, den: 1000 }, times, end: times[299]! + 33_333 };
    const list = [
      { keep: false, frames: 13 },
      { keep: true, frames: 50 },
      { keep: false, frames: 100 },
      { keep: true, frames: 137 },
    ];
    const info = mediaInfo({ rate: frames.rate, channels: 2, timecode: null, seconds: frames.end / 1e6 });
    for (const format of EXPORT_FORMATS) {
      const result = exportTimeline(
        { plan: planOf(list, frames), info, frames, name: "phone.mp4" },
        { format, layout: "tight", mediaRoot: null, frameRate: rate, dropFrame: null },
      );
      if (!result.ok) throw new Error(result.reason);
      expect(result.warnings.join()).toContain("variable frame rate");
      const at = (n: number) => Math.round((times[n]! * 30) / 1e6);
      const [a, b, c] = [at(13), at(63), at(163)];
      const whole = Math.floor((frames.end * 30) / 1e6);
      expect(READERS[format](result.body, rate).tracks[0]).toEqual([
        { record: 0, source: a, length: b - a, enabled: true },
        { record: b - a, source: c, length: whole - c, enabled: true },
      ]);
    }
  });
});

describe("file names and unsupported exports", () => {
  const rate = RATES["25"]!;
  const frames = constantFrames(rate, 100);
  const plan = planOf([{ keep: true, frames: 100 }], frames);
  const info = mediaInfo({ rate, channels: 2, timecode: null, seconds: 4 });
  const options = { layout: "tight" as const, mediaRoot: null, frameRate: null, dropFrame: null };
  const video = { plan, info, frames, name: "talk.mp4" };

  test("the file is named after the source and the layout", () => {
    const names = EXPORT_FORMATS.map((format) => {
      const result = exportTimeline(video, { ...options, format });
      return result.ok && result.filename;
    });
    expect(names).toEqual([
      "talk.cut.fcpxml",
      "talk.cut.xml",
      "talk.cut.edl",
      "talk.cut.otio",
      "talk.cut.mlt",
      "talk.cut.csv",
      "talk.cut.json",
    ]);
    const odd = exportTimeline(
      { ...video, name: '../a"b\r\nc: d.mp4' },
      { ...options, format: "edl", layout: "review" },
    );
    expect(odd.ok && odd.filename).toBe("__a_b__c_ d.review.edl");
  });

  test("an EDL of audio, or above 60 frames per second, is rejected with a reason", () => {
    const audio = mediaInfo({ rate: null, channels: 2, timecode: null, seconds: 4 });
    expect(exportTimeline({ ...video, info: audio, frames: null }, { ...options, format: "edl" })).toEqual({
      ok: false,
      reason: "An EDL requires video, but this recording has only audio.",
    });
    const fast = { num: 120, den: 1 };
    const quick = {
      plan,
      info: mediaInfo({ rate: fast, channels: 2, timecode: null, seconds: 1 }),
      frames: constantFrames(fast, 100),
      name: "fast.mp4",
    };
    expect(exportTimeline(quick, { ...options, format: "edl" }).ok).toBe(false);
    expect(exportTimeline(quick, { ...options, format: "otio" }).ok).toBe(true);
    expect(exportTimeline(quick, { ...options, format: "edl", frameRate: { num: 60, den: 1 } }).ok).toBe(true);
  });

  test("drop-frame timecode is rejected at rates without it, and accepted at others", () => {
    for (const [name, each] of Object.entries(RATES)) {
      const result = exportTimeline(
        {
          ...video,
          info: mediaInfo({ rate: each, channels: 2, timecode: null, seconds: 4 }),
          frames: constantFrames(each, 100),
        },
        { ...options, format: "edl", dropFrame: true },
      );
      expect(result.ok).toBe(name === "29.97" || name === "59.94");
      if (result.ok) expect(result.body).toContain("FCM: DROP FRAME");
    }
  });

  test("a rate that no editing program supports is rejected", () => {
    const odd = exportTimeline(video, { ...options, format: "otio", frameRate: { num: 25, den: 2 } });
    expect(odd.ok).toBe(false);
  });

  test("a plan without segments has a review timeline, but no tight one", () => {
    const nothing = planOf([{ keep: false, frames: 100 }], frames);
    for (const format of EXPORT_FORMATS) {
      expect(exportTimeline({ ...video, plan: nothing }, { ...options, format }).ok).toBe(false);
      expect(exportTimeline({ ...video, plan: nothing }, { ...options, format, layout: "review" }).ok).toBe(true);
    }
  });
});
