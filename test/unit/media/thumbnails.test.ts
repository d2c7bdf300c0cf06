/** Filmstrips and posters of recordings of which frames cannot be decoded, and on a full disk. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Ffmpeg } from "../../../src/media/ffmpeg";
import { createFilmstrip, createPoster } from "../../../src/media/thumbnails";
import { temporaryFolder } from "../../temporary-folder";
import { bundledFfmpeg, generate, runTool } from "./generated-media";
import { probeFile } from "./rendering";

setDefaultTimeout(120_000);

const COUNT = 20;

/** Ten seconds that become brighter by 20 of 255 each second, in 8 or 10 bits. */
const createRamp = (format = "yuv420p") =>
  generate(
    `ramp-${format}.mp4`,
    ...["-f", "lavfi", "-i", "color=black:s=160x90:r=10:d=10"],
    ...["-vf", `format=yuv444p,geq=lum='16+20*T':cb=128:cr=128,format=${format}`],
    ...["-c:v", "libx264", "-g", "1", "-qp", "10"],
  );

/** Returns an ffmpeg that runs these lines of a shell script first. `$ALL` are its arguments. */
async function createWrapper(folder: string, lines: string): Promise<Ffmpeg> {
  const path = join(folder, "ffmpeg");
  await Bun.write(path, `#!/bin/sh\nALL="$*"\n${lines}\nexec ${bundledFfmpeg.path} "$@"\n`);
  await chmod(path, 0o755);
  return { ...bundledFfmpeg, path };
}

/** Returns the brightness of each frame of a filmstrip. */
async function readBrightness(path: string): Promise<number[]> {
  const filter = `scale=${COUNT}:1:flags=area,format=gray`;
  return [
    ...(await runTool([bundledFfmpeg.path, "-v", "error", "-i", path, "-vf", filter, "-f", "rawvideo", "pipe:1"])),
  ];
}

test("a frame that cannot be decoded is replaced by the nearest one, and the others keep their places", async () => {
  await using folder = await temporaryFolder();
  const path = await createRamp();
  const probed = await probeFile(path, bundledFfmpeg);
  const [whole, partial] = [join(folder.path, "whole.jpg"), join(folder.path, "partial.jpg")];
  await createFilmstrip({ ffmpeg: bundledFfmpeg, path, probed, outputPath: whole });
  const events: [string, object][] = [];
  const ffmpeg = await createWrapper(
    folder.path,
    'case "$ALL" in *.0.still.jpg*.part*|*.1.still.jpg*.part*|*.7.still.jpg*.part*) echo broken >&2; exit 1;; esac',
  );
  const found = await createFilmstrip({
    ...{ ffmpeg, path, probed, outputPath: partial },
    log: (event, fields) => void events.push([event, fields]),
  });
  expect(found.count).toBe(COUNT);
  const expected = await readBrightness(whole);
  for (const [missing, nearest] of [
    [0, 2],
    [1, 2],
    [7, 6],
  ] as const)
    expected[missing] = expected[nearest]!;
  for (const [n, brightness] of (await readBrightness(partial)).entries())
    expect(Math.abs(brightness - expected[n]!)).toBeLessThan(3);
  expect(expected[19]! - expected[2]!).toBeGreaterThan(100);
  expect(events).toEqual([["stills.retried", { stills: COUNT, error: "broken" }]]);
  expect((await readdir(folder.path)).sort()).toEqual(["ffmpeg", "partial.jpg", "whole.jpg"]);
});

test.each([0, 1])("a full disk is storage_full when ffmpeg exits with %d, without a truncated image", async (code) => {
  await using folder = await temporaryFolder();
  const path = await createRamp();
  const probed = await probeFile(path, bundledFfmpeg);
  const ffmpeg = await createWrapper(
    folder.path,
    `for last in "$@"; do :; done
echo half > "$(echo "$last" | cut -c6-)"; echo run >> ${folder.path}/runs
echo "write error: No space left on device" >&2; exit ${code}`,
  );
  for (const create of [createPoster, createFilmstrip])
    await expect(create({ ffmpeg, path, probed, outputPath: join(folder.path, "image.jpg") })).rejects.toMatchObject({
      code: "storage_full",
    });
  expect((await readdir(folder.path)).sort()).toEqual(["ffmpeg", "runs"]);
  expect(await Bun.file(join(folder.path, "runs")).text()).toBe("run\nrun\n");
});

test.each([
  ["yuv420p", 1],
  ["yuv420p10le", 2],
])("the frames of a process have time and one thread each, and fit into its memory: %s", async (format, processes) => {
  await using folder = await temporaryFolder();
  const path = await createRamp(format);
  const probed = await probeFile(path, bundledFfmpeg);
  // As if it were 1080p.
  const video = { ...probed.info.video!, codedWidth: 1920, codedHeight: 1080 };
  const ffmpeg = await createWrapper(folder.path, `echo "$(ulimit -t) $ALL" >> ${folder.path}/runs`);
  const outputPath = join(folder.path, "strip.jpg");
  await createFilmstrip({ ffmpeg, path, probed: { ...probed, info: { ...probed.info, video } }, outputPath });
  const runs = (await Bun.file(join(folder.path, "runs")).text()).trim().split("\n");
  // The last one puts the frames side by side.
  const stills = runs.slice(0, -1);
  expect(stills.length).toBe(processes);
  const seconds = Number.parseInt(runs.at(-1)!, 10);
  for (const run of stills) {
    const frames = COUNT / processes;
    expect(run.split(" -threads 1 ").length - 1).toBe(2 * frames);
    expect(run).toContain(" -filter_threads 1 ");
    expect(Number.parseInt(run, 10)).toBe(seconds * frames);
  }
});
