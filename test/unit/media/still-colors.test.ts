/**
 * Colors of posters, filmstrips, storyboards and previews: those of the recording, whatever its matrix, range and tags
 * are.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { planStoryboard } from "../../../src/domain/preview";
import { findOutputColors } from "../../../src/media/color";
import type { Ffmpeg } from "../../../src/media/ffmpeg";
import { runFfmpeg } from "../../../src/media/ffmpeg";
import { buildPreviewChunkArguments } from "../../../src/media/preview/encode";
import { buildStoryboardArguments, getSheetName } from "../../../src/media/preview/storyboard";
import { createFilmstrip, createPoster } from "../../../src/media/thumbnails";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";
import { bundledFfmpeg, generate, runTool, systemFfmpeg } from "./generated-media";
import { probeFile } from "./rendering";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const BARS = [
  [191, 191, 191],
  [191, 191, 0],
  [0, 191, 191],
  [0, 191, 0],
  [191, 0, 191],
  [191, 0, 0],
  [0, 0, 191],
];
/** Maximum loss of JPEG and H.264. Another matrix changes a bar by more than 20. */
const TOLERANCE = 11;

type Source = { size: string; matrix: string; range: "tv" | "pc"; tags: string };
const tag = (name: string) => `colorspace=${name}:color_primaries=${name}:color_trc=${name}`;

const SOURCES: [string, Source][] = [
  ["HD, tagged BT.709", { size: "1280x720", matrix: "bt709", range: "tv", tags: tag("bt709") }],
  ["HD, tagged BT.601", { size: "1280x720", matrix: "bt601", range: "tv", tags: tag("smpte170m") }],
  ["HD without tags", { size: "1280x720", matrix: "bt709", range: "tv", tags: "" }],
  ["HD, full range", { size: "1280x720", matrix: "bt709", range: "pc", tags: tag("bt709") }],
  ["SD, tagged BT.709", { size: "640x480", matrix: "bt709", range: "tv", tags: tag("bt709") }],
  ["SD without tags", { size: "640x480", matrix: "bt601", range: "tv", tags: "" }],
  ["SD, full range", { size: "640x480", matrix: "bt601", range: "pc", tags: tag("smpte170m") }],
  ["HD, BT.2020 without HDR", { size: "1280x720", matrix: "bt2020", range: "tv", tags: "colorspace=bt2020nc" }],
];

async function createSource(name: string, { size, matrix, range, tags }: Source): Promise<string> {
  const [width, height] = size.split("x").map(Number) as [number, number];
  const bars = BARS.map(([r, g, b], n) => {
    const color = `0x${[r, g, b].map((part) => part!.toString(16).padStart(2, "0")).join("")}`;
    return `drawbox=x=${Math.round((n * width) / 7)}:y=0:w=${Math.ceil(width / 7) + 1}:h=${height}:color=${color}:t=fill`;
  });
  const filters = [
    ...["format=gbrp", ...bars],
    `scale=out_color_matrix=${matrix}:out_range=${range}`,
    `format=${range === "pc" ? "yuvj420p" : "yuv420p"}`,
  ];
  return generate(
    `colors-${name.replace(/[^A-Za-z0-9]+/g, "-")}.mp4`,
    ...["-f", "lavfi", "-i", `color=black:s=${size}:r=10:d=2`, "-vf", filters.join(",")],
    ...["-c:v", "libx264", "-qp", "6", "-g", "5", "-color_range", range],
    ...tags.split(":").flatMap((one) => (one === "" ? [] : [`-${one.split("=")[0]}`, one.split("=")[1]!])),
  );
}

/** Returns by how much the worst bar of a picture differs. `filters`: to RGB. */
async function findError(path: string, filters = "format=rgb24"): Promise<number> {
  const scaled = `${filters},crop=iw:2:0:ih/2,scale=70:1:flags=area`;
  const args = ["-v", "error", "-i", path, "-frames:v", "1", "-vf", scaled, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
  const pixels = await runTool([bundledFfmpeg.path, ...args]);
  const errors = BARS.flatMap((bar, n) => bar.map((part, k) => Math.abs(pixels[(n * 10 + 5) * 3 + k]! - part)));
  return Math.max(...errors);
}

const FFMPEGS: [string, Ffmpeg][] = [
  ["system", systemFfmpeg],
  ["bundled", bundledFfmpeg],
];

test.each(
  SOURCES.flatMap(([name, source]) => FFMPEGS.map(([which, ffmpeg]) => [name, which, source, ffmpeg] as const)),
)("%s, with the %s ffmpeg", async (name, which, source, ffmpeg) => {
  const path = await createSource(name, source);
  const dir = join(folder.path, `${name} ${which}`);
  await mkdir(dir);
  const probed = await probeFile(path, ffmpeg);
  const video = probed.info.video!;
  const [poster, strip, chunk] = ["poster.jpg", "strip.jpg", "preview.ts"].map((file) => join(dir, file));
  await createPoster({ ffmpeg, path, probed, outputPath: poster! });
  const { count } = await createFilmstrip({ ffmpeg, path, probed, outputPath: strip! });
  const facts = { path, info: probed.info, libavutil: ffmpeg.libavutil };
  const only = { n: 0, count: 1, hasZscale: false, outputPath: chunk! };
  await runFfmpeg({ ffmpeg, arguments: buildPreviewChunkArguments(facts, only), limits: {} });
  const preview = join(dir, "preview.mp4");
  await runTool([bundledFfmpeg.path, "-v", "error", "-i", chunk!, "-c", "copy", preview]);
  const colors = findOutputColors(video);
  const storyboard = planStoryboard(2);
  const args = buildStoryboardArguments({ preview, storyboard, colors, outputDir: dir });
  await runFfmpeg({ ffmpeg, arguments: args, limits: {} });
  const inner = `crop=${Math.round((storyboard.height * video.width) / video.height)}:${storyboard.height}`;
  const errors = {
    poster: await findError(poster!),
    filmstrip: await findError(strip!, `crop=iw/${count}:ih:0:0,format=rgb24`),
    preview: await findError(preview, `scale=in_color_matrix=${colors.matrix}:in_range=tv,format=rgb24`),
    storyboard: await findError(join(dir, getSheetName(0)), `crop=160:90:0:0,${inner},format=rgb24`),
  };
  const wrong = Object.entries(errors).filter(([, error]) => error > TOLERANCE);
  expect(wrong).toEqual([]);
});
