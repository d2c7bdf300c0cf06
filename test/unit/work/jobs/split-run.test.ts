/** The pieces of a render at several places. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFile, copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { JobYielded } from "../../../../src/domain/jobs";
import { type ExpectedChunk, findChunkProblem } from "../../../../src/media/chunks/check";
import { CHUNK_SIZES_FILE, readChunkSizes, writeChunkSizes } from "../../../../src/media/chunks/sizes-file";
import { runRender } from "../../../../src/work/jobs/render-run";
import { type ChunkInput, runChunk, runSplit, type SplitPiece } from "../../../../src/work/jobs/split-run";
import { isFullSize } from "../../../full-size";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg } from "../../media/generated-media";
import { expectExactVideo, sourceNumbers } from "../../media/rendering";
import { createPlace, createRender, createTools, hashContent, SLOTS, type TestPlace } from "./split-places";

setDefaultTimeout(180_000);

const tools = createTools();
const PLACES = [
  { slots: 1, pixelsPerSecond: 2e6 },
  { slots: 1, pixelsPerSecond: null },
];

let folder: TemporaryFolder;
let render: Awaited<ReturnType<typeof createRender>>;
let places: [TestPlace, TestPlace];

beforeAll(async () => {
  folder = await temporaryFolder();
  render = await createRender();
  places = [
    await createPlace(join(folder.path, "one"), render, 0.125),
    await createPlace(join(folder.path, "two"), render, 0.75),
  ];
});
afterAll(() => folder[Symbol.asyncDispose]());

async function plan(place: TestPlace, sizes: number[] | null = null) {
  const input = JSON.parse(JSON.stringify({ ...render.input, places: PLACES, sizes }));
  const output = await runSplit(tools, input, place.context("split"));
  if (output.plan.strategy !== "chunked") throw new Error("not split");
  return output.plan;
}

const toChunkInput = (piece: SplitPiece): ChunkInput =>
  JSON.parse(
    JSON.stringify({ blobs: render.input.blobs, duration: render.input.duration, piece, slots: SLOTS }),
  ) as ChunkInput;

type Split = Awaited<ReturnType<typeof plan>>;

const listPieces = ({ settings, tasks, audio }: Split): SplitPiece[] => [
  ...tasks.map((chunk): SplitPiece => ({ kind: "video", settings, chunk })),
  { kind: "audio", name: audio!, plan: render.input.plan, output: render.input.output },
];

describe("a render in pieces", () => {
  test("has the same plan at every place", async () => {
    const [one, two] = [await plan(places[0]), await plan(places[1])];
    expect(two).toEqual(one);
    expect(one.frameCount).toBe(one.tasks.reduce((sum, { task }) => sum + task.frameCount, 0));
    expect(one.tasks.length).toBeGreaterThan(5);
    expect(new Set(one.tasks.map(({ name }) => name)).size).toBe(one.tasks.length);
    expect(await plan(places[1], one.sizes)).toEqual(one);
    expect((await plan(places[1], [1, 2, 3])).sizes).toEqual(one.sizes);
  });

  // The orchestration's test compares the same with two places.
  test.if(isFullSize)("equals the render at one place: every frame and the audio", async () => {
    const split = await plan(places[0]);
    const workDir = join(folder.path, "one", "join", "work");
    await mkdir(workDir, { recursive: true });
    for (const [n, piece] of listPieces(split).entries()) {
      const context = places[n % 2]!.context(`piece-${n}`);
      const output = await runChunk(tools, toChunkInput(piece), context);
      expect(await readdir(context.workDir)).toEqual([]);
      const [{ name, bytes }] = output.blobs as [{ name: string; bytes: number }];
      const path = join(context.outputDir, name);
      expect(Bun.file(path).size).toBe(bytes);
      expect(output.seconds).toBeGreaterThan(0);
      const { width, height } = split.settings;
      const expected: ExpectedChunk =
        piece.kind === "audio"
          ? { kind: "audio", seconds: split.seconds }
          : {
              ...{ kind: "video", name, width, height },
              frameCount: piece.chunk.task.frameCount,
              frameRate: piece.chunk.task.timing.rate,
            };
      expect(await findChunkProblem({ ffmpeg: bundledFfmpeg, path, expected, decode: "sample" })).toBeNull();
      await copyFile(path, join(workDir, name));
      // A second attempt at the same place finds the file.
      expect(await runChunk(tools, toChunkInput(piece), context)).toMatchObject({ blobs: output.blobs, seconds: 0 });
    }
    await writeChunkSizes(workDir, split.sizes);
    const logs: Record<string, unknown>[] = [];
    const log = (event: string, fields: object) => logs.push({ event, ...fields });
    const joined = await runRender(tools, render.input, places[0].context("join", { log }));
    expect(logs.find(({ event }) => event === "render.chunks_encoded")).toMatchObject({
      chunks: split.tasks.length,
      reused_chunks: split.tasks.length,
    });
    const whole = places[1].context("whole");
    await writeChunkSizes(whole.workDir, split.sizes);
    const { blobs, ...facts } = await runRender(tools, render.input, whole);
    expect(joined).toMatchObject(facts);
    const joinedPath = join(folder.path, "one", "join", "outputs", "output.mp4");
    expect(await hashContent(joinedPath)).toEqual(await hashContent(join(whole.outputDir, "output.mp4")));
    const { probed, segments } = render;
    await expectExactVideo({ path: joinedPath, probed, segments }, await sourceNumbers(render.path, 0));
  });

  test("is planned with the chunks of a whole render that yielded", async () => {
    let polls = 0;
    const context = places[0].context("yielded", { shouldYield: () => polls++ >= 0 });
    await expect(runRender(tools, render.input, context)).rejects.toBeInstanceOf(JobYielded);
    const sizes = await readChunkSizes(context.workDir, null);
    const split = await plan(places[1], sizes);
    expect(split.sizes).toEqual(sizes!);
    const names = (await readdir(context.workDir)).filter((name) => name !== CHUNK_SIZES_FILE);
    const planned = listPieces(split).map((piece) => (piece.kind === "audio" ? piece.name : piece.chunk.name));
    expect(planned).toEqual(expect.arrayContaining(names));
    expect(names).toContain(split.audio!);
  });

  test("runs whole when packets are copied, without video, and when it is short", async () => {
    const outputs = [(await createRender({})).input, (await createRender({ format: "m4a" })).input];
    const short = {
      ...render.input,
      plan: JSON.stringify({ segments: [{ start: 0, end: 29, start_frame: 0, end_frame: 870 }] }),
    };
    for (const input of [...outputs, short]) {
      const output = await runSplit(tools, { ...input, places: PLACES, sizes: null }, places[0].context("whole-split"));
      expect(output).toEqual({ blobs: [], plan: { strategy: "whole" } });
    }
  });

  test("a place with another source, another ffmpeg or a forged name encodes nothing", async () => {
    const pieces = listPieces(await plan(places[0]));
    const [piece, audio] = [pieces[0]!, pieces.at(-1)!];
    const other = await createPlace(join(folder.path, "other"), render, 0);
    await appendFile(other.context("").getInputPath("source"), "x");
    const changed = createTools({ ...bundledFfmpeg, version: "another" });
    for (const wanted of [piece, audio]) {
      await expect(runChunk(tools, toChunkInput(wanted), other.context("x"))).rejects.toThrow("another source");
      await expect(runChunk(changed, toChunkInput(wanted), places[0].context("x"))).rejects.toThrow("another source");
    }
    for (const name of ["../../evil.mp4", "chunk-0.mp4", `${(piece as { chunk: { name: string } }).chunk.name}/x`])
      await expect(
        runChunk(tools, toChunkInput({ ...(audio as SplitPiece & { kind: "audio" }), name }), places[0].context("x")),
      ).rejects.toThrow("no valid name");
  });
});

test("invalid sizes are ignored", async () => {
  await using dir = await temporaryFolder();
  expect(await readChunkSizes(dir.path, 10)).toBeNull();
  await writeChunkSizes(dir.path, [4, 6]);
  expect(await readChunkSizes(dir.path, 10)).toEqual([4, 6]);
  expect(await readChunkSizes(dir.path, 11)).toBeNull();
  for (const text of ["", "{}", "[]", "[0,10]", "[5.5,4.5]", '["10"]', "[1e9]", `[${"1,".repeat(600_000)}1]`]) {
    await Bun.write(join(dir.path, CHUNK_SIZES_FILE), text);
    expect(await readChunkSizes(dir.path, null)).toBeNull();
  }
});
