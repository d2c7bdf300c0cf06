/** A render at several places, each with its own folder, against the same render at one place. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, cp, mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../src/domain/errors";
import { JobYielded } from "../../../../src/domain/jobs";
import { CHUNK_SIZES_FILE, writeChunkSizes } from "../../../../src/media/chunks/sizes-file";
import type { SplitPlan } from "../../../../src/media/split-render";
import type { PieceCall } from "../../../../src/work/cluster/encode-pieces";
import { createChunkChecker } from "../../../../src/work/cluster/encode-pieces";
import { InvalidResultError } from "../../../../src/work/cluster/result-shapes";
import { runSplitRender, type SplitRenderOptions } from "../../../../src/work/cluster/split-render";
import { type RenderOutput, runRender } from "../../../../src/work/jobs/render-run";
import { runChunk, runSplit } from "../../../../src/work/jobs/split-run";
import { isFullSize } from "../../../full-size";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { runTool, systemFfmpeg } from "../../media/generated-media";
import { patchSampleTable, swapOffsets } from "../../media/mp4-patch";
import { expectExactVideo, sourceNumbers } from "../../media/rendering";
import { createPlace, createRender, createTools, hashContent, SLOTS, type TestPlace } from "../jobs/split-places";
import { createFakeExecutions, ENCODING, type FakePlace, fakePlace } from "./fake-executions";

setDefaultTimeout(180_000);

const tools = createTools();
/** Expected by the plan, so that a clip of 42 s has a few chunks. */
const SPEED = 5e6;
const PLACES = (): FakePlace[] => ["a", "b"].map((id) => fakePlace(id, { pixelsPerSecond: SPEED }));

let folder: TemporaryFolder;
let render: Awaited<ReturnType<typeof createRender>>;
let whole: {
  output: RenderOutput;
  content: Awaited<ReturnType<typeof hashContent>>;
  plan: Extract<SplitPlan, { strategy: "chunked" }>;
};
const machines = new Map<string, TestPlace>();

beforeAll(async () => {
  folder = await temporaryFolder();
  render = await createRender();
  for (const [n, id] of ["a", "b"].entries())
    machines.set(id, await createPlace(join(folder.path, id), render, n === 0 ? 0.125 : 0.75));
  const context = machines.get("a")!.context("whole");
  const places = PLACES().map(({ slots, pixelsPerSecond }) => ({ slots, pixelsPerSecond }));
  const { plan } = await runSplit(tools, { ...render.input, places, sizes: null }, context);
  if (plan.strategy !== "chunked") throw new Error("not split");
  await writeChunkSizes(context.workDir, plan.sizes);
  const output = await runRender(tools, render.input, context);
  whole = { output, content: await hashContent(join(context.outputDir, "output.mp4")), plan };
});
afterAll(() => folder[Symbol.asyncDispose]());

let executionCount = 0;

/** Runs a piece in the folder of a place, and sends the files as a worker does. */
async function runAt(placeId: string, call: PieceCall): Promise<unknown> {
  const place = machines.get(placeId)!;
  const context = place.context(`execution-${executionCount++}`, {
    signal: call.signal,
    progress: ({ share }) => call.onProgress(share),
  });
  await mkdir(context.workDir, { recursive: true });
  const renderDir = call.workDir;
  for (const name of call.workFiles) await copyFile(join(renderDir, name), join(context.workDir, name));
  const runs = { split: runSplit, chunk: runChunk, join: runRender };
  // The pieces of a render at one place have one thread each.
  const input = call.kind === "chunk" ? { ...call.input, slots: SLOTS } : call.input;
  const output = await runs[call.kind](tools, input as never, context);
  await mkdir(call.outputDir, { recursive: true });
  for (const { name } of output.blobs) {
    if (!call.outputs.some((one) => one.name === name)) throw new Error(`${name} may not be sent`);
    await rename(join(context.outputDir, name), join(call.outputDir, name));
  }
  return output;
}

type Run = typeof runAt;

/** Does the same as `runAt`, with the plan and the chunks of the whole render in place of encoding. */
const copyAt: Run = async (placeId, call) => {
  if (call.kind === "split") return { blobs: [], plan: whole.plan };
  if (call.kind === "join") return runAt(placeId, call);
  const { name } = call.outputs[0]!;
  await copyFile(join(wholeDir(), name), join(call.outputDir, name));
  return { blobs: [{ name, bytes: 1 }], seconds: 1, repaired: false };
};

