import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type OutputRequest, resolveOutput } from "../../../src/domain/render-output";
import { RenderYielded } from "../../../src/media/parallel";
import { renderMedia } from "../../../src/media/render";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import { bundledFfmpeg, generate, h264, picture, sound } from "./generated-media";
import { expectExactPicture, probeFile, segmentsOf, sourceNumbers } from "./rendering";

setDefaultTimeout(120_000);

const SECONDS = 100;
/** Keyframes are far apart, so that a smart render too has much to encode. */
const source = () =>
  generate(
    "long-gop-100s.mp4",
    ...picture("30", SECONDS, "640x360"),
    ...sound(48_000, 2, SECONDS),
    ...h264(120, "-keyint_min", "120", "-sc_threshold", "0"),
    ...["-c:a", "aac", "-b:a", "96k"],
  );
const PLAN = Array.from({ length: SECONDS / 5 }, (_, n) => [n * 5 + 0.7, n * 5 + 4.6] as const);

type Event = { event: string; reused?: number; chunks?: number };

async function job(output: OutputRequest, folder: string) {
  const path = await source();
  const probed = await probeFile(path);
  const resolved = resolveOutput(probed, output);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const segments = segmentsOf(probed, PLAN);
  const outputPath = join(folder, "out.mp4");
  const workDir = join(folder, "work");
  const events: Event[] = [];
  const run = (shouldPause?: () => boolean) =>
    renderMedia(
      { sourcePath: path, probed, segments, output: resolved.output, workDir, outputPath },
      {
        ...{ ffmpeg: bundledFfmpeg, encoder: "libx264", maxProcesses: 2 },
        log: (event, fields) => events.push({ event, ...fields }),
        ...(shouldPause === undefined ? {} : { shouldYield: shouldPause }),
      },
    );
  /** The finished pieces of the picture, with when they were written. */
  const finished = async () => {
    const names = existsSync(workDir) ? await readdir(workDir) : [];
    const pieces = names.filter((name) => /^(chunk|splice)-[0-9a-f]+\.mp4$/.test(name)).sort();
    return await Promise.all(pieces.map(async (name) => ({ name, at: (await stat(join(workDir, name))).mtimeMs })));
  };
  /** Goes on, and holds what came out against the source. */
  const goOn = async (before: { name: string; at: number }[]) => {
    const result = await run();
    const { reused, chunks } = events.find(({ event }) => event === `render.${result.strategy}`)!;
    expect(reused).toBe(before.length);
    expect(chunks).toBeGreaterThan(before.length);
    expect(await finished()).toEqual(expect.arrayContaining(before));
    await expectExactPicture({ path: outputPath, probed, segments }, await sourceNumbers(path, 0));
    return result;
  };
  return { path, workDir, outputPath, events, run, finished, goOn };
}

const WAYS: [string, OutputRequest][] = [
  ["smart", {}],
  ["chunked", { video_bitrate: 400_000 }],
];

test.each(WAYS)("a %s render that was killed encodes only what was not finished", async (strategy, output) => {
  await using folder = await temporaryFolder();
  const { path, workDir, outputPath, finished, goOn } = await job(output, folder.path);
  const script = join(import.meta.dir, "render-child.ts");
  const child = Bun.spawn(
    [process.execPath, script, path, workDir, outputPath, JSON.stringify(PLAN), JSON.stringify(output)],
    {
      stdout: "ignore",
      stderr: "inherit",
    },
  );
  await until("a finished piece", async () => (await finished()).length > 0, 60);
  child.kill("SIGKILL");
  await child.exited;
  expect(existsSync(outputPath)).toBe(false);
  expect((await goOn(await finished())).strategy).toBe(strategy as "smart");
});

test.each(WAYS)(
  "a %s render that is asked to pause does so between two pieces, and goes on",
  async (strategy, output) => {
    await using folder = await temporaryFolder();
    const { workDir, outputPath, run, finished, goOn } = await job(output, folder.path);
    let asked = 0;
    await expect(run(() => asked++ >= 2)).rejects.toBeInstanceOf(RenderYielded);
    expect(existsSync(outputPath)).toBe(false);
    const done = await finished();
    expect(done).toHaveLength(2);
    // Nothing half done is left, and the sound has not been begun for nothing.
    const names = await readdir(workDir);
    expect(names.filter((name) => name.startsWith("sound-"))).toHaveLength(1);
    expect(names.filter((name) => name.includes(".part"))).toEqual([]);
    expect((await goOn(done)).strategy).toBe(strategy as "smart");
  },
);
