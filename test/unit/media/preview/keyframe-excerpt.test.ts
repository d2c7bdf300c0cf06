/** Storyboards from a part of the keyframes: the same sheets as from all of them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import { planStoryboard } from "../../../../src/domain/preview";
import { toSeconds } from "../../../../src/domain/time";
import { runFfmpeg } from "../../../../src/media/ffmpeg";
import { openInput } from "../../../../src/media/packets/open-input";
import { readTimestamps } from "../../../../src/media/packets/video-track";
import { writeKeyframeExcerpt } from "../../../../src/media/preview/keyframe-excerpt";
import {
  buildSourceStoryboardArguments,
  createSourceStoryboard,
  getSheetName,
} from "../../../../src/media/preview/storyboard";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg, generate, h264, systemFfmpeg, videoInput } from "../generated-media";
import { probeFile } from "../rendering";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const readSheets = async (path: string) =>
  Promise.all((await readdir(path)).sort().map(async (name) => Bun.hash(await Bun.file(join(path, name)).bytes())));

const listTimes = (seconds: number) => {
  const { interval, count } = planStoryboard(seconds);
  return Array.from({ length: count }, (_, n) => n * interval);
};

test.each([
  ["at 30 frames per second", "mp4", videoInput("30", 31), h264(15)],
  ["at 29.97 frames per second", "mp4", videoInput("30000/1001", 31), h264(12)],
  ["with reordered frames", "mp4", videoInput("25", 21.3), h264(10, "-bf", "2")],
  ["turned by a quarter", "mov", videoInput("25", 21), h264(10, "-metadata:s:v", "rotate=90")],
  ["that starts at 1.4 s", "mp4", videoInput("25", 21), h264(10, "-output_ts_offset", "1.4")],
] as const)("the storyboard of a video %s has the same sheets", async (name, container, input, codec) => {
  const path = await generate(`keyframes-${name.replaceAll(" ", "-")}.${container}`, ...input, ...codec);
  const probed = await probeFile(path);
  const { info } = probed;
  const storyboard = planStoryboard(toSeconds(info.duration));
  const excerpt = { path, probed, times: listTimes(toSeconds(info.duration)) };
  expect(await writeKeyframeExcerpt({ ...excerpt, outputPath: join(folder.path, "excerpt.mp4") })).not.toBeNull();
  for (const ffmpeg of [bundledFfmpeg, systemFfmpeg]) {
    const [few, all] = [join(folder.path, crypto.randomUUID()), join(folder.path, crypto.randomUUID())];
    const log = join(folder.path, "runs");
    const wrapper = join(folder.path, "ffmpeg");
    await Bun.write(wrapper, `#!/bin/sh\necho "$*" > ${log}\nexec ${ffmpeg.path} "$@"\n`);
    await chmod(wrapper, 0o755);
    const logging = { ...ffmpeg, path: wrapper };
    expect(await createSourceStoryboard({ ffmpeg: logging, path, probed, outputDir: few })).toEqual(storyboard);
    expect(await Bun.file(log).text()).toContain(`-i file:${few}.mp4 `);
    expect(await Bun.file(`${few}.mp4`).exists()).toBe(false);
    await mkdir(all);
    const recipe = buildSourceStoryboardArguments({ path, info, hasZscale: false, storyboard, outputDir: all });
    await runFfmpeg({ ffmpeg, arguments: recipe, limits: {} });
    expect(await readSheets(few)).toEqual(await readSheets(all));
  }
});

test("a video with a keyframe every two seconds has no excerpt", async () => {
  const path = await generate("keyframes-sparse.mp4", ...videoInput("25", 21), ...h264(50));
  const probed = await probeFile(path);
  const outputPath = join(folder.path, "sparse.mp4");
  expect(await writeKeyframeExcerpt({ path, probed, times: listTimes(21), outputPath })).toBeNull();
  expect(await Bun.file(outputPath).exists()).toBe(false);
});

test("an excerpt has the first, the last and the shown keyframes", async () => {
  const path = await generate("keyframes-few.mp4", ...videoInput("25", 10), ...h264(5));
  const probed = await probeFile(path);
  const outputPath = join(folder.path, "few.mp4");
  expect(await writeKeyframeExcerpt({ path, probed, times: [0, 4.1, 4.15, 7], outputPath })).toBe(0);
  using input = openInput(outputPath);
  const sink = new EncodedPacketSink((await input.getPrimaryVideoTrack())!);
  expect([...(await readTimestamps(sink))].map((time) => Math.round(time * 10) / 10)).toEqual([0, 4, 7, 9.8]);
});

test("a source that was cut off has a storyboard of its beginning", async () => {
  const path = await generate("keyframes-whole.mp4", ...videoInput("25", 21), ...h264(10, "-movflags", "+faststart"));
  const probed = await probeFile(path);
  const cut = join(folder.path, "cut.mp4");
  await Bun.write(cut, Bun.file(path).slice(0, Math.round(0.6 * Bun.file(path).size)));
  const outputDir = join(folder.path, "cut-sheets");
  const storyboard = await createSourceStoryboard({ ffmpeg: systemFfmpeg, path: cut, probed, outputDir });
  expect(storyboard?.sheets).toBe(1);
});

test.each([
  { frames: 250, rate: "25", seconds: 15, count: 8, last: 5 },
  { frames: 10_000, rate: "5", seconds: 150, count: 75, last: 0 },
])("times after the last keyframe have its picture: one every $frames frames", async (video) => {
  const { frames, rate, seconds, count, last } = video;
  const path = await generate(`keyframes-${frames}.mp4`, ...videoInput(rate, seconds), ...h264(frames));
  const probed = await probeFile(path);
  for (const ffmpeg of [bundledFfmpeg, systemFfmpeg]) {
    const outputDir = join(folder.path, crypto.randomUUID());
    expect((await createSourceStoryboard({ ffmpeg, path, probed, outputDir }))?.count).toBe(count);
    const crop = (n: number) => `crop=160:90:${160 * (n % 10)}:${90 * Math.floor(n / 10)}`;
    const readTile = async (n: number) => {
      const sheet = join(outputDir, getSheetName(0));
      const tile = Bun.spawn([systemFfmpeg.path, "-v", "error", "-i", sheet, "-vf", crop(n), "-f", "rawvideo", "-"]);
      return await new Response(tile.stdout).bytes();
    };
    const difference = async (a: number, b: number) => {
      const [one, other] = [await readTile(a), await readTile(b)];
      return one.reduce((sum, value, index) => sum + Math.abs(value - other[index]!), 0) / one.length;
    };
    expect(await difference(last, count - 1)).toBeLessThan(3);
    if (last > 0) expect(await difference(last - 1, last)).toBeGreaterThan(3);
  }
});

test("a storyboard ends with the reason of the signal", async () => {
  const path = await generate("keyframes-aborted.mp4", ...videoInput("25", 21), ...h264(10));
  const probed = await probeFile(path);
  const outputDir = join(folder.path, "aborted-sheets");
  const signal = AbortSignal.abort(new Error("cancelled"));
  const options = { ffmpeg: systemFfmpeg, path, probed, outputDir, signal };
  await expect(createSourceStoryboard(options)).rejects.toThrow("cancelled");
  expect(await Bun.file(`${outputDir}.mp4`).exists()).toBe(false);
});
