import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { JobYielded } from "../../../src/domain/jobs";
import { type OutputRequest, resolveOutput } from "../../../src/domain/render-output";
import { renderMedia } from "../../../src/media/render";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import { aac, audioInput, bundledFfmpeg, generate, h264, videoInput } from "./generated-media";
import { expectExactVideo, probeFile, sourceNumbers, toSnappedSegments } from "./rendering";

setDefaultTimeout(120_000);

/** Enough frames for four tasks of splices. The frames are small because only their number matters. */
const SECONDS = 140;
/** Keyframes are six seconds apart, so that a smart render must encode six seconds. */
const source = () =>
  generate(
    "many-gops.mp4",
    ...videoInput("30", SECONDS, "320x96"),
    ...audioInput(48_000, 2, SECONDS),
    ...h264(180, "-keyint_min", "180", "-sc_threshold", "0"),
    ...aac,
  );
const PLAN = Array.from({ length: SECONDS / 5 }, (_, n) => [n * 5 + 0.7, n * 5 + 4.6] as const);

let numbers: Promise<number[]> | null = null;
const readNumbersOnce = (path: string): Promise<number[]> => {
  numbers ??= sourceNumbers(path, 0);
  return numbers;
};

type Event = { event: string; chunks?: number; reused_chunks?: number; tasks?: number; reused_tasks?: number };

async function job(output: OutputRequest, folder: string) {
  const path = await source();
  const probed = await probeFile(path);
  const resolved = resolveOutput(probed, output);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const segments = toSnappedSegments(probed, PLAN);
  const outputPath = join(folder, "out.mp4");
  const workDir = join(folder, "work");
  const events: Event[] = [];
  const run = (shouldYield?: () => boolean) =>
    renderMedia(
      { sourcePath: path, probed, segments, output: resolved.output, workDir, outputPath },
      {
        ffmpeg: bundledFfmpeg,
        chooseEncoder: async () => "libx264",
        maxProcesses: 2,
        log: (event, fields) => events.push({ event, ...fields }),
        shouldYield,
      },
    );
  /** Lists the finished video chunks with their modification times. */
  const listFinished = async () => {
    const names = existsSync(workDir) ? await readdir(workDir) : [];
    const chunkNames = names.filter((name) => /^(chunk|splice)-[0-9a-f]+\.mp4$/.test(name)).sort();
    return await Promise.all(chunkNames.map(async (name) => ({ name, at: (await stat(join(workDir, name))).mtimeMs })));
  };
  /** Resumes, and compares the result with the source. */
  const resume = async (before: { name: string; at: number }[]) => {
    const result = await run();
    const encoded = events.find(({ event }) => event.endsWith("s_encoded"))!;
    expect(encoded.reused_chunks ?? encoded.reused_tasks).toBe(before.length);
    expect(encoded.chunks ?? encoded.tasks).toBeGreaterThan(before.length);
    expect(await listFinished()).toEqual(expect.arrayContaining(before));
    await expectExactVideo({ path: outputPath, probed, segments }, await readNumbersOnce(path));
    return result;
  };
  return { path, workDir, outputPath, events, run, listFinished, resume };
}

const WAYS: [string, OutputRequest][] = [
  ["smart", {}],
  ["chunked", { video_bitrate: 100_000 }],
];

test.each(WAYS)("a killed %s render encodes only unfinished parts", async (strategy, output) => {
  await using folder = await temporaryFolder();
  const { path, workDir, outputPath, listFinished, resume } = await job(output, folder.path);
  const script = join(import.meta.dir, "render-child.ts");
  const child = Bun.spawn(
    [process.execPath, script, path, workDir, outputPath, JSON.stringify(PLAN), JSON.stringify(output)],
    {
      stdout: "ignore",
      stderr: "inherit",
    },
  );
  await until("a finished chunk", async () => (await listFinished()).length > 0, 60);
  child.kill("SIGKILL");
  await child.exited;
  expect(existsSync(outputPath)).toBe(false);
  expect((await resume(await listFinished())).strategy).toBe(strategy as "smart");
});

test.each(WAYS)(
  "a %s render that is asked to yield does so between two chunks, and resumes",
  async (strategy, output) => {
    await using folder = await temporaryFolder();
    const { workDir, outputPath, run, listFinished, resume } = await job(output, folder.path);
    let polls = 0;
    await expect(run(() => polls++ >= 1)).rejects.toBeInstanceOf(JobYielded);
    expect(existsSync(outputPath)).toBe(false);
    const done = await listFinished();
    expect(done).toHaveLength(2);
    // No incomplete files are left, and the audio was completed.
    const names = await readdir(workDir);
    expect(names.filter((name) => name.startsWith("audio-"))).toHaveLength(1);
    expect(names.filter((name) => name.includes(".part"))).toEqual([]);
    expect((await resume(done)).strategy).toBe(strategy as "smart");
  },
);

test.each(WAYS)("a %s render that is always asked to yield encodes some chunks each time", async (strategy, output) => {
  await using folder = await temporaryFolder();
  const { run, listFinished } = await job(output, folder.path);
  for (let done = 0; ; ) {
    const result = await run(() => true).catch((error) => error);
    if (!(result instanceof JobYielded)) {
      expect(result.strategy).toBe(strategy);
      return;
    }
    const { length } = await listFinished();
    expect(length).toBeGreaterThan(done);
    done = length;
  }
});
