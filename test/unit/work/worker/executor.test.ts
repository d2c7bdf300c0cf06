/** Executions with the media tools of this machine and a head over real HTTP, whose network fails. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openBlobCache } from "../../../../src/blobs/blob-cache";
import { JobAborted } from "../../../../src/domain/jobs";
import { resolveOutput } from "../../../../src/domain/render-output";
import type { SentFile } from "../../../../src/domain/worker-messages";
import { newId } from "../../../../src/lib/ids";
import { createLog } from "../../../../src/lib/log";
import { killAllChildren } from "../../../../src/lib/process";
import { createHead } from "../../../../src/outbound/head";
import { writeProbed } from "../../../../src/work/assets/prepared-files";
import type { MediaTools } from "../../../../src/work/jobs/media-tools";
import type { PrepareInput } from "../../../../src/work/jobs/prepare-run";
import type { RenderInput } from "../../../../src/work/jobs/render-run";
import { fetchFiles } from "../../../../src/work/worker/execution-files";
import { createExecutor, type ExecutionControl } from "../../../../src/work/worker/executor";
import { openWorkFolders } from "../../../../src/work/worker/work-folders";
import { longVideo, silentVideo } from "../../../http/media";
import { createRandom } from "../../../random";
import { startTcpProxy } from "../../../tcp-proxy";
import { temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";
import { LIMITS, MAX_CANCEL_MS, probeFile } from "../../media/rendering";
import { createTools } from "../jobs/split-places";
import { type FakeExecution, type FakeHead, startFakeHead } from "./fake-head";

setDefaultTimeout(60_000);

const roomy = { availableBytes: () => 1e12, claim: (_bytes: number) => true };

/** An executor with a folder of its own. `port` is the head's port. */
async function openTested(port: number, folder: string, disk = roomy) {
  const log: string[] = [];
  // Recognition does not take part, though its models are loaded in any case.
  const speech = { warmUp: () => {} };
  const tools = { ...createTools(), temporaryFolder: folder, speech } as unknown as MediaTools;
  const run = createExecutor({
    tools,
    head: createHead({ url: `http://127.0.0.1:${port}`, token: "wt_secret", ca: null }),
    cache: await openBlobCache({ folder: join(folder, "cache"), maxBytes: 1e9, disk }),
    workFolders: await openWorkFolders(join(folder, "work")),
    log: createLog((line) => log.push(line), false),
  });
  return {
    log,
    /** Runs the execution; `control` replaces the agent's answers. */
    run: ({ id, url }: FakeExecution, control: Partial<ExecutionControl> = {}) =>
      run(
        { execution: id, url },
        {
          boot: { workerId: newId(), bootId: newId() },
          signal: new AbortController().signal,
          isDraining: () => false,
          shouldYield: () => false,
          progress: () => {},
          ...control,
        },
      ),
    kept: () => readdir(join(folder, "work")),
  };
}

const encode = (text: string) => new TextEncoder().encode(text);

/** A preparation that only probes, with files that earlier attempts have left. */
const addProbe = (head: FakeHead, source: Uint8Array, left: { name: string; content: Uint8Array }[] = []) =>
  addPreparation(head, source, "probe", left);

function addPreparation(
  head: FakeHead,
  source: Uint8Array,
  scope: PrepareInput["scope"],
  left: { name: string; content: Uint8Array }[] = [],
) {
  return head.addExecution({
    kind: "prepare",
    input: {
      blobs: { source: { name: "source", bytes: source.byteLength } },
      language: null,
      limits: LIMITS,
      scope,
    },
    files: [{ name: "source", content: source }, ...left.map((file) => ({ ...file, role: "output" as const }))],
  });
}

test("an execution reports files and output, once again when a checksum was refused, through a failing network", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const tested = await openTested(network.port, folder.path);
  network.lose(40_000, createRandom(3));
  const source = await silentVideo();
  const execution = addProbe(head, source);
  execution.refuseOnce.add("probed.json");
  await tested.run(execution);
  const probed = execution.received.get("probed.json")!;
  expect(execution.checkpoints).toMatchObject([
    {
      checkpoint: { kind: "probed", info: { type: "video" } },
      files: [{ name: "probed.json", bytes: probed.byteLength }],
    },
  ]);
  const output = { blobs: [{ name: "probed.json", bytes: probed.byteLength }] };
  expect(execution.results).toMatchObject([{ status: "completed", output }]);
  expect(tested.log.join("\n")).toContain("execution.files_refused");
  expect(tested.log.join("\n")).not.toContain("signed");
  expect(await tested.kept()).toEqual([]);

  // The source is in the cache, and the head has the other file: nothing is transferred.
  await network.heal();
  const { to_server, to_client } = { ...network.bytes };
  const repeated = addProbe(head, source, [{ name: "probed.json", content: probed }]);
  await tested.run(repeated);
  expect(repeated.results).toMatchObject([{ status: "completed", output, files: [] }]);
  expect(repeated.received.size).toBe(0);
  expect(network.bytes.to_server - to_server).toBeLessThan(6_000);
  expect(network.bytes.to_client - to_client).toBeLessThan(probed.byteLength + 6_000);
});

