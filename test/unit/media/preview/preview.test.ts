/** Previews made with the command lines of the job, and pieces of them. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbedMedia } from "../../../../src/domain/media";
import { planStoryboard } from "../../../../src/domain/preview";
import { findOutputColors } from "../../../../src/media/color";
import { type Ffmpeg, runFfmpeg, startFfmpeg } from "../../../../src/media/ffmpeg";
import {
  buildPreviewAudioArguments,
  buildPreviewChunkArguments,
  buildPreviewMuxArguments,
  getPreviewSize,
} from "../../../../src/media/preview/encode";
import { readParameterSets, replaceParameterSets, startHeadEncoder } from "../../../../src/media/preview/head";
import { createAudioPiece, createSeekPiece, createVideoPiece } from "../../../../src/media/preview/piece";
import { type PiecePart, readParts } from "../../../../src/media/preview/read-parts";
import { buildStoryboardArguments } from "../../../../src/media/preview/storyboard";
import { writePreviewIndex } from "../../../../src/media/preview/write-index";
import { bundledFfmpeg, generate, systemFfmpeg } from "../generated-media";
import { findBeep, readFrameNumbers, readFrameTimes, readSamples, runFfprobe } from "../readback";
import { probeFile } from "../rendering";
import { SOURCES } from "../sources";
import { readPiece } from "./fragments";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-preview-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const sandbox = { mode: "none", reason: "a test", wrap: (command: string[]) => command } as const;
let made = 0;

type Made = { path: string; index: string; probed: ProbedMedia; tracks: Awaited<ReturnType<typeof writePreviewIndex>> };

/** Makes a preview as the job does, with video in `count` chunks. */
async function makePreview(ffmpeg: Ffmpeg, path: string, count = 1): Promise<Made> {
  const probed = await probeFile(path, ffmpeg);
  const { info } = probed;
  const dir = join(folder, String(made++));
  await mkdir(dir);
  const source = { path, info, libavutil: ffmpeg.libavutil };
  const run = (args: string[]) => runFfmpeg({ ffmpeg, arguments: args, limits: {} });
  const audio = info.audio.length > 0 ? join(dir, "audio.mp4") : null;
  if (audio) await run(buildPreviewAudioArguments(source, audio));
  const preview = info.video ? join(dir, "preview.mp4") : audio!;
  if (info.video) {
    const mux = startFfmpeg({ ffmpeg, arguments: buildPreviewMuxArguments(audio, preview), limits: {}, stdin: "pipe" });
    for (let n = 0; n < count; n++) {
      const outputPath = join(dir, `${n}.ts`);
      await run(buildPreviewChunkArguments(source, { n, count, hasZscale: false, outputPath }));
      await mux.stdin.write(await Bun.file(outputPath).bytes());
    }
    await mux.stdin.end();
    expect((await mux.outcome).message).toBe("ffmpeg exited with code 0");
  }
  const index = join(dir, "index");
  return { path: preview, index, probed, tracks: await writePreviewIndex(preview, index) };
}

const concatenate = async (preview: string, parts: PiecePart[]) =>
  Buffer.concat(await Array.fromAsync(readParts(preview, parts)));

const pieceOf = ({ path, index, tracks, probed }: Made, ffmpeg: Ffmpeg) => ({
  video: async (from: number, to: number) => {
    const parts = await createVideoPiece({ media: path, index, track: tracks.video!, from, to }, (head) =>
      startHeadEncoder({ ffmpeg, sandbox }, probed.info.video!).encode(head),
    );
    return readPiece(await concatenate(path, parts));
  },
  audio: async (from: number, to: number) =>
    readPiece(await concatenate(path, await createAudioPiece({ media: path, index, track: tracks.audio!, from, to }))),
});

const packets = async (path: string) =>
  (await runFfprobe(path, "-select_streams", "v", "-show_entries", "packet=pts_time,dts_time,flags"))
    .split("\n")
    .map((line) => line.split(","))
    .map(([pts, dts, flags]) => ({ pts: Number(pts), dts: Number(dts), isKey: flags!.startsWith("K") }));

const generateOnce = (extension: string, recipe: string[]) =>
  generate(`preview-${Bun.hash(recipe.join(" "))}.${extension}`, ...recipe);

