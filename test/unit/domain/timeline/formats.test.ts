import { describe, expect, test } from "bun:test";
import type { PlanJson } from "../../../../src/domain/plan-json";
import { EXPORT_FORMATS, type ExportFormat, type ExportOptions, exportTimeline } from "../../../../src/domain/timeline";
import { READERS, readTable } from "./readers";
import { constantFrames, mediaInfo, planOf, RATES } from "./sources";
import { all, at, descendants, one, readXml } from "./xml-reader";

const RATE = RATES["25"]!;
const COUNT = 400;
const FRAMES = constantFrames(RATE, COUNT);
const seconds = (frame: number) => frame / 25;
const candidate = (from: number, to: number, complete = true) => ({
  start: seconds(from),
  end: seconds(to),
  score: 0.9,
  complete,
});

/** Silence, a retake, the kept take, a pause with a noise in it, a second kept segment. */
const PLAN: PlanJson = {
  ...planOf(
    [
      { keep: false, frames: 10 },
      { keep: false, frames: 90 },
      { keep: true, frames: 100 },
      { keep: false, frames: 20 },
      { keep: false, frames: 30 },
      { keep: true, frames: 140 },
      { keep: false, frames: 10 },
    ],
    FRAMES,
  ),
  takes: [
    {
      line: "Hello & <welcome>.",
      chosen: 2,
      candidates: [candidate(10, 60, false), candidate(60, 100), candidate(100, 200)],
    },
    { line: "Goodbye.", chosen: 0, candidates: [candidate(350, 390), candidate(0, 100)] },
  ],
};
PLAN.segments[0]!.review = "is this | the right take?\nReally";
PLAN.segments[1]!.review = null;

function exported(
  format: ExportFormat,
  options: Partial<ExportOptions> = {},
  source: Partial<Parameters<typeof exportTimeline>[0]> = {},
) {
  const info = mediaInfo({ rate: RATE, channels: 2, timecode: "01:00:00:00", seconds: seconds(COUNT) });
  const result = exportTimeline(
    { plan: PLAN, info, frames: FRAMES, name: "talk.mp4", ...source },
    { format, layout: "review", mediaRoot: null, frameRate: null, dropFrame: null, ...options },
  );
  if (!result.ok) throw new Error(result.reason);
  return result;
}

const MAIN = [
  { record: 0, source: 0, length: 10, enabled: false },
  { record: 10, source: 10, length: 90, enabled: false },
  { record: 100, source: 100, length: 100, enabled: true },
  { record: 200, source: 200, length: 20, enabled: false },
  { record: 220, source: 220, length: 30, enabled: false },
  { record: 250, source: 250, length: 140, enabled: true },
  { record: 390, source: 390, length: 10, enabled: false },
];

describe("the review layout", () => {
  test("is the whole recording with removed spans disabled and alternate takes above the chosen ones", () => {
    for (const format of EXPORT_FORMATS) {
      const { tracks } = READERS[format](exported(format).body, RATE);
      if (format === "edl") {
        expect(tracks).toEqual([MAIN.map((clip) => ({ ...clip, source: clip.source + 90_000 }))]);
        continue;
      }
      expect(tracks).toEqual([
        MAIN,
        [
          { record: 100, source: 10, length: 50, enabled: false },
          { record: 300, source: 0, length: 100, enabled: false },
        ],
        [{ record: 100, source: 60, length: 40, enabled: false }],
      ]);
    }
  });

  test("has a marker with the reasons at each join, and one for each remark", () => {
    const note = "Check: is this | the right take? Really";
    const join = "Removed 2.0 s: off script, noise";
    const sequence = at(readXml(exported("fcpxml").body), "library", "event", "project", "sequence");
    const markers = descendants(sequence).filter((node) => node.name === "marker");
    expect(markers.map(({ attributes }) => [attributes.start, attributes.value, attributes.completed])).toEqual([
      ["90100/25s", note, "0"],
      ["90200/25s", join, undefined],
    ]);
    const premiere = all(one(readXml(exported("fcp7xml").body), "sequence"), "marker");
    expect(premiere.map((marker) => [one(marker, "in").text, one(marker, "comment").text])).toEqual([
      ["100", note],
      ["200", join],
    ]);
    const { tracks } = JSON.parse(exported("otio").body) as {
      tracks: {
        markers: { name: string; marked_range: { start_time: { value: number }; duration: { value: number } } }[];
      };
    };
    expect(
      tracks.markers.map((marker) => [
        marker.marked_range.start_time.value,
        marker.marked_range.duration.value,
        marker.name,
      ]),
    ).toEqual([
      [100, 100, note],
      [200, 50, join],
    ]);
    const edl = exported("edl").body;
    expect(edl).toContain(`* LOC: 01:00:08:00 RED ${join}\r\n |C:ResolveColorRed |M:${join} |D:50\r\n`);
    expect(edl).toContain(" |C:ResolveColorYellow |M:Check: is this / the right take? Really |D:100\r\n");
    expect(exported("mlt").body).toContain(`<property name="text">${join}</property>`);
  });

  test("the tight layout has no removed spans, no alternate takes, and no markers at joins", () => {
    for (const format of EXPORT_FORMATS) {
      const { body } = exported(format, { layout: "tight" });
      expect(READERS[format](body, RATE).tracks).toHaveLength(1);
      expect(READERS[format](body, RATE).tracks[0]!.every((clip) => clip.enabled)).toBe(true);
      if (format !== "json") expect(body).not.toContain("Removed 2.0 s");
    }
  });
});