test("files and checkpoints of branches that run at once are sent one after the other", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const source = await silentVideo();
  const execution = addPreparation(head, source, "all");
  // Without an audio track, that branch ends immediately.
  execution.onCheckpoint = async (kind) => {
    if (kind !== "audio") return;
    const isIndexed = async () =>
      (await readdir(folder.path, { recursive: true })).some((path) => path.endsWith("source.json"));
    await until("the index of the other branch", isIndexed);
    let polls = 0;
    await until("time for it to send", () => ++polls > 10);
  };
  await tested.run(execution);
  expect(execution.checkpoints.map(({ checkpoint }) => (checkpoint as { kind: string }).kind)).toEqual([
    "probed",
    "audio",
    "indexed",
    "video",
  ]);
  // The recording is playable before its storyboard is made, whose facts replace those that were sent.
  const filesOf = (kind: string) => {
    const found = execution.checkpoints.find(({ checkpoint }) => (checkpoint as { kind: string }).kind === kind);
    return new Map((found!.files as SentFile[]).map(({ name, sha256 }) => [name, sha256]));
  };
  const [indexed, video] = [filesOf("indexed"), filesOf("video")];
  expect([...indexed.keys()].sort()).toEqual(["source.index", "source.json"]);
  expect(video.has("storyboard-0001.jpg")).toBe(true);
  expect(video.get("source.json")).not.toBe(indexed.get("source.json"));
  expect(execution.overlaps).toEqual([]);
  expect(execution.results).toMatchObject([{ status: "completed" }]);
});

test("a file that another attempt has left in the work folder is replaced, also by one with as many bytes", async () => {
  await using folder = await temporaryFolder();
  const [outputDir, workDir] = [join(folder.path, "output"), join(folder.path, "work")];
  const fetchSizes = async (content: string, key: string, modifiedAt: number): Promise<string> => {
    const file = { name: "sizes.json", role: "work", bytes: content.length, key, modifiedAt } as const;
    const manifest = {
      execution: newId(),
      kind: "join",
      asset: newId(),
      owner: "o",
      input: {},
      files: [file],
    } as const;
    const read = async function* () {
      yield encode(content);
    };
    const cache = await openBlobCache({ folder: join(folder.path, "cache"), maxBytes: 1e9, disk: roomy });
    const files = { cache, remote: { read }, outputDir, workDir, partialInput: null };
    await fetchFiles({ ...manifest, files: [file] }, files, new AbortController().signal);
    return Bun.file(join(workDir, file.name)).text();
  };
  expect(await fetchSizes("[12,34]", "a", 1_600_000_000)).toBe("[12,34]");
  expect(await fetchSizes("[34,12]", "b", 1_600_000_060)).toBe("[34,12]");
  expect(await fetchSizes("is kept", "b", 1_600_000_060)).toBe("[34,12]");
});

test("a file that cannot be read fails with the error of a local job", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const execution = addProbe(head, encode("not a recording"));
  await tested.run(execution);
  expect(execution.results).toMatchObject([{ status: "failed", error: { kind: "app", code: "unsupported_media" } }]);
});

test("a worker without disk space reports that", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path, { availableBytes: () => 0, claim: () => false });
  const execution = addProbe(head, encode("anything"));
  await tested.run(execution);
  expect(execution.results).toMatchObject([
    { status: "failed", error: { kind: "app", code: "storage_full", message: "The worker's disk is full." } },
  ]);
  expect(await tested.kept()).toEqual([]);
});

test("a disk that fills up midway ends the execution without files, and the next one runs", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  let isFull = true;
  // The space was announced as free, but other processes have used it since.
  const disk = { availableBytes: () => 1e12, claim: () => !isFull };
  const tested = await openTested(head.port, folder.path, disk);
  const source = await silentVideo();
  const failed = addProbe(head, source);
  await tested.run(failed);
  expect(failed.results).toMatchObject([{ status: "failed", error: { code: "storage_full" } }]);
  const left = (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  expect([await tested.kept(), left.map(({ name }) => name)]).toEqual([[], []]);
  isFull = false;
  const next = addProbe(head, source);
  await tested.run(next);
  expect(next.results).toMatchObject([{ status: "completed" }]);
});

