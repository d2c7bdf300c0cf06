import { describe, expect, test } from "bun:test";
import type { MediaInfo, ProbedMedia, VideoStream } from "../../../src/domain/media";
import type { SpliceSegment } from "../../../src/domain/smart-plan";
import type { FrameTimes } from "../../../src/domain/time";
import {
  buildInputArguments,
  buildOutputArguments,
  buildPassthroughArguments,
  formatSeconds,
} from "../../../src/media/arguments";
import { buildColorArguments, buildColorFilters, isHdr } from "../../../src/media/color";
import { DECODER_WHITELIST } from "../../../src/media/decoders";
import {
  buildAudioEncoderArguments,
  buildDeviceArguments,
  buildVideoEncoderArguments,
  chooseAudioFormat,
  getPixelFormatFilter,
  VIDEO_ENCODERS,
  type VideoEncoder,
} from "../../../src/media/encoder-arguments";
import { selectFfmpeg } from "../../../src/media/ffmpeg";
import { buildSpliceArguments } from "../../../src/media/smart/splice-arguments";
import { buildSelectFilters, buildShapeFilters, buildTimingFilters } from "../../../src/media/video-filters";
import { bundledFfmpeg } from "./generated-media";
import { VIDEO } from "./video-stream";

const contains = (list: readonly string[], ...pair: string[]) => list.join(" ").includes(pair.join(" "));

describe("input arguments", () => {
  test("force one demuxer that cannot open other files", () => {
    const list = buildInputArguments({ path: "-i http://x:1/%d\n.mp4", demuxer: "mov" });
    expect(list).toEqual([
      ...["-f", "mov", "-protocol_whitelist", "file,pipe", "-format_whitelist", "mov"],
      ...["-codec_whitelist", DECODER_WHITELIST],
      ...["-i", "file:-i http://x:1/%d\n.mp4"],
    ]);
    expect(buildOutputArguments("-x")).toEqual(["-y", "file:-x"]);
  });

  test("seek by container time", () => {
    const list = buildInputArguments({ path: "a", demuxer: "mpegts", seekTo: 1_458_667 });
    expect(contains(list, "-noaccurate_seek", "-seek_timestamp", "1", "-ss", "1.458667", "-i")).toBe(true);
  });

  test.each([
    [0, "0.000000"],
    [1, "0.000001"],
    [-1_500_000, "-1.500000"],
    [95_443_717_688, "95443.717688"],
    [-0, "0.000000"],
  ])("%p ticks are formatted as %p", (ticks, text) => {
    expect(formatSeconds(ticks)).toBe(text);
  });

  test("frames are passed through with the option that the version supports", () => {
    expect(buildPassthroughArguments(56)).toEqual(["-vsync", "0"]);
    expect(buildPassthroughArguments(59)).toEqual(["-fps_mode", "passthrough"]);
  });
});

