import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { AudioStream, ProbedMedia, VideoStream } from "../../../src/domain/media";
import { type OutputRequest, resolveOutput } from "../../../src/domain/render-output";
import type { FrameTimes } from "../../../src/domain/time";

const VIDEO: VideoStream = {
  codec: "h264",
  width: 1920,
  height: 1080,
  codedWidth: 1920,
  codedHeight: 1080,
  rotation: 0,
  pixelAspect: { num: 1, den: 1 },
  frameRate: { num: 30_000, den: 1_001 },
  variable: false,
  bitrate: 6_000_001,
  pixelFormat: "yuv420p",
  bitDepth: 8,
  interlaced: false,
  color: { primaries: null, transfer: null, matrix: null, range: null },
};
const AUDIO: AudioStream = {
  index: 0,
  codec: "aac",
  sampleRate: 48_000,
  channels: 2,
  bitrate: 159_000,
  language: null,
  title: null,
};

function source(video: Partial<VideoStream> | null, audio: Partial<AudioStream> | null): ProbedMedia {
  const picture = video === null ? null : { ...VIDEO, ...video };
  const frames: FrameTimes | null =
    picture === null ? null : { kind: "constant", rate: picture.frameRate, first: 0, count: 300 };
  return {
    info: {
      type: picture === null ? "audio" : "video",
      demuxer: "mov",
      duration: 10_000_000,
      startPts: 0,
      video: picture,
      audio: audio === null ? [] : [{ ...AUDIO, ...audio }],
      timecode: null,
    },
    frames,
  };
}

const film = source({}, {});
const talk = source(null, {});
const silent = source({}, null);