describe("the source side", () => {
  test("is shifted by the start timecode only", () => {
    const info = mediaInfo({ rate: RATE, channels: 2, timecode: null, seconds: seconds(COUNT) });
    const edl = exported("edl", { layout: "tight" }).body.split("\r\n");
    expect(edl[3]).toBe("001  AX       AA/V  C        01:00:04:00 01:00:08:00 01:00:00:00 01:00:04:00");
    const without = exported("edl", { layout: "tight" }, { info }).body.split("\r\n");
    expect(without[3]).toBe("001  AX       AA/V  C        00:00:04:00 00:00:08:00 01:00:00:00 01:00:04:00");
  });

  test("drop-frame timecode of the source is kept and makes a drop-frame timeline", () => {
    const rate = RATES["29.97"]!;
    const frames = constantFrames(rate, COUNT);
    const plan = planOf([{ keep: true, frames: COUNT }], frames);
    const source = { plan, frames, info: mediaInfo({ rate, channels: 1, timecode: "00:01:00;02", seconds: 14 }) };
    const lines = (dropFrame: boolean | null) =>
      exported("edl", { layout: "tight", dropFrame }, source).body.split("\r\n");
    expect(lines(null).slice(1, 4)).toEqual([
      "FCM: DROP FRAME",
      "",
      "001  AX       B     C        00:01:00;02 00:01:13;12 01:00:00;00 01:00:13;10",
    ]);
    expect(lines(false)[3]).toBe("001  AX       B     C        00:01:00;02 00:01:13;12 01:00:00:00 01:00:13:10");
  });

  test("a timecode that is invalid at the rate is ignored with a warning", () => {
    const info = mediaInfo({ rate: RATE, channels: 2, timecode: "01:00:00:29", seconds: seconds(COUNT) });
    const { warnings, body } = exported("json", {}, { info });
    expect(warnings.join()).toContain("start timecode");
    expect(JSON.parse(body).timeline.media.start_frame).toBe(0);
  });

  test("on a timeline with another rate the file keeps its own, and no clip extends beyond it", () => {
    const { body, warnings } = exported("fcpxml", { frameRate: RATES["29.97"]! });
    expect(warnings).toHaveLength(1);
    const root = readXml(body);
    const asset = at(root, "resources", "asset");
    expect(asset.attributes).toMatchObject({ format: "r3", start: "90000/25s", duration: "400/25s" });
    const value = (time: string) => {
      const [, num, den] = /^(\d+)(?:\/(\d+))?s$/.exec(time)!;
      return Number(num) / Number(den ?? 1);
    };
    for (const clip of descendants(at(root, "library", "event")).filter((node) => node.name === "asset-clip")) {
      const end = value(clip.attributes.start!) + value(clip.attributes.duration!);
      expect(end).toBeLessThanOrEqual(3600 + 16 + 1e-9);
      expect(one(clip, "conform-rate").attributes).toEqual({ scaleEnabled: "0", srcFrameRate: "25" });
    }
  });

  test("mono has one audio track, stereo two; a document without video still has a format", () => {
    const tracks = (channels: number, rate: typeof RATE | null) => {
      const info = mediaInfo({ rate, channels, timecode: null, seconds: seconds(COUNT) });
      const media = at(
        readXml(exported("fcp7xml", { layout: "tight" }, { info, frames: rate && FRAMES }).body),
        "sequence",
        "media",
      );
      one(one(media, "video"), "format");
      return [all(one(media, "video"), "track").length, all(one(media, "audio"), "track").length];
    };
    expect(tracks(1, RATE)).toEqual([1, 1]);
    expect(tracks(2, RATE)).toEqual([1, 2]);
    expect(tracks(0, RATE)).toEqual([1, 0]);
    expect(tracks(2, null)).toEqual([0, 2]);
    const audio = mediaInfo({ rate: null, channels: 1, timecode: null, seconds: seconds(COUNT) });
    const root = readXml(exported("fcpxml", {}, { info: audio, frames: null }).body);
    expect(at(root, "resources", "asset").attributes).not.toContainAnyKeys(["hasVideo", "videoSources", "format"]);
    expect(at(root, "library", "event", "project", "sequence").attributes).toMatchObject({
      format: "r1",
      audioLayout: "stereo",
    });
  });

  test("video and audio of a clip are linked", () => {
    const items = descendants(readXml(exported("fcp7xml", { layout: "tight" }).body)).filter(
      (node) => node.name === "clipitem",
    );
    expect(items.map((item) => all(item, "link").map((link) => one(link, "linkclipref").text))).toEqual(
      items.map((_, i) => [
        `clipitem-v1-${(i % 2) + 1}`,
        `clipitem-a1.1-${(i % 2) + 1}`,
        `clipitem-a1.2-${(i % 2) + 1}`,
      ]),
    );
    const { tracks } = JSON.parse(exported("otio").body);
    const links = tracks.children.map(
      (track: { children: { metadata: { PremierePro_OTIO?: { LinkID: number } } }[] }) =>
        track.children.flatMap((clip) => clip.metadata.PremierePro_OTIO?.LinkID ?? []),
    );
    expect(links.slice(0, 3)).toEqual(links.slice(3));
    expect(new Set(links.slice(0, 3).flat()).size).toBe(10);
  });

  test("omitted audio tracks and late video are warnings", () => {
    const info = mediaInfo({ rate: RATE, channels: 2, timecode: null, seconds: 20 });
    const two = { ...info, audio: [info.audio[0]!, { ...info.audio[0]!, index: 1 }] };
    const late = { ...FRAMES, first: 500_000 } as typeof FRAMES;
    expect(exported("csv", {}, { info: two, frames: late }).warnings).toEqual([
      "Video starts 0.50 s after audio: check the sync.",
      "Only the first of the source's 2 audio tracks is on the timeline.",
    ]);
  });
});