const wholeDir = () => machines.get("a")!.context("whole").workDir;

async function start(name: string, run: Run = runAt, more: Partial<SplitRenderOptions> = {}, places = PLACES()) {
  const workDir = join(folder.path, name, "work");
  const outputDir = join(folder.path, name, "output");
  const executions = createFakeExecutions(places, run);
  const events: { event: string; [field: string]: unknown }[] = [];
  const shares: number[] = [];
  await mkdir(workDir, { recursive: true });
  const checker = createChunkChecker(tools, workDir);
  const attempt = async (again: Partial<SplitRenderOptions> = {}) =>
    await runSplitRender({
      input: render.input,
      workDir,
      outputDir,
      signal: new AbortController().signal,
      shouldYield: () => false,
      progress: (share) => shares.push(share),
      log: (event, fields) => events.push({ event, ...fields }),
      executions,
      slot: { placeId: "a", release: () => {} },
      runWhole: () => Promise.reject(new Error("the render ran whole")),
      checkChunk: checker.check,
      tickMs: 20,
      clock: () => performance.now(),
      ...more,
      ...again,
    }).finally(() => checker[Symbol.asyncDispose]());
  const listChunks = async () => (await readdir(workDir)).filter((file) => file.startsWith("chunk-"));
  return { workDir, outputDir, executions, events, shares, attempt, listChunks };
}

async function expectSameAsWhole({ outputDir }: { outputDir: string }, output: RenderOutput) {
  const { blobs: _, ...facts } = whole.output;
  expect(output).toMatchObject(facts);
  const path = join(outputDir, "output.mp4");
  expect(output.blobs).toEqual([{ name: "output.mp4", bytes: Bun.file(path).size }]);
  expect(await hashContent(path)).toEqual(whole.content);
}

const placesOf = (calls: { placeId: string; call: PieceCall }[], kind: string) =>
  new Set(calls.filter(({ call }) => call.kind === kind).map(({ placeId }) => placeId));

