import "./page-globals";
import { describe, expect, test } from "bun:test";
import { CUT_MODES } from "../../../src/domain/plan";
import { createRemainingTime } from "../../../web/app/rare-formats";
import { type Me, session } from "../../../web/app/session";
import { describeVersion, nameVersion, proposeName } from "../../../web/editor/versions/name-version";
import {
  canDropFrames,
  type ExportOptions,
  findObstacle,
  toExportPath,
} from "../../../web/pages/asset/output/export-formats";
import {
  describeOutput,
  describeWork,
  estimateBytes,
  findSourceKbits,
  fitChoice,
  getMaxFrameRate,
  listFormats,
  listResolutions,
  type RenderChoice,
  type RenderedAsset,
  toOutput,
} from "../../../web/pages/asset/output/render-choices";
import type * as RenderPresets from "../../../web/pages/asset/output/render-presets";
import { listPresets } from "../../../web/pages/asset/output/render-presets";
import type { ListedCut } from "../../../web/pages/asset/use-cuts";
import { usePageGlobals } from "./page-globals";

usePageGlobals();

const video: RenderedAsset & { has_transcript: boolean } = {
  type: "video",
  width: 1920,
  height: 1080,
  frame_rate: { num: 30_000, den: 1001 },
  video_codec: "h264",
  audio_codec: "aac",
  audio_tracks: 1,
  size_bytes: 100_000_000,
  duration_seconds: "100",
  has_transcript: true,
};
const audio = {
  ...video,
  type: "audio",
  width: null,
  height: null,
  frame_rate: null,
  video_codec: null,
} as typeof video;
const AS_SOURCE: RenderChoice = {
  format: "mp4",
  resolution: "",
  frameRate: "",
  videoBitrate: "",
  audioBitrate: "",
  loudness: "",
  noiseReduction: "",
  speakerLevels: "",
};