describe("user text", () => {
  const nasty = "a\u0000b\u001b[31m\r\n999  AX  &amp; <x> ]]> \ud800 --> \u202egnp.exe";

  test("is escaped in every format", () => {
    const plan = structuredClone(PLAN);
    for (const segment of plan.segments) Object.assign(segment, { text: nasty, review: nasty });
    for (const removed of plan.removed) removed.text = nasty;
    for (const take of plan.takes) take.line = nasty;
    for (const format of EXPORT_FORMATS) {
      const { body } = exported(format, { mediaRoot: `/x/${nasty}` }, { plan, name: `${nasty}.mp4` });
      const { tracks } = READERS[format](body, RATE);
      expect(tracks[0]).toHaveLength(MAIN.length);
      expect(body.isWellFormed()).toBe(true);
    }
  });

  test("is not a formula in a spreadsheet", () => {
    const plan = structuredClone(PLAN);
    plan.segments[0]!.text = '=HYPERLINK("http://x")';
    plan.segments[1]!.text = "-1+1";
    const rows = readTable(exported("csv", { layout: "tight" }, { plan, name: "@a,b.mp4" }).body);
    expect(rows.map((row) => row.text)).toEqual(['\'=HYPERLINK("http://x")', "'-1+1"]);
    expect(rows[0]!.file).toBe("'@a,b.mp4");
  });

  test("a colon in a name does not select an MLT service", () => {
    expect(exported("mlt", {}, { name: "xml:a.mp4" }).body).toContain('name="resource">./xml:a.mp4<');
    expect(exported("mlt", { mediaRoot: "C:\\x" }, { name: "a.mp4" }).body).toContain('name="resource">C:/x/a.mp4<');
  });
});

test("the JSON contains the plan and the timeline", () => {
  const { timeline, ...plan } = JSON.parse(exported("json", { layout: "tight" }).body);
  expect(plan).toEqual(PLAN);
  expect(timeline).toMatchObject({ layout: "tight", frame_rate: RATE, drop_frame: false, length: 240 });
  expect(timeline.media).toMatchObject({ start_timecode: "01:00:00:00", length: 400, url: "talk.mp4" });
});