const pattern = (...args: string[]) =>
  generateOnce("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", ...args],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2"],
  ]);

describe("a preview", () => {
  test("of sources with other clocks, gaps and rotations is on the source's clock", async () => {
    for (const [name, ffmpeg] of [
      ["ts, 25, clock from 1.4 s", systemFfmpeg],
      ["mp4, delayed picture", bundledFfmpeg],
    ] as const) {
      const path = await SOURCES.find((source) => source.name === name)!.path();
      const { path: preview, probed } = await makePreview(ffmpeg, path);
      const first = (probed.frames!.kind === "constant" ? probed.frames!.first : 0) / 1e6;
      expect(Math.abs((await readFrameTimes(preview))[0]! - first)).toBeLessThan(0.002);
      expect(await readFrameNumbers(preview)).toEqual(await readFrameNumbers(path));
      const audio = await readSamples(preview);
      const expectedSamples = await readSamples(path, probed.info.startPts / 1e6);
      const beep = expectedSamples.findIndex((value, n) => n > 48_000 && Math.abs(value) > 0.15) / 48_000;
      expect(Math.abs(findBeep(audio, beep) - beep)).toBeLessThan(0.003);
    }
  });

  test.each([
    ["the system's ffmpeg", systemFfmpeg],
    ["the bundled ffmpeg", bundledFfmpeg],
  ])("has a keyframe each half second, no B-frames, and all frames over the edges of chunks: %s", async (_, ffmpeg) => {
    const source = await pattern("-t", "62", "-pix_fmt", "yuv420p");
    const { path, tracks } = await makePreview(ffmpeg, source, 2);
    const found = await packets(path);
    expect(found).toHaveLength(62 * 25);
    for (const [n, { pts, dts }] of found.entries()) {
      expect(Math.abs(pts - n / 25)).toBeLessThan(0.001);
      expect(dts).toBe(pts);
    }
    const keys = found.filter(({ isKey }) => isKey).map(({ pts }) => pts);
    expect(keys).toHaveLength(124);
    for (const [n, time] of keys.entries()) expect(time - n / 2).toBeWithin(-0.001, 0.041);
    const stream = await runFfprobe(
      path,
      "-select_streams",
      "v",
      "-show_entries",
      "stream=profile,level,has_b_frames,pix_fmt",
    );
    expect(stream.split(",").toSorted()).toEqual(["0", "40", "High", "yuv420p"].toSorted());
    expect(tracks.video!.mimeType).toBe('video/mp4; codecs="avc1.640028"');
    expect(tracks.audio).toBeNull();
  });

  test.each([
    [1920, 1080, 960, 540],
    [1080, 1920, 540, 960],
    [320, 240, 320, 240],
    [5120, 1440, 1920, 540],
    [8192, 1024, 1920, 240],
    [641, 361, 640, 360],
  ])("of %i × %i has %i × %i pixels", (width, height, w, h) => {
    expect(getPreviewSize({ width, height })).toEqual({ width: w, height: h });
  });
});

