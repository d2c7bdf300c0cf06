import { describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildScaleFilters, canUseZscale, hasZscaleFilter, withKnownFilters } from "../../../../src/media/chunks/scale";
import type { Ffmpeg } from "../../../../src/media/ffmpeg";
import { buildShapeFilters } from "../../../../src/media/video-filters";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg, systemFfmpeg } from "../generated-media";
import { readFrameNumbers } from "../readback";
import { probeFile, sourceNumbers, toSnappedSegments, withRender } from "../rendering";
import { SOURCES } from "../sources";
import { VIDEO } from "../video-stream";

const small = { width: 854, height: 480 };
const NEW = { libavutil: 57, hasZscale: true };

describe("scaling", () => {
  test("compatible video is scaled with zscale where it is available and fast", () => {
    expect(canUseZscale(VIDEO, small)).toBe(true);
    expect(buildScaleFilters(VIDEO, small, NEW)).toEqual(["zscale=w=854:h=480:filter=bicubic", "setsar=1"]);
    expect(buildScaleFilters(VIDEO, small, { ...NEW, libavutil: 56 })).toEqual(buildShapeFilters(VIDEO, small));
    expect(buildScaleFilters(VIDEO, small, { ...NEW, hasZscale: false })).toEqual(buildShapeFilters(VIDEO, small));
  });

  test.each([
    ["interlaced", { interlaced: true }],
    ["10-bit", { pixelFormat: "yuv420p10le" }],
    ["of an odd size", { codedWidth: 1919, width: 1919 }],
    ["of full range", { color: { ...VIDEO.color, range: "pc" as const } }],
  ])("video that is %s is scaled with swscale", (_, change) => {
    const video = { ...VIDEO, ...change };
    expect(canUseZscale(video, small)).toBe(false);
    expect(buildScaleFilters(video, small, NEW)).toEqual(buildShapeFilters(video, small));
  });

  test("video that keeps its size is not scaled", () => {
    expect(canUseZscale(VIDEO, VIDEO)).toBe(false);
    expect(buildScaleFilters(VIDEO, VIDEO, NEW)).toEqual([]);
  });

  test("an ffmpeg is queried once for zscale, and again if its file was replaced or the query failed", async () => {
    expect(await hasZscaleFilter(bundledFfmpeg)).toBe(true);
    await using folder = await temporaryFolder();
    const asked = join(folder.path, "asked");
    const program = { ...bundledFfmpeg, path: join(folder.path, "ffmpeg") };
    const write = (answer: string) =>
      writeFile(program.path, `#!/bin/sh\nprintf x >> ${asked}\necho "${answer}"\n`, { mode: 0o755 });
    const ask = async (ffmpeg: Ffmpeg = program) => [await hasZscaleFilter(ffmpeg), (await readFile(asked)).length];
    await write("");
    expect([await ask(), await ask()]).toEqual([
      [false, 1],
      [false, 2],
    ]);
    await write(" ... zscale            V->V       Apply resizing.");
    expect([await ask(), await ask(), await ask(await withKnownFilters(program))]).toEqual([
      [true, 3],
      [true, 3],
      [true, 3],
    ]);
    await write(" T.. null              V->V       Pass the source unchanged to the output.");
    expect([await ask(), await ask()]).toEqual([
      [false, 4],
      [false, 4],
    ]);
  });

  for (const [name, ffmpeg] of [
    ["the system's ffmpeg", systemFfmpeg],
    ["the bundled ffmpeg", bundledFfmpeg],
  ] as const)
    for (const source of SOURCES.filter(({ name }) => /^mp4, 30, B|turned/.test(name)))
      test(`every frame is there in a smaller picture: ${source.name}, ${name}`, async () => {
        const path = await source.path();
        const probed = await probeFile(path, ffmpeg);
        const segments = toSnappedSegments(probed, [
          [0.5, 2.2],
          [3.1, 5.7],
        ]);
        const rotation = source.rotation ?? 0;
        const numbers = await sourceNumbers(path, rotation);
        const kept = segments.flatMap(({ startFrame, endFrame }) => numbers.slice(startFrame!, endFrame!));
        const { width, height } = probed.info.video!;
        const output = { resolution: `${Math.min(width, height) * 0.8}p` };
        await withRender({ path, probed, segments, output, ffmpeg }, async (rendered) => {
          expect(rendered.result.strategy).toBe("chunked");
          const made = (await probeFile(rendered.path)).info.video!;
          expect([made.width, made.height]).toEqual([width * 0.8, height * 0.8]);
          const back = `scale=${width}:${height}:flags=neighbor,${rotation === 270 ? "transpose=1," : ""}`;
          expect(await readFrameNumbers(rendered.path, back)).toEqual(kept);
        });
      });
});
