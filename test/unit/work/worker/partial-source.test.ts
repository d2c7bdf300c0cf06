/** Chunks of a source of which the worker fetches only the parts that it reads. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openBlobCache } from "../../../../src/blobs/blob-cache";
import { newId } from "../../../../src/lib/ids";
import { createLog } from "../../../../src/lib/log";
import type { SplitPlan } from "../../../../src/media/split-render";
import { createHead } from "../../../../src/outbound/head";
import { writeProbed } from "../../../../src/work/assets/prepared-files";
import type { MediaTools } from "../../../../src/work/jobs/media-tools";
import { createExecutor } from "../../../../src/work/worker/executor";
import { openWorkFolders } from "../../../../src/work/worker/work-folders";
import { isFullSize } from "../../../full-size";
import { startTcpProxy, type TcpProxy } from "../../../tcp-proxy";
import { temporaryFolder } from "../../../temporary-folder";
import { aac, audioInput, generate, h264, videoInput } from "../../media/generated-media";
import { probeFile } from "../../media/rendering";
import { createRender, createTools } from "../jobs/split-places";
import { type FakeExecution, type FakeHead, startFakeHead } from "./fake-head";

setDefaultTimeout(60_000);

const PART_BYTES = 16 * 1024;
const roomy = { availableBytes: () => 1e12, claim: (_bytes: number) => true };
type Render = Awaited<ReturnType<typeof createRender>>;
type ChunkedPlan = Extract<SplitPlan, { strategy: "chunked" }>;

/** A worker with a folder of its own. `minPartialBytes`: of the sources that it does not fetch first. */
async function openWorker(network: TcpProxy, folder: string, minPartialBytes: number) {
  const tools = { ...createTools(), temporaryFolder: folder, speech: null } as unknown as MediaTools;
  const run = createExecutor({
    tools,
    head: createHead({ url: `http://127.0.0.1:${network.port}`, token: "wt_secret", ca: null }),
    cache: await openBlobCache({ folder: join(folder, "cache"), maxBytes: 1e9, disk: roomy, partBytes: PART_BYTES }),
    workFolders: await openWorkFolders(join(folder, "work")),
    minPartialBytes,
    log: createLog(() => {}, false),
  });
  const boot = { workerId: newId(), bootId: newId() };
  /** Returns the number of bytes that the head has sent in the meantime. */
  return async ({ id, url }: FakeExecution, signal = new AbortController().signal): Promise<number> => {
    const before = network.bytes.to_client;
    const control = { boot, signal, isDraining: () => false, shouldYield: () => false, progress: () => {} };
    await run({ execution: id, url }, control);
    return network.bytes.to_client - before;
  };
}

async function openSource(
  head: FakeHead,
  folder: string,
  { path, probed, input }: Pick<Render, "path" | "probed" | "input">,
) {
  await writeProbed(join(folder, "probed.json"), probed);
  const source = new Uint8Array(await readFile(path));
  const files = [
    { name: "source", content: source },
    { name: "probed.json", content: new Uint8Array(await readFile(join(folder, "probed.json"))) },
  ];
  const places = [
    { slots: 1, pixelsPerSecond: 1e6 },
    { slots: 1, pixelsPerSecond: 1e6 },
  ];
  const chunk = (plan: ChunkedPlan, n: number) => {
    const piece = { kind: "video", settings: plan.settings, chunk: plan.tasks.at(n)! };
    return head.addExecution({
      kind: "chunk",
      input: { blobs: input.blobs, duration: input.duration, piece, slots: 2 },
      files,
    });
  };
  return {
    bytes: source.length,
    probedBytes: files[1]!.content.length,
    split: () => head.addExecution({ kind: "split", input: { ...input, places, sizes: null }, files }),
    chunk,
  };
}

const planOf = ({ results }: FakeExecution) => (results[0]!.output as { plan: ChunkedPlan }).plan;
const fileOf = ({ received }: FakeExecution) => [...received.values()][0]!;

test("a chunk needs the tables and its own part of the source, and its file is the same", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const render = await createRender();
  const source = await openSource(head, folder.path, render);
  const inParts = await openWorker(network, join(folder.path, "parts"), 0);
  const whole = await openWorker(network, join(folder.path, "whole"), Number.POSITIVE_INFINITY);

  const split = source.split();
  const splitBytes = await inParts(split);
  const plan = planOf(split);
  const reference = source.split();
  await whole(reference);
  expect(plan).toEqual(planOf(reference));
  expect(splitBytes).toBeLessThan(source.bytes / 2 + source.probedBytes);

  const [last, expected] = [source.chunk(plan, -1), source.chunk(plan, -1)];
  const lastBytes = await inParts(last);
  await whole(expected);
  expect(last.results).toMatchObject([{ status: "completed", output: { repaired: false } }]);
  expect(fileOf(last)).toEqual(fileOf(expected));
  expect(lastBytes).toBeLessThan(source.bytes / 2);
  // Another chunk at the same time, and one whose parts have already arrived.
  const [first, second, again] = [source.chunk(plan, 0), source.chunk(plan, 1), source.chunk(plan, 0)];
  await Promise.all([inParts(first), inParts(second)]);
  for (const { results } of [first, second]) expect(results).toMatchObject([{ status: "completed" }]);
  const work = await inParts(again);
  expect(fileOf(again)).toEqual(fileOf(first));
  expect(work).toBeLessThan(PART_BYTES);
});

test.if(isFullSize)("a source that only ffmpeg can read is fetched whole before it runs", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const render = await createRender();
  const path = await generate(
    "minute.avi",
    ...videoInput("30", 60, "320x96"),
    ...audioInput(48_000, 2, 60),
    ...h264(60),
    ...aac,
  );
  const probed = await probeFile(path);
  const source = await openSource(head, folder.path, { ...render, path, probed });
  const inParts = await openWorker(network, join(folder.path, "parts"), 0);
  const split = source.split();
  await inParts(split);
  const chunk = source.chunk(planOf(split), 1);
  expect(await inParts(chunk)).toBeGreaterThan(source.bytes - 2 * PART_BYTES);
  expect(chunk.results).toMatchObject([{ status: "completed", output: { repaired: false } }]);
});

test("an execution that is aborted while a part does not arrive ends, and the next one continues", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const source = await openSource(head, folder.path, await createRender());
  const inParts = await openWorker(network, join(folder.path, "parts"), 0);
  const split = source.split();
  await inParts(split);
  const plan = planOf(split);
  const [stuck, next] = [source.chunk(plan, 0), source.chunk(plan, 0)];
  stuck.isStuck = true;
  const stop = new AbortController();
  const running = inParts(stuck, stop.signal).catch((error: Error) => error.message);
  setTimeout(() => stop.abort(new Error("cancelled")), 500);
  expect(await running).toBe("cancelled");
  await inParts(next);
  expect(next.results).toMatchObject([{ status: "completed" }]);
});