describe("what a render can be", () => {
  test("is bounded by the recording", () => {
    expect(listFormats(video).map(({ value }) => value)).toEqual(["mp4", "mov", "m4a", "mp3"]);
    expect(listFormats({ ...video, audio_tracks: 0 }).map(({ value }) => value)).toEqual(["mp4", "mov"]);
    expect(listFormats(audio).map(({ value }) => value)).toEqual(["m4a", "mp3"]);
    expect(
      listResolutions(video)
        .map(({ value }) => value)
        .slice(0, 2),
    ).toEqual(["", "720p"]);
    expect(listResolutions({ ...video, width: 240, height: 427 }).map(({ value }) => value)).toEqual(["", "144p"]);
    expect([getMaxFrameRate(video), getMaxFrameRate({ ...video, frame_rate: { num: 100, den: 1 } })]).toEqual([
      59, 120,
    ]);
    expect(findSourceKbits(video)).toBe(8_000);
    expect(findSourceKbits({ ...video, size_bytes: null })).toBeNull();
  });

  test("fits a preset to each recording of a batch", () => {
    const preset = { ...AS_SOURCE, resolution: "1080p", frameRate: "60", videoBitrate: "9000", loudness: "-14" };
    expect(fitChoice(preset, video)).toEqual({ ...AS_SOURCE, loudness: "-14" });
    const possible = { ...preset, resolution: "720p", frameRate: "50", videoBitrate: "8000" };
    expect(fitChoice(possible, video)).toEqual(possible);
    expect(fitChoice(preset, audio)).toMatchObject({ format: "m4a", loudness: "-14" });
    expect(fitChoice(preset, { ...video, audio_tracks: 0 })).toEqual(AS_SOURCE);
  });

  test("a user's own presets are not those of others in the same browser", async () => {
    localStorage.setItem("offcut.render-presets", JSON.stringify([{ name: "Earlier", choice: AS_SOURCE }]));
    // The module reads the presets of an earlier version when it is loaded.
    const module: string = "../../../web/pages/asset/output/render-presets?again";
    const { ownPresets, savePreset } = (await import(module)) as typeof RenderPresets;
    const signIn = (id: string) => {
      session.value = { kind: "signed-in", me: { id } as Me };
      return ownPresets.value.map(({ name }) => name);
    };
    expect(signIn("anna")).toEqual(["Earlier"]);
    savePreset("Anna's", AS_SOURCE);
    expect(signIn("ben")).toEqual(["Earlier"]);
    savePreset("Ben's", AS_SOURCE);
    expect(signIn("anna")).toEqual(["Earlier", "Anna's"]);
    session.value = { kind: "unknown" };
  });

  test("a recording without audio has no presets of loudness", () => {
    const names = (asset: RenderedAsset) => listPresets(asset, []).map(({ name }) => name);
    expect(names(video)).toEqual(["As recorded", "YouTube", "Podcast", "Small file", "Broadcast"]);
    expect(names({ ...video, audio_tracks: 0 })).toEqual(["As recorded", "Small file"]);
  });

  test("leaves out settings that equal the recording's", () => {
    expect(toOutput(AS_SOURCE)).toEqual({ format: "mp4" });
    const all = {
      ...AS_SOURCE,
      resolution: "720p",
      frameRate: "25",
      videoBitrate: "900",
      audioBitrate: "96",
      loudness: "-16",
      noiseReduction: "strong" as const,
      speakerLevels: "even" as const,
    };
    expect(toOutput(all)).toEqual({
      format: "mp4",
      resolution: "720p",
      frame_rate: 25,
      video_bitrate: 900_000,
      audio_bitrate: 96_000,
      audio: { loudness_lufs: -16, noise_reduction: "strong", level_speakers: true },
    });
    expect(toOutput({ ...AS_SOURCE, noiseReduction: "light" })).toEqual({
      format: "mp4",
      audio: { loudness_lufs: null, noise_reduction: "light", level_speakers: false },
    });
    expect(toOutput({ ...all, format: "mp3" })).toEqual({
      format: "mp3",
      audio_bitrate: 96_000,
      audio: { loudness_lufs: -16, noise_reduction: "strong", level_speakers: true },
    });
  });

  test("says which choice is fastest", () => {
    expect(describeWork(video, AS_SOURCE, true)).toStartWith("Fastest");
    expect(describeWork(video, { ...AS_SOURCE, frameRate: "25" }, true)).toContain("longest");
    expect(describeWork({ ...video, video_codec: "vp9" }, AS_SOURCE, true)).toContain("vp9");
  });
});

describe("the estimated size", () => {
  test("is that of the recording in proportion to the duration, and follows the bitrates", () => {
    expect(estimateBytes(video, AS_SOURCE, 50)).toBe(50_000_000);
    expect(estimateBytes(video, { ...AS_SOURCE, videoBitrate: "840" }, 8)).toBe(1_000_000);
    expect(estimateBytes(video, { ...AS_SOURCE, format: "mp3", audioBitrate: "128", loudness: "" }, 10)).toBe(160_000);
    expect(estimateBytes({ ...video, size_bytes: null }, AS_SOURCE, 10)).toBeNull();
  });

  test("is smaller with fewer pixels, and never larger than the recording", () => {
    const at = (change: Partial<RenderChoice>) => estimateBytes(video, { ...AS_SOURCE, ...change }, 100)!;
    const sizes = [at({}), at({ resolution: "720p" }), at({ resolution: "360p" }), at({ resolution: "144p" })];
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(at({ frameRate: "59" })).toBeLessThanOrEqual(at({}));
  });
});

test("an output is described by what it has", () => {
  const output = {
    format: "mp4" as const,
    resolution: "720p",
    frame_rate: 25,
    exact_frame_rate: null,
    video_bitrate: null,
    audio_bitrate: null,
  };
  expect(describeOutput(output)).toBe("MP4 · 720p · 25 fps");
  const exact = { frame_rate: 30, exact_frame_rate: { num: 30_000, den: 1_001 } };
  expect(describeOutput({ ...output, ...exact })).toBe("MP4 · 720p · 29.97 fps");
  expect(describeOutput({ ...output, ...exact }, "de-AT")).toBe("MP4 · 720p · 29,97 fps");
  expect(describeOutput({ ...output, format: "mp3", resolution: null, frame_rate: null })).toBe("MP3");
  const audio = { loudness_lufs: -14, noise_reduction: "off" as const, level_speakers: false };
  expect(describeOutput({ ...output, audio }, "en")).toBe("MP4 · 720p · 25 fps · −14 LUFS");
  const clean = { loudness_lufs: null, noise_reduction: "light" as const, level_speakers: true };
  expect(describeOutput({ ...output, audio: clean })).toBe("MP4 · 720p · 25 fps · noise reduced · levels evened out");
});