describe("a piece", () => {
  test.each([
    ["untagged", []],
    ["BT.709", ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv"]],
    ["BT.601", ["-color_primaries", "smpte170m", "-color_trc", "smpte170m", "-colorspace", "smpte170m"]],
    ["full range", ["-color_range", "pc", "-colorspace", "bt470bg"]],
  ])("has the parameter sets of the preview at each start: %s", async (_, color) => {
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const source = await pattern("-t", "3", "-pix_fmt", "yuv420p", ...color);
      const preview = await makePreview(ffmpeg, source);
      const read = pieceOf(preview, ffmpeg);
      for (const from of [0, 0.04, 0.48, 0.5, 1.3, 2.96]) {
        const { descriptions } = await read.video(from, 3);
        expect([from, descriptions.length]).toEqual([from, 1]);
      }
    }
  });

  test("starts with a keyframe at its start, has each frame once, and ends at its end", async () => {
    const source = await pattern("-t", "4", "-pix_fmt", "yuv420p");
    const read = pieceOf(await makePreview(systemFfmpeg, source), systemFfmpeg);
    const frame = 90_000 / 25;
    for (const [from, to] of [
      [0, 4],
      [0.04, 0.2],
      [0.4, 0.6],
      [0.52, 1],
      [1.24, 3.52],
      [3.96, 4],
    ] as const) {
      const { samples } = await read.video(from, to);
      const label = `${from} to ${to}`;
      expect([label, samples[0]!.isKey]).toEqual([label, true]);
      expect([label, samples.length]).toEqual([label, Math.round((to - from) * 25)]);
      for (const [n, { time, duration }] of samples.entries()) {
        expect([label, n, time]).toEqual([label, n, Math.round(from * 90_000) + n * frame]);
        expect([label, n, duration]).toEqual([label, n, frame]);
      }
    }
  });

  test("for a seek starts with the keyframe before the place, and is not encoded", async () => {
    const source = await pattern("-t", "4", "-pix_fmt", "yuv420p");
    const { path: preview, index, tracks } = await makePreview(systemFfmpeg, source);
    const read = async (from: number, to: number, seek: number) =>
      readPiece(
        await concatenate(
          preview,
          await createSeekPiece({ media: preview, index, track: tracks.video!, from, to, seek }),
        ),
      );
    const frame = 90_000 / 25;
    const sizes = (await read(0, 4, 0)).samples.map(({ bytes }) => bytes);
    expect(sizes).toHaveLength(100);
    // Where it starts, where it ends, the place; its keyframe, its first frame.
    for (const [from, to, seek, key, first] of [
      [0, 4, 0, 0, 0],
      [0, 4, 1.96, 38, 38],
      [0, 2, 1.99, 38, 38],
      [1, 2, 1.2, 25, 25],
      [1.24, 3.52, 1.24, 25, 31],
      [1.24, 3.52, 1.4, 25, 31],
      [1.24, 3.52, 3.52, 75, 75],
      [1.48, 1.52, 1.48, 25, 37],
    ] as const) {
      const { samples } = await read(from, to, seek);
      const label = `${from} to ${to} at ${seek}`;
      const last = Math.round(to * 25);
      expect([label, ...samples.map(({ bytes }) => bytes)]).toEqual([label, ...sizes.slice(key, last)]);
      expect([label, samples[0]!.isKey]).toEqual([label, true]);
      // Those before the piece take no time worth mentioning, and nothing after it.
      const times = Array.from({ length: last - key }, (_, n) =>
        key + n > first ? (key + n) * frame : Math.max(key, first) * frame + n,
      );
      expect([label, ...samples.map(({ time }) => time)]).toEqual([label, ...times]);
      expect([label, samples.at(-1)!.time + samples.at(-1)!.duration]).toEqual([label, last * frame]);
    }
  });

  test("between two frames starts with the one that is shown there", async () => {
    const source = await pattern("-t", "2", "-pix_fmt", "yuv420p");
    const { samples } = await pieceOf(await makePreview(systemFfmpeg, source), systemFfmpeg).video(0.5 + 0.03, 0.7);
    expect(samples.map(({ time }) => time)).toEqual([0.53, 0.56, 0.6, 0.64, 0.68].map((s) => Math.round(s * 90_000)));
    expect(samples.at(-1)!.time + samples.at(-1)!.duration).toBe(63_000);
  });

  test("of audio covers its span with the overlap of the decoder", async () => {
    const source = await generateOnce("wav", ["-f", "lavfi", "-i", "sine=440:sample_rate=44100", "-t", "5"]);
    const preview = await makePreview(bundledFfmpeg, source);
    expect(preview.tracks.audio!.mimeType).toBe('audio/mp4; codecs="mp4a.40.2"');
    const read = pieceOf(preview, bundledFfmpeg);
    for (const [from, to] of [
      [0, 1],
      [1.5, 2.25],
      [4.9, 5],
    ] as const) {
      const { samples, timescale } = await read.audio(from, to);
      expect(timescale).toBe(48_000);
      const [start, end] = [
        samples[0]!.time / timescale,
        (samples.at(-1)!.time + samples.at(-1)!.duration) / timescale,
      ];
      expect(start).toBeWithin(Math.max(0, from - 0.05 - 0.022), Math.max(0.001, from - 0.05 + 0.001));
      expect(end).toBeGreaterThanOrEqual(Math.min(to + 0.03, 5));
      expect(end).toBeLessThan(to + 0.03 + 0.03);
      for (const [n, { time }] of samples.entries()) expect(time).toBe(samples[0]!.time + 1_024 * n);
    }
  });

  test("of a damaged file is refused", async () => {
    const preview = await makePreview(systemFfmpeg, await pattern("-t", "2", "-pix_fmt", "yuv420p"));
    const index = new Uint8Array(await Bun.file(preview.index).arrayBuffer());
    const damage = async (bytes: Uint8Array) => {
      const path = join(folder, "damaged");
      await Bun.write(path, bytes as Uint8Array<ArrayBuffer>);
      return pieceOf({ ...preview, index: path }, systemFfmpeg).video(0.04, 2);
    };
    await expect(damage(index.subarray(0, 100))).rejects.toThrow("damaged");
    await expect(damage(index.map((byte, n) => (n % 16 < 6 ? 255 - byte : byte)))).rejects.toThrow("damaged");
    for (let seed = 1; seed < 40; seed++)
      await damage(index.map((byte, n) => ((n * 2_654_435_761 * seed) % 97 === 0 ? (byte + seed) & 255 : byte))).catch(
        (error: Error) => expect(error.message).toMatch(/damaged|could not be processed|too long/),
      );
  });

  test("can have other parameter sets", async () => {
    const { tracks } = await makePreview(systemFfmpeg, await pattern("-t", "1", "-pix_fmt", "yuv420p"));
    const entry = new Uint8Array(Buffer.from(tracks.video!.sampleEntry, "base64"));
    const sets = { sps: new Uint8Array([0x67, 0x64, 0, 0x28, 9]), pps: new Uint8Array([0x68, 1, 2]) };
    expect(readParameterSets(replaceParameterSets(entry, sets))).toEqual(sets);
  });
});