describe("encoders", () => {
  const target = { width: 1280, height: 720, framesPerSecond: 25 };
  const byRate: Record<VideoEncoder, string> = {
    libx264:
      "-c:v libx264 -preset veryfast -profile:v high -g 100 -x264-params me=dia -b:v 2000000 -maxrate 3000000 -bufsize 4000000",
    h264_nvenc:
      "-c:v h264_nvenc -preset medium -profile:v high -rc vbr -g 100 -b:v 2000000 -maxrate 3000000 -bufsize 4000000",
    h264_qsv: "-c:v h264_qsv -preset medium -profile:v high -g 100 -b:v 2000000 -maxrate 3000000 -bufsize 4000000",
    h264_vaapi: "-c:v h264_vaapi -profile:v high -g 100 -b:v 2000000 -maxrate 3000000 -bufsize 4000000",
    h264_videotoolbox: "-c:v h264_videotoolbox -g 100 -b:v 2000000",
    h264_v4l2m2m: "-c:v h264_v4l2m2m -g 100 -b:v 2000000",
  };
  const byQuality: Record<VideoEncoder, string> = {
    libx264:
      "-c:v libx264 -preset veryfast -profile:v high -g 100 -x264-params me=dia -crf 20 -maxrate 4000000 -bufsize 8000000",
    h264_nvenc:
      "-c:v h264_nvenc -preset medium -profile:v high -rc vbr -g 100 -cq 21 -b:v 0 -maxrate 4000000 -bufsize 8000000",
    h264_qsv: "-c:v h264_qsv -preset medium -profile:v high -g 100 -global_quality 21",
    h264_vaapi: "-c:v h264_vaapi -profile:v high -g 100 -qp 21",
    h264_videotoolbox: "-c:v h264_videotoolbox -g 100 -b:v 4000000",
    h264_v4l2m2m: "-c:v h264_v4l2m2m -g 100 -b:v 4000000",
  };

  for (const encoder of VIDEO_ENCODERS)
    test(encoder, () => {
      expect(buildVideoEncoderArguments(encoder, { ...target, quality: { bitrate: 2e6 } }).join(" ")).toBe(
        byRate[encoder],
      );
      expect(buildVideoEncoderArguments(encoder, { ...target, quality: { maxBitrate: 4e6 } }).join(" ")).toBe(
        byQuality[encoder],
      );
      const free = buildVideoEncoderArguments(encoder, { ...target, quality: { maxBitrate: null } });
      expect(free.join(" ")).not.toMatch(/maxrate|NaN|null|undefined/);
    });

  test.each([1e9, 1.2e9, 4e9])(
    "rates of %p bits a second, as studio codecs have, fit the numbers of ffmpeg",
    (rate) => {
      for (const quality of [{ bitrate: rate }, { maxBitrate: rate }])
        for (const value of buildVideoEncoderArguments("libx264", { ...target, quality }).filter((word) =>
          /^\d+$/.test(word),
        ))
          expect(Number(value)).toBeLessThan(2 ** 31);
    },
  );

  test("only VAAPI needs a device and hardware frames", () => {
    const needing = VIDEO_ENCODERS.filter((encoder) => buildDeviceArguments(encoder).length > 0);
    expect(needing).toEqual(["h264_vaapi"]);
    expect(getPixelFormatFilter("h264_vaapi")).toBe("format=nv12,hwupload");
    expect(getPixelFormatFilter("libx264")).toBe("format=yuv420p");
  });

  test.each([
    ["m4a", 48_000, 2, 128_000, 48_000, 2],
    ["m4a", 16_000, 1, 64_000, 16_000, 1],
    ["m4a", 16_000, 1, 128_000, 48_000, 1],
    ["mp4", 44_100, 6, 320_000, 44_100, 6],
    ["mp4", 192_000, 3, 128_000, 48_000, 2],
    ["mp3", 44_100, 6, 128_000, 44_100, 2],
    ["mp3", 22_050, 1, 64_000, 44_100, 1],
    ["mp3", 16_000, 2, 64_000, 48_000, 2],
  ] as const)(
    "sound for %p of %p Hz, %p channels at %p: %p Hz, %p",
    (format, sampleRate, channels, bitrate, rate, out) => {
      expect(chooseAudioFormat(format, { sampleRate, channels }, bitrate)).toEqual({ sampleRate: rate, channels: out });
      expect(buildAudioEncoderArguments(format, bitrate)).toContain(String(bitrate));
    },
  );

  test("spliced segments have their own parameter set ids, keyframes at their starts, and the source's profile and reordering", () => {
    const color = { primaries: "bt709", transfer: null, matrix: "bt709", range: "tv" as const };
    const segments: SpliceSegment[] = [
      { kind: "encode", from: 3, to: 15 },
      { kind: "encode", from: 20, to: 38 },
    ];
    const frames: FrameTimes = { kind: "constant", rate: { num: 25, den: 1 }, first: 0, count: 100 };
    const info: MediaInfo = {
      type: "video",
      demuxer: "matroska",
      duration: 4e6,
      startPts: 1e6,
      video: VIDEO,
      audio: [],
      timecode: null,
    };
    const input = {
      path: "/l.mp4",
      excerptStart: 1e6,
      probed: { info, frames },
      segments,
      threads: 1,
      libavutil: 56,
    };
    const splice = {
      codec: "h264",
      parameterSetId: 3,
      profile: "main",
      reorderDepth: 1,
      color,
      pixelFormat: "yuv420p",
      maxBitrate: 6e6,
    } as const;
    const list = buildSpliceArguments(input, splice);
    expect(contains(list, "-force_key_frames", "expr:eq(n,0)+eq(n,12)", "-forced-idr", "1")).toBe(true);
    expect(contains(list, "-frames:v", "30")).toBe(true);
    expect(list.join(" ")).toContain("select='between(t,0.100000,0.580000)+between(t,0.780000,1.500000)',settb=1/25");
    expect(list.join(" ")).toContain(
      "sps-id=3:keyint=600:min-keyint=1:scenecut=0:open-gop=0:bframes=2:b-pyramid=none:",
    );
    expect(contains(list, "-profile:v", "main")).toBe(true);
    expect(contains(list, "-color_primaries", "bt709", "-colorspace", "bt709", "-color_range", "tv")).toBe(true);
    const hevc = buildSpliceArguments(input, { ...splice, codec: "hevc", ids: { vps: 1, sps: 1, pps: 15 } });
    expect(contains(hevc, "-c:v", "libx265")).toBe(true);
    // Pictures of HEVC that seem to be no reference may be references of higher temporal sub-layers.
    expect(contains(list.slice(0, list.indexOf("-i")), "-skip_loop_filter", "noref")).toBe(true);
    expect(hevc).not.toContain("-skip_loop_filter");
    expect(contains(hevc, "-profile:v", "main")).toBe(true);
    expect(contains(hevc, "-force_key_frames", "expr:eq(n,0)+eq(n,12)", "-forced-idr", "1")).toBe(true);
    expect(hevc.join(" ")).toContain("keyint=600:min-keyint=1:scenecut=0:open-gop=0:bframes=2:b-pyramid=0:info=0");
    const plainVideo = buildSpliceArguments(input, {
      ...splice,
      profile: "baseline",
      reorderDepth: 0,
      maxBitrate: null,
    });
    expect(plainVideo.join(" ")).toContain("bframes=0");
    // Only options that the profile has.
    expect(list.join(" ")).toContain("cabac=0:trellis=0:8x8dct=0");
    expect(plainVideo.join(" ")).toContain("cabac=0:trellis=0:8x8dct=0");
    expect(buildSpliceArguments(input, { ...splice, profile: "high" }).join(" ")).toContain(
      "cabac=0:trellis=0:8x8dct=1",
    );
    expect(plainVideo).not.toContain("-maxrate");
  });
});