describe("a render at two places", () => {
  test.if(isFullSize)("equals the render at one place: every frame and the audio", async () => {
    const split = await start("plain");
    const output = await split.attempt();
    await expectSameAsWhole(split, output);
    const { probed, segments, path } = render;
    await expectExactVideo(
      { path: join(split.outputDir, "output.mp4"), probed, segments },
      await sourceNumbers(path, 0),
    );
    expect(placesOf(split.executions.calls, "chunk")).toEqual(new Set(["a", "b"]));
    expect(split.executions.calls.filter(({ call }) => call.kind === "chunk").length).toBe(whole.plan.tasks.length + 1);
    expect(split.shares).toEqual(split.shares.toSorted((a, b) => a - b));
    expect(split.shares.at(-1)).toBe(1);
    expect(split.executions.held()).toBe(0);
  });

  test("survives a killed place and wrong files, each of which is refused", async () => {
    const faults = new Map<string, string>();
    const split = await start("faults", async (placeId, call) => {
      const output = await copyAt(placeId, call);
      const { name = "" } = call.outputs[0] ?? {};
      const fault = [...FAULTS.keys(), "kill"][faults.size];
      if (call.kind !== "chunk" || !name.endsWith(".mp4") || fault === undefined) return output;
      if ([...faults.values()].includes(name)) return output;
      faults.set(fault, name);
      if (fault === "kill") split.executions.remove(placeId);
      else await FAULTS.get(fault)!(join(call.outputDir, name), name);
      return output;
    });
    const output = await split.attempt();
    await expectSameAsWhole(split, output);
    const failed = split.events.filter(({ event }) => event === "chunk.failed").map(({ chunk }) => chunk);
    expect([...FAULTS.keys()].filter((fault) => !failed.includes(faults.get(fault)))).toEqual([]);
    expect(failed).toHaveLength(FAULTS.size);
    expect(split.events.some(({ event, chunk }) => event === "chunk.lost" && chunk === faults.get("kill"))).toBe(true);
  });

  test("yields, and continues with its chunks: at several places, and at one", async () => {
    let done = 0;
    const split = await start("yield", async (placeId, call) => {
      const output = await copyAt(placeId, call);
      if (call.kind === "chunk") done++;
      return output;
    });
    await expect(split.attempt({ shouldYield: () => done >= 2 })).rejects.toBeInstanceOf(JobYielded);
    const finished = await split.listChunks();
    expect(finished.length).toBeGreaterThan(0);
    expect(finished.length).toBeLessThan(whole.plan.tasks.length);
    const before = split.executions.calls.length;
    await expect(
      split.attempt({ shouldYield: () => split.executions.calls.length > before + 2 }),
    ).rejects.toBeInstanceOf(JobYielded);
    const local = machines.get("b")!.context("local", { workDir: split.workDir, outputDir: split.outputDir });
    const reused = (await split.listChunks()).length;
    expect(reused).toBeGreaterThan(finished.length);
    const events: object[] = [];
    const log = (event: string, fields: object) => events.push({ event, ...fields });
    await expectSameAsWhole(split, await runRender(tools, render.input, { ...local, log }));
    expect(events).toContainEqual(expect.objectContaining({ event: "render.chunks_encoded", reused_chunks: reused }));
    const chunks = split.executions.calls
      .filter(({ call }) => call.kind === "chunk")
      .map(({ call }) => call.outputs[0]!.name);
    expect(new Set(chunks).size).toBe(chunks.length);
  });

  const otherPlace = () => fakePlace("other", { slots: 1, encoding: { ...ENCODING, ffmpeg: "7.1" } });

  test("leaves out a place with another ffmpeg, also when it is the only free one", async () => {
    const split = await start("group", copyAt, {}, [otherPlace(), ...PLACES()]);
    await expectSameAsWhole(split, await split.attempt());
    expect([...placesOf(split.executions.calls, "chunk")].toSorted()).toEqual(["a", "b"]);
    expect(split.executions.calls.some(({ placeId }) => placeId === "other")).toBe(false);
  });

  test("yields when all places with its ffmpeg are gone before its chunks are joined", async () => {
    let late = 0;
    const clock = () => performance.now() + late;
    const split = await start(
      "upgrade",
      async (placeId, call) => {
        if (call.kind !== "join") return copyAt(placeId, call);
        for (const { id } of PLACES()) split.executions.remove(id);
        late = 60_000;
        return new Promise(() => {});
      },
      { clock },
      [otherPlace(), ...PLACES()],
    );
    // Its clock continues when the places are gone.
    const jump = setInterval(() => {
      if (late > 0) late += 60_000;
    }, 10);
    await expect(split.attempt()).rejects.toBeInstanceOf(JobYielded);
    clearInterval(jump);
    expect((await split.listChunks()).length).toBe(whole.plan.tasks.length);
    expect(split.executions.held()).toBe(0);
  });

  test("is cancelled without an output", async () => {
    const abort = new AbortController();
    const split = await start("cancel", async (placeId, call) => {
      if (split.executions.calls.length < 4) return copyAt(placeId, call);
      abort.abort(new Error("cancelled"));
      return runAt(placeId, call);
    });
    await expect(split.attempt({ signal: abort.signal })).rejects.toThrow("cancelled");
    expect(await readdir(split.outputDir).catch(() => [])).toEqual([]);
    expect(split.executions.held()).toBe(0);
  });

  test.each([
    ["do not fit", new AppError("processing_failed", "The video chunks could not be joined.")],
    ["become a wrong file", new InvalidResultError("the video has 7 frames")],
  ])("runs whole when the chunks %s, without them", async (name, error) => {
    await cp(wholeDir(), join(folder.path, name, "work"), { recursive: true });
    const split = await start(name, async (placeId, call) => {
      if (call.kind === "join") throw error;
      return copyAt(placeId, call);
    });
    let left: string[] = [];
    const runWhole = async () => {
      left = await readdir(split.workDir);
      return whole.output;
    };
    expect(await split.attempt({ runWhole })).toEqual(whole.output);
    expect(left).toEqual([CHUNK_SIZES_FILE]);
    expect(split.events.some(({ event, step }) => event === "render.fell_back" && step === "joining")).toBe(true);
  });
});

test("a render whose chunks are wrong from all workers runs whole", async () => {
  const places = PLACES().map((place) => ({ ...place, isLocal: false }));
  const split = await start("wrong", copyAt, { checkChunk: async () => "it is wrong" }, places);
  expect(await split.attempt({ runWhole: async () => whole.output })).toEqual(whole.output);
  expect(split.events.some(({ event, step }) => event === "render.fell_back" && step === "encoding")).toBe(true);
});