test("an execution that is not current is left without a trace", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const execution = addProbe(head, encode("anything"));
  execution.isGone = true;
  await expect(tested.run(execution)).rejects.toMatchObject({ status: 404 });
  expect(await tested.kept()).toEqual([]);
  await expect(tested.run({ ...execution, url: "http://127.0.0.1/elsewhere" })).rejects.toThrow("no link");
});

test("a draining worker returns new executions", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const execution = addProbe(head, encode("anything"));
  await tested.run(execution, { isDraining: () => true });
  expect(execution.results).toEqual([{ status: "released" }]);
});

test("names of files that leave their folder are refused", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  for (const name of ["../secret", "/etc/passwd", ".hidden", "a/b", "", "a\0b"]) {
    const execution = head.addExecution({ kind: "cut", input: {}, files: [{ name, content: encode("x") }] });
    await expect(tested.run(execution)).rejects.toThrow("manifest");
    expect(execution.results).toMatchObject([{ status: "failed" }]);
  }
});

/** A render with many chunks. */
async function addLongRender(head: FakeHead): Promise<FakeExecution> {
  await using folder = await temporaryFolder();
  const [path, probedPath] = [join(folder.path, "source"), join(folder.path, "probed.json")];
  const source = await longVideo();
  await Bun.write(path, source);
  const probed = await probeFile(path);
  await writeProbed(probedPath, probed);
  const resolved = resolveOutput(probed, { video_bitrate: 100_000 });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const facts = await Bun.file(probedPath).bytes();
  const input: RenderInput = {
    blobs: {
      source: { name: "source", bytes: source.byteLength },
      probed: { name: "probed.json", bytes: facts.byteLength },
    },
    plan: null,
    output: resolved.output,
    duration: probed.info.duration,
  };
  return head.addExecution({
    kind: "render",
    input,
    files: [
      { name: "source", content: source },
      { name: "probed.json", content: facts },
    ],
  });
}

/** The processes that have a file below the folder in their command line. */
async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return commands.filter((command) => command.includes(folder));
}

test("a cancelled render frees the processor within three seconds, and reports nothing", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const execution = await addLongRender(head);
  const abort = new AbortController();
  const running = tested.run(execution, { signal: abort.signal });
  await until("ffmpeg encodes", async () => (await processesOf(folder.path)).length > 0, 40);
  const started = performance.now();
  abort.abort(new JobAborted("cancelled"));
  await expect(running).rejects.toMatchObject({ reason: "cancelled" });
  // The sandbox ends just after its program.
  await until("no process is left", async () => (await processesOf(folder.path)).length === 0, MAX_CANCEL_MS / 1000);
  expect(performance.now() - started).toBeLessThan(MAX_CANCEL_MS);
  expect(execution.results).toEqual([]);
});

test("a render that yields, and one that is given back, leave their chunks for the next attempt here", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const tested = await openTested(head.port, folder.path);
  const execution = await addLongRender(head);
  let isYielding = false;
  const running = tested.run(execution, { shouldYield: () => isYielding });
  const findChunks = async () => {
    const [name] = await tested.kept();
    const path = join(folder.path, "work", name ?? "", "work");
    const names = existsSync(path) ? await readdir(path, { recursive: true }) : [];
    return names.filter((one) => /(^|\/)chunk-[0-9a-f]{24}\.mp4$/.test(one)).sort();
  };
  await until("the first chunk", async () => (await findChunks()).length > 0, 40);
  isYielding = true;
  await running;
  expect(execution.results).toEqual([{ status: "yielded" }]);
  const chunks = await findChunks();
  expect(chunks.length).toBeGreaterThan(0);

  const next = head.addExecution({
    kind: "render",
    input: execution.manifest.input,
    files: [...execution.contents].map(([name, content]) => ({ name, content })),
  });
  const abort = new AbortController();
  let share = 0;
  const again = tested.run(next, {
    signal: abort.signal,
    progress: (reported) => {
      share = Math.max(share, reported);
    },
  });
  await until("progress", () => share > 0, 40);
  expect((await findChunks()).filter((name) => chunks.includes(name))).toEqual(chunks);
  abort.abort(new JobAborted("shutdown"));
  await again;
  expect(next.results).toEqual([{ status: "released" }]);
  expect((await tested.kept()).length).toBe(1);
  await killAllChildren();
});