describe("a storyboard", () => {
  test.each([
    [1, 2, 1, 1],
    [2, 2, 1, 1],
    [41, 2, 21, 1],
    [400, 2, 200, 2],
    [3 * 3600, 5.4, 2_000, 20],
  ])("of %d s has a picture each %d s: %i on %i sheets", (seconds, interval, count, sheets) => {
    expect(planStoryboard(seconds)).toEqual({ interval, count, width: 160, height: 90, columns: 10, rows: 10, sheets });
  });

  test("has the pictures of its times", async () => {
    // Red until 2 s, green until 4 s, then blue.
    const colors = ["red", "green", "blue"].flatMap((c) => [
      "-f",
      "lavfi",
      "-t",
      "2",
      "-i",
      `color=${c}:s=160x90:r=10`,
    ]);
    const source = await generateOnce("mp4", [...colors, "-filter_complex", "concat=n=3", "-pix_fmt", "yuv420p"]);
    const { path, probed } = await makePreview(bundledFfmpeg, source);
    const outputDir = join(folder, "sheets");
    await mkdir(outputDir);
    const storyboard = planStoryboard(probed.info.duration / 1e6);
    for (const ffmpeg of [bundledFfmpeg, systemFfmpeg]) {
      await runFfmpeg({
        ffmpeg,
        arguments: buildStoryboardArguments({
          preview: path,
          storyboard,
          colors: findOutputColors(probed.info.video!),
          outputDir,
        }),
        limits: {},
      });
      const sheet = join(outputDir, "sheet-0001.jpg");
      expect(await runFfprobe(sheet, "-show_entries", "stream=width,height")).toBe("1600,900");
      const raw = join(outputDir, "raw");
      await runFfmpeg({
        ffmpeg,
        arguments: ["-v", "error", "-y", "-i", sheet, "-f", "rawvideo", "-pix_fmt", "rgb24", raw],
        limits: {},
      });
      const pixels = await Bun.file(raw).bytes();
      const strongest = [0, 1, 2].map((n) => {
        const rgb = [...pixels.subarray(3 * (1600 * 45 + 160 * n + 80)).subarray(0, 3)];
        return rgb.indexOf(Math.max(...rgb));
      });
      expect(strongest).toEqual([0, 1, 2]);
    }
  });
});