describe("color and size", () => {
  const as = (change: Partial<VideoStream>) => ({ ...VIDEO, ...change });
  const hdr = as({ color: { primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", range: "tv" } });

  test("HDR is converted to BT.709 and tagged", () => {
    expect(isHdr(hdr)).toBe(true);
    expect(buildColorFilters(hdr, true).join()).toContain("tonemap");
    expect(buildColorFilters(hdr, false)).toEqual([]);
    expect(buildColorFilters(VIDEO, true)).toEqual([]);
    expect(contains(buildColorArguments(hdr, VIDEO), "-color_trc", "bt709")).toBe(true);
  });

  test("known tags are kept, unknown ones dropped; untagged video is tagged when players would guess another matrix", () => {
    const tagged = as({ color: { primaries: "bt470bg", transfer: "odd-one", matrix: "smpte170m", range: "pc" } });
    expect(buildColorArguments(tagged, VIDEO)).toEqual([
      "-color_primaries",
      "bt470bg",
      "-colorspace",
      "smpte170m",
      "-color_range",
      "tv",
    ]);
    expect(buildColorArguments(VIDEO, VIDEO)).toEqual([]);
    expect(buildColorArguments(VIDEO, { width: 640, height: 360 })).toEqual(["-colorspace", "bt709"]);
  });

  test.each([
    [{}, { width: 1920, height: 1080 }, ""],
    [{}, { width: 1280, height: 720 }, "scale=1280:720:flags=bicubic,setsar=1"],
    [{ codedWidth: 641, codedHeight: 361 }, { width: 640, height: 360 }, "crop=640:360:0:0"],
    [{ rotation: 90 }, { width: 1080, height: 1920 }, ""],
    [
      { codedWidth: 1440, pixelAspect: { num: 4, den: 3 } },
      { width: 1920, height: 1080 },
      "scale=1920:1080:flags=bicubic,setsar=1",
    ],
    [{ color: { ...VIDEO.color, range: "pc" } }, { width: 1920, height: 1080 }, "scale=in_range=pc:out_range=tv"],
  ] as const)("%p to %p", (change, size, filters) => {
    expect(buildShapeFilters(as(change as Partial<VideoStream>), size).join()).toBe(filters);
  });
});

describe("frame selection", () => {
  const probed: ProbedMedia = {
    info: {
      type: "video",
      demuxer: "mpegts",
      duration: 9_000_000,
      startPts: 1_400_000,
      video: VIDEO,
      audio: [],
      timecode: null,
    },
    frames: { kind: "constant", rate: { num: 25, den: 1 }, first: 20_000, count: 200 },
  };
  const createSegment = (from: number, to: number) => ({
    from,
    to,
    sourceStart: 20_000 + from * 40_000,
    outputStart: from * 40_000,
  });
  const chunk = (...segments: ReturnType<typeof createSegment>[]) => ({
    segments,
    outputStart: 0,
    outputEnd: 0,
    frameCount: 0,
  });

  test("bounds are half a frame earlier, in container time", () => {
    expect(buildSelectFilters(chunk(createSegment(10, 20)), probed)).toEqual(["trim=start=1.800000:end=2.200000"]);
    expect(buildSelectFilters(chunk(createSegment(10, 20), createSegment(30, 40)), probed)).toEqual([
      "trim=start=1.800000:end=3.000000",
      "select='between(t,1.800000,2.200000)+between(t,2.600000,3.000000)'",
    ]);
  });

  test("sequential frames follow each other, resampled ones are placed by time", () => {
    const rate = { num: 30_000, den: 1_001 };
    expect(buildTimingFilters(chunk(createSegment(0, 9)), probed, { kind: "sequential", rate }, 57).join()).toBe(
      "settb=1001/30000,setpts=N,fps=30000/1001",
    );
    const resampled = buildTimingFilters(
      chunk(createSegment(0, 9), createSegment(20, 30)),
      probed,
      { kind: "resampled", rate, phase: 0 },
      57,
    );
    expect(resampled[1]).toStartWith("setpts='round((if(lt(T,1.760000),T+(-1.420000)");
  });
});

describe("selecting ffmpeg", () => {
  const bundled = bundledFfmpeg.path;

  test("a newer one on the PATH is preferred, the bundled one always works", async () => {
    expect(await selectFfmpeg({ forced: null, bundled, path: "relative:/nowhere:/usr/bin" })).toMatchObject({
      path: "/usr/bin/ffmpeg",
      bundled: false,
    });
    for (const path of [undefined, "", "/nowhere"])
      expect(await selectFfmpeg({ forced: null, bundled, path })).toMatchObject({
        path: bundled,
        bundled: true,
        libavutil: 56,
      });
  });

  test("a forced one must work", async () => {
    await expect(selectFfmpeg({ forced: "/bin/true", bundled, path: "/usr/bin" })).rejects.toThrow("/bin/true");
    expect(await selectFfmpeg({ forced: bundled, bundled: "/nowhere", path: "" })).toMatchObject({ path: bundled });
  });

  test("without a working one there is a one-line error", async () => {
    await expect(selectFfmpeg({ forced: null, bundled: "/nowhere", path: "" })).rejects.toThrow(
      "No working ffmpeg found",
    );
  });
});