describe("a render runs whole", () => {
  const runWhole = async () => whole.output;
  const never: Run = () => Promise.reject(new Error("nothing runs at the places"));
  const other = { ffmpeg: "7.1", libavutil: 59, encoder: "libx264", hasZscale: true };

  test.each<[string, FakePlace[]]>([
    ["no place", []],
    ["one place", [fakePlace("a", { slots: 8 })]],
    ["places with different encoders", [fakePlace("a"), fakePlace("b", { encoding: other })]],
  ])("with %s", async (_, places) => {
    const split = await start("one", never, { runWhole }, places);
    expect(await split.attempt()).toEqual(whole.output);
  });

  test("when it is short, without video, or when packets are copied", async () => {
    const inputs = [(await createRender({})).input, (await createRender({ format: "m4a" })).input];
    const short = { ...render.input, duration: 29e6 };
    for (const input of [...inputs, short]) {
      const split = await start("one", never, { runWhole, input });
      expect(await split.attempt()).toEqual(whole.output);
    }
  });
});

test("a plan that names other files, sizes or options is refused", async () => {
  type Plan = Extract<SplitPlan, { strategy: "chunked" }>;
  const forgeries: ((plan: Plan) => unknown)[] = [
    () => null,
    (plan) => ({ ...plan, tasks: [] }),
    (plan) => ({ ...plan, frameCount: 1 }),
    (plan) => ({ ...plan, sizes: [0] }),
    (plan) => ({ ...plan, audio: "../../x.m4a" }),
    (plan) => ({ ...plan, settings: { ...plan.settings, width: "1:1,movie=x" } }),
    (plan) => ({ ...plan, settings: { ...plan.settings, encoder: "rawvideo" } }),
    (plan) => ({ ...plan, settings: { ...plan.settings, quality: { bitrate: "1 -f tee" } } }),
    (plan) => ({ ...plan, tasks: [...plan.tasks, plan.tasks[0]] }),
  ];
  for (const forge of forgeries) {
    const split = await start("forged", async (_, call) => {
      if (call.kind !== "split") throw new Error("the plan was accepted");
      return { blobs: [], plan: forge(whole.plan) };
    });
    await expect(split.attempt()).rejects.toThrow("plan of the split render is not valid");
  }
});

/**
 * Changes that a place may make to the file of a chunk. All but the first change the decoded picture without an error.
 */
const FAULTS = new Map<string, (path: string, name: string) => Promise<unknown>>([
  ["flipped bytes", (path) => edit(path, (file) => file.fill(0xff, file.length >> 1, (file.length >> 1) + 4_096))],
  ["another chunk", async (path, name) => copyFile(await findOtherChunk(name), path)],
  ["a missing frame", (path, name) => convert(path, name, ["-c", "copy", "-frames:v", String(countOf(name) - 1)])],
  ["another size", (path, name) => convert(path, name, ["-vf", "scale=160:48", "-c:v", "libx264"])],
  ["other times", (path) => edit(path, (file) => patchSampleTable(file, ["ctts"], swapOffsets))],
]);

const countOf = (name: string) => whole.plan.tasks.find((task) => task.name === name)!.task.frameCount;

async function edit(path: string, change: (file: Uint8Array) => Uint8Array): Promise<void> {
  await Bun.write(path, change(await Bun.file(path).bytes()));
}

/** Replaces the file of a chunk by another one with its name in it. */
async function convert(path: string, name: string, options: string[]): Promise<void> {
  const changed = `${path}.changed.mp4`;
  const input = ["-v", "error", "-nostdin", "-i", path, ...options, "-metadata", `comment=${name}`];
  await runTool([systemFfmpeg.path, ...input, changed]);
  await rename(changed, path);
}

/** Returns a chunk of the whole render that is another one than this file. */
async function findOtherChunk(name: string): Promise<string> {
  const names = (await readdir(wholeDir())).filter((file) => file.startsWith("chunk-"));
  return join(
    wholeDir(),
    names.find((other) => other !== name && countOf(other) === countOf(name)) ?? names.find((other) => other !== name)!,
  );
}