function resolved(probed: ProbedMedia, request: OutputRequest) {
  const result = resolveOutput(probed, request);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

function fields(probed: ProbedMedia, request: OutputRequest): string[] {
  const result = resolveOutput(probed, request);
  return result.ok ? [] : result.errors.map((error) => error.field);
}

describe("an empty request means: as the source", () => {
  test("video", () => {
    const { output, json: shown } = resolved(film, {});
    expect(output).toEqual({
      format: "mp4",
      video: { width: 1920, height: 1080, frameRate: null, bitrate: null },
      audio: { bitrate: 159_000 },
      matchesSource: true,
    });
    expect(shown).toEqual({
      format: "mp4",
      resolution: "1080p",
      video_bitrate: 6_000_001,
      frame_rate: 30,
      exact_frame_rate: { num: 30_000, den: 1_001 },
      audio_bitrate: 159_000,
    });
  });

  test("audio", () => {
    const { output, json: shown } = resolved(talk, { format: null });
    expect(output).toEqual({ format: "m4a", video: null, audio: { bitrate: 159_000 }, matchesSource: false });
    expect(shown).toEqual({
      format: "m4a",
      resolution: null,
      video_bitrate: null,
      frame_rate: null,
      exact_frame_rate: null,
      audio_bitrate: 159_000,
    });
  });

  test("a silent video has no audio", () => {
    expect(resolved(silent, {}).output.audio).toBeNull();
    expect(resolved(silent, {}).json.audio_bitrate).toBeNull();
  });

  test("an audio format of a video has no video", () => {
    expect(resolved(film, { format: "mp3" }).output.video).toBeNull();
  });

  test("odd sizes lose their last row and column, which does not count as a change", () => {
    const { output } = resolved(source({ width: 641, height: 361 }, {}), {});
    expect(output.video).toMatchObject({ width: 640, height: 360 });
    expect(output.matchesSource).toBe(true);
  });

  test.each([
    ["pcm_s16le", 1_536_000, 2, 192_000],
    ["flac", null, 1, 96_000],
    ["aac", 12_000, 1, 64_000],
    ["aac", 512_000, 6, 320_000],
    ["opus", null, 2, 192_000],
  ])("audio bitrate of %p at %p, %p channels: %p", (codec, bitrate, channels, wanted) => {
    expect(resolved(source(null, { codec, bitrate, channels }), {}).output.audio).toEqual({ bitrate: wanted });
  });
});

describe("resolution", () => {
  test.each([
    [1920, 1080, "720p", 1280, 720],
    [1080, 1920, "720p", 720, 1280],
    [1280, 534, "360p", 862, 360],
    [1000, 1000, "144p", 144, 144],
    [160, 120, "120p", 160, 120],
  ])("%p by %p at %p is %p by %p", (width, height, resolution, wide, high) => {
    const { output, json: shown } = resolved(source({ width, height }, {}), { resolution });
    expect(output.video).toMatchObject({ width: wide, height: high });
    expect(shown.resolution).toBe(resolution);
  });

  test("the source's is no change, a smaller one is", () => {
    expect(resolved(film, { resolution: "1080p" }).output.matchesSource).toBe(true);
    expect(resolved(film, { resolution: "720p" }).output.matchesSource).toBe(false);
  });

  test.each(["1082p", "721p", "142p", "0p", "-720p", "720", "720P", "p", "7e2p", "00720p", " 720p", ""])(
    "refuses %p",
    (resolution) => {
      expect(fields(film, { resolution })).toEqual(["body.output.resolution"]);
    },
  );
});

describe("bitrates and frame rates", () => {
  test.each([49_999, 6_000_002, 1e9, 100_000.5, -1, 0, Number.NaN])("rejects the video bitrate %p", (video_bitrate) => {
    expect(fields(film, { video_bitrate })).toEqual(["body.output.video_bitrate"]);
  });

  test("accepts a video bitrate up to the source's, which is no change", () => {
    expect(resolved(film, { video_bitrate: 50_000 }).output).toMatchObject({
      video: { bitrate: 50_000 },
      matchesSource: false,
    });
    expect(resolved(film, { video_bitrate: 6_000_001 }).output.matchesSource).toBe(true);
  });

  test.each([0, 121, 60, 12.5, -30])("rejects the frame rate %p of 29.97", (frame_rate) => {
    expect(fields(film, { frame_rate })).toEqual(["body.output.frame_rate"]);
  });

  test("30 is a change from 29.97 but not from 30", () => {
    expect(resolved(film, { frame_rate: 30 }).output).toMatchObject({
      video: { frameRate: { num: 30, den: 1 } },
      matchesSource: false,
    });
    const exact = source({ frameRate: { num: 30, den: 1 } }, {});
    expect(resolved(exact, { frame_rate: 30 }).output).toMatchObject({
      video: { frameRate: null },
      matchesSource: true,
    });
    const variable = source({ frameRate: { num: 30, den: 1 }, variable: true }, {});
    expect(resolved(variable, { frame_rate: 30 }).output.matchesSource).toBe(false);
  });

  test("the exact frame rate of the source keeps the times of its frames, another one is a constant rate", () => {
    const ntsc = { num: 60_000, den: 2_002 };
    for (const request of [{ exact_frame_rate: ntsc }, { exact_frame_rate: ntsc, frame_rate: 30 }])
      expect(resolved(film, request)).toEqual(resolved(film, {}));
    const half = resolved(film, { exact_frame_rate: { num: 30, den: 4 } });
    expect(half.output.video!.frameRate).toEqual({ num: 15, den: 2 });
    expect(half.json).toMatchObject({ frame_rate: 8, exact_frame_rate: { num: 15, den: 2 } });
    expect(resolved(film, { exact_frame_rate: { num: 50, den: 2 } })).toEqual(resolved(film, { frame_rate: 25 }));
    const variable = source({ frameRate: { num: 30, den: 1 }, variable: true }, {});
    expect(resolved(variable, { exact_frame_rate: { num: 30, den: 1 } }).output.matchesSource).toBe(true);
    expect(resolved(variable, { frame_rate: 30 }).json.exact_frame_rate).toBeNull();
    expect(fields(film, { exact_frame_rate: { num: 60_000, den: 1_001 } })).toEqual([]);
  });

  test.each([
    [{ exact_frame_rate: { num: 60, den: 1 } }, "exact_frame_rate"],
    [{ exact_frame_rate: { num: 999, den: 1_000 } }, "exact_frame_rate"],
    [{ exact_frame_rate: { num: 30_000, den: 1_001 }, frame_rate: 29 }, "frame_rate"],
    [{ exact_frame_rate: { num: 25, den: 1 }, format: "mp3" }, "exact_frame_rate"],
  ])("rejects %p of 29.97", (request, field) => {
    expect(fields(film, request)).toEqual([`body.output.${field}`]);
  });

  test("up to twice the source's frame rate, at most 120", () => {
    expect(fields(source({ frameRate: { num: 25, den: 1 } }, {}), { frame_rate: 50 })).toEqual([]);
    expect(fields(source({ frameRate: { num: 100, den: 1 } }, {}), { frame_rate: 121 })).toHaveLength(1);
  });

  test.each([31_999, 320_001, 96_000.5])("rejects the audio bitrate %p", (audio_bitrate) => {
    expect(fields(talk, { audio_bitrate })).toEqual(["body.output.audio_bitrate"]);
  });

  test("an mp3 has the nearest supported bitrate", () => {
    expect(resolved(talk, { format: "mp3" }).json.audio_bitrate).toBe(160_000);
    expect(resolved(talk, { format: "mp3", audio_bitrate: 100_000 }).json.audio_bitrate).toBe(96_000);
    expect(resolved(talk, { format: "m4a", audio_bitrate: 100_000 }).json.audio_bitrate).toBe(100_000);
  });

  test("a changed audio bitrate leaves the video unchanged", () => {
    expect(resolved(film, { audio_bitrate: 64_000 }).output).toMatchObject({
      audio: { bitrate: 64_000 },
      matchesSource: true,
    });
  });
});

test("processing of the audio is part of the output; without it, nothing of it appears", () => {
  const { output, json } = resolved(film, { audio: { loudness_lufs: -14 } });
  expect([output.audio, output.matchesSource, json.audio]).toEqual([
    { bitrate: output.audio!.bitrate, loudness: -14 },
    true,
    { loudness_lufs: -14, noise_reduction: "off", level_speakers: false },
  ]);
  const all = resolved(film, { audio: { noise_reduction: "strong", level_speakers: true } });
  expect([all.output.audio, all.json.audio]).toEqual([
    { bitrate: output.audio!.bitrate, noiseReduction: "strong", levelSpeakers: true },
    { loudness_lufs: null, noise_reduction: "strong", level_speakers: true },
  ]);
  const nothing = { loudness_lufs: null, noise_reduction: "off", level_speakers: false } as const;
  for (const audio of [undefined, null, {}, { loudness_lufs: null }, nothing]) {
    expect(resolved(film, audio === undefined ? {} : { audio })).toEqual(resolved(film, {}));
    expect(Object.keys(resolved(film, {}).json)).not.toContain("audio");
  }
  for (const loudness_lufs of [-31.01, -8.99, Number.NaN])
    expect(fields(film, { audio: { loudness_lufs } })).toEqual(["body.output.audio.loudness_lufs"]);
  expect(fields(silent, { audio: { loudness_lufs: -14, noise_reduction: "light", level_speakers: true } })).toEqual([
    ...["body.output.audio.loudness_lufs", "body.output.audio.noise_reduction", "body.output.audio.level_speakers"],
  ]);
  expect(fields(silent, { audio: nothing })).toEqual([]);
});

describe("invalid combinations", () => {
  test("unknown formats, and formats for tracks that the source does not have", () => {
    expect(fields(film, { format: "webm" })).toEqual(["body.output.format"]);
    expect(fields(talk, { format: "mp4" })).toEqual(["body.output.format"]);
    expect(fields(silent, { format: "m4a" })).toEqual(["body.output.format"]);
  });

  test("every video field with an audio format", () => {
    expect(fields(film, { format: "m4a", resolution: "720p", video_bitrate: 1e6, frame_rate: 25 })).toEqual([
      ...["body.output.resolution", "body.output.video_bitrate", "body.output.frame_rate"],
    ]);
  });

  test("an audio bitrate for a silent video", () => {
    expect(fields(silent, { audio_bitrate: 64_000 })).toEqual(["body.output.audio_bitrate"]);
  });

  test("all errors at once", () => {
    expect(fields(film, { resolution: "1p", video_bitrate: 1, frame_rate: 0, audio_bitrate: 1 })).toHaveLength(4);
  });
});

describe("the shown output", () => {
  const rate = fc.oneof(
    fc.constantFrom(...[24_000, 30_000, 60_000, 120_000].map((num) => ({ num, den: 1_001 }))),
    fc.constantFrom(...[1, 10, 24, 25, 30, 50, 60, 240].map((num) => ({ num, den: 1 }))),
    fc.record({ num: fc.integer({ min: 1, max: 1_000_000 }), den: fc.constant(1_000) }),
  );
  const side = fc.integer({ min: 2, max: 8_192 });
  const bitrate = fc.option(fc.integer({ min: 1, max: 200_000_000 }));
  const anyVideo = fc.record({ width: side, height: side, frameRate: rate, variable: fc.boolean(), bitrate });
  const anyAudio = fc.record({
    codec: fc.constantFrom("aac", "pcm_s16le", "opus"),
    channels: fc.integer({ min: 1, max: 8 }),
    bitrate,
  });
  const anyRequest = fc.record(
    {
      format: fc.constantFrom("mp4", "mov", "m4a", "mp3"),
      resolution: fc.integer({ min: 72, max: 600 }).map((half) => `${2 * half}p`),
      video_bitrate: fc.integer({ min: 50_000, max: 5_000_000 }),
      frame_rate: fc.integer({ min: 1, max: 120 }),
      exact_frame_rate: rate,
      audio_bitrate: fc.integer({ min: 32_000, max: 320_000 }),
      audio: fc.record({
        loudness_lufs: fc.option(fc.double({ min: -31, max: -9, noNaN: true })),
        noise_reduction: fc.option(fc.constantFrom("off", "light", "strong")),
        level_speakers: fc.option(fc.boolean()),
      }),
    },
    { requiredKeys: [] },
  );

  test("is the same request", () => {
    let count = 0;
    const property = fc.property(fc.option(anyVideo), fc.option(anyAudio), anyRequest, (video, audio, request) => {
      fc.pre(video !== null || audio !== null);
      const probed = source(video, audio);
      for (const one of [{}, request]) {
        const result = resolveOutput(probed, one);
        if (!result.ok) continue;
        expect(resolveOutput(probed, result.json)).toEqual(result);
        count++;
      }
    });
    fc.assert(property, { numRuns: 2_000 });
    expect(count).toBeGreaterThan(2_000);
  });
});