describe("an export", () => {
  const options: ExportOptions = {
    format: "fcpxml",
    layout: "review",
    mediaFolder: " /Volumes/A & B ",
    frameRate: "",
    dropFrame: "true",
    timeline: "source",
    hasTimes: false,
  };

  test("is refused before the click where that is known", () => {
    const words = { hasWords: true };
    expect(findObstacle("edl", audio, words)).toContain("only audio");
    expect(findObstacle("edl", { ...video, frame_rate: { num: 120, den: 1 } }, words)).toContain("60 frames");
    expect(findObstacle("srt", { ...video, has_transcript: false }, words)).toContain("no transcript");
    expect(findObstacle("vtt", video, { hasWords: false })).toContain("pauses alone");
    expect(findObstacle("mlt", audio, { hasWords: false })).toBeNull();
  });

  test("sends only the options that its format has", () => {
    const query = (format: ExportOptions["format"], change = {}) =>
      decodeURIComponent(toExportPath({ ...options, format, ...change }, video).replaceAll("+", " "));
    expect(query("fcpxml")).toBe("export?format=fcpxml&layout=review&media_root=/Volumes/A & B&drop_frame=true");
    expect(query("fcpxml", { frameRate: "25" })).not.toContain("drop_frame");
    expect(query("edl", { frameRate: "25" })).toBe("export?format=edl&layout=review&frame_rate=25");
    expect(query("csv")).toBe("export?format=csv&layout=review");
    expect(query("srt")).toBe("subtitle?format=srt&timeline=source");
    expect(query("docx")).toBe("transcript?format=docx");
    expect(query("md", { hasTimes: true })).toBe("transcript?format=md&times=true");
  });

  test("drops frames at 29.97 and 59.94 only", () => {
    expect(canDropFrames("", video)).toBe(true);
    expect(["29.97", "59.94", "30", "25"].map((rate) => canDropFrames(rate, video))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(canDropFrames("", audio)).toBe(false);
  });
});

test("the remaining time follows the progress, and starts again with a job that does", () => {
  const time = createRemainingTime();
  expect(time.update("a", 0.2, 0)).toBeNull();
  expect(time.update("a", 0.3, 1_000)).toBeNull();
  expect(time.update("a", 0.6, 4_000)).toBeCloseTo(4);
  expect(time.update("b", 0.6, 4_000)).toBeNull();
  expect(time.update("a", 0.1, 5_000)).toBeNull();
});

test("cuts without a name get that of their mode, the older ones without a number", () => {
  const options = CUT_MODES.tight;
  const make = (id: string, second: number, name: string | null = null, state: "completed" | "failed" = "completed") =>
    ({ id, name, state, options, created_at: `2025-03-04T10:15:0${second}Z` }) as const;
  const cuts = [make("d", 4), make("c", 3, "Tight 2"), make("b", 2, "For Anna"), make("a", 1, null, "failed")];
  expect(cuts.map((cut) => nameVersion(cut, cuts))).toEqual(["Tight 3", "Tight 2", "For Anna", "Tight (failed)"]);
  expect(proposeName(options, cuts)).toBe("Tight 4");
});

test("the description of a version says that it is set aside", () => {
  const version = {
    created_by: { id: "a", name: "Anna Okoye" },
    created_at: "2025-03-04T10:15:00Z",
    is_set_aside: true,
    note: "Shorter",
  } as ListedCut;
  expect(describeVersion(version)).toMatch(/^Anna Okoye · .+ · set aside · Shorter$/);
  expect(describeVersion({ ...version, is_set_aside: false })).not.toContain("aside");
});
