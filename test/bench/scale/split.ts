/**
 * Renders a 1080p file at another size at one place and at two, each pinned to a core of its own:
 * `bun test/bench/scale/split.ts [SECONDS] [one|two]`. The file has 5 minutes, or 20 with `OFFCUT_FULL=1`. The
 * orchestrating process and its checks share the same cores. Needs `taskset` and `dist/offcut`. Prints seconds,
 * CPU-seconds and the overhead of a piece; with `one` or `two`, only the figures of that render.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { resolveOutput } from "../../../src/domain/render-output";
import { openExtracted } from "../../../src/lib/assets";
import { createSemaphore } from "../../../src/lib/semaphore";
import { selectFfmpeg } from "../../../src/media/ffmpeg";
import { writeProbed } from "../../../src/work/assets/prepared-files";
import type { PieceCall } from "../../../src/work/cluster/encode-pieces";
import { createChunkChecker } from "../../../src/work/cluster/encode-pieces";
import { runSplitRender } from "../../../src/work/cluster/split-render";
import type { RunContext } from "../../../src/work/jobs/definition";
import { type RenderInput, runRender } from "../../../src/work/jobs/render-run";
import { runChunk, runSplit } from "../../../src/work/jobs/split-run";
import { fullOr } from "../../full-size";
import { probeFile } from "../../unit/media/rendering";
import { createFakeExecutions, fakePlace } from "../../unit/work/cluster/fake-executions";
import { createSource } from "../render/media";

const seconds = Number(process.argv[2] ?? fullOr(20 * 60, 5 * 60));
const LOOP_SECONDS = 20;
const program = resolve("dist/offcut");
const ffmpeg = await selectFfmpeg({ forced: null, bundled: openExtracted(null).ffmpeg, path: process.env.PATH });
const root = join(tmpdir(), `offcut-bench-split-${process.pid}`);
const inputs = join(root, "inputs");
mkdirSync(inputs, { recursive: true });
const source = join(inputs, "source");
await repeat(await createSource({ height: 1080, gopSeconds: 2, seconds: LOOP_SECONDS }), source);
const probed = await probeFile(source, ffmpeg);
await writeProbed(join(inputs, "probed.json"), probed);
const resolved = resolveOutput(probed, { resolution: "720p" });
if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
const input: RenderInput = {
  blobs: { source: { name: "source", bytes: statSync(source).size }, probed: { name: "probed.json", bytes: 0 } },
  plan: null,
  output: resolved.output,
  duration: probed.info.duration,
};

/** Writes a file of the whole duration, without encoding. */
async function repeat(loop: string, path: string): Promise<void> {
  const times = String(Math.ceil(seconds / LOOP_SECONDS) - 1);
  const copy = ["-stream_loop", times, "-i", loop, "-c", "copy", "-t", String(seconds), "-f", "mp4", path];
  const child = Bun.spawn([ffmpeg.path, "-v", "error", "-nostdin", ...copy], { stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("the source could not be written");
}

/** Tools whose child processes run on some cores only. */
const createTools = (cores: string) => ({
  ffmpeg,
  encoder: async () => "libx264" as const,
  encoders: async () => ({ video: ["libx264" as const], audio: ["aac" as const] }),
  encoderSemaphore: createSemaphore(2),
  sandbox: { mode: "none" as const, reason: "a benchmark", wrap: (command: string[]) => command },
  jobCommand: ["taskset", "-c", cores, program, "__job"],
  maxFileBytes: () => null,
});

const createContext = (dir: string, more: Partial<RunContext> = {}): RunContext => ({
  signal: new AbortController().signal,
  shouldYield: () => false,
  progress: () => {},
  log: () => {},
  owner: "bench",
  getInputPath: (name) => join(inputs, name),
  outputDir: join(dir, "outputs"),
  workDir: join(dir, "work"),
  checkpoint: async () => {},
  ...more,
});

const TICKS_PER_CPU_SECOND = 100;

/** Returns the CPU-seconds of this process and of its children that have ended. */
async function readCpuSeconds(): Promise<number> {
  const fields = (await readFile("/proc/self/stat", "utf8")).split(") ")[1]!.split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_CPU_SECOND;
}

async function measure(run: () => Promise<unknown>): Promise<{ seconds: number; cpu: number }> {
  const startedMs = performance.now();
  const cpu = await readCpuSeconds();
  await run();
  return { seconds: (performance.now() - startedMs) / 1000, cpu: (await readCpuSeconds()) - cpu };
}

type Chunk = { place: string; frames: number; encoding: number; checking: number };

/** Renders at the places, which are named by their cores. */
async function renderSplit(places: string[], chunks: Chunk[]): Promise<void> {
  const workDir = join(root, "split", "work");
  const tools = new Map(places.map((cores) => [cores, createTools(cores)]));
  const all = createTools("0,1");
  let count = 0;
  let checking = 0;

  async function runAt(cores: string, call: PieceCall): Promise<unknown> {
    const dir = join(root, `execution-${count++}`);
    const own = tools.get(cores)!;
    const progress: RunContext["progress"] = ({ share }) => call.onProgress(share);
    const more = { signal: call.signal, progress };
    if (call.kind === "join")
      return runRender(all, input, createContext(dir, { ...more, workDir: call.workDir, outputDir: call.outputDir }));
    const context = createContext(dir, more);
    if (call.kind === "split") return runSplit(all, call.input as never, context);
    const output = await runChunk(own, call.input as never, context);
    mkdirSync(call.outputDir, { recursive: true });
    for (const { name } of output.blobs) await rename(join(context.outputDir, name), join(call.outputDir, name));
    rmSync(dir, { recursive: true, force: true });
    return output;
  }

  const executions = createFakeExecutions(
    places.map((cores) => fakePlace(cores)),
    runAt,
  );
  await using checker = createChunkChecker(all, workDir);
  await runSplitRender({
    input,
    workDir,
    outputDir: join(root, "split", "outputs"),
    signal: new AbortController().signal,
    shouldYield: () => false,
    progress: () => {},
    log: (event, fields) => {
      const { place, frames, seconds: encoding } = fields as { place: string; frames: number; seconds: number };
      if (event === "chunk.completed") chunks.push({ place, frames, encoding, checking });
      else if (event !== "render.chunks_encoded") console.log(event, JSON.stringify(fields));
    },
    executions,
    slot: { placeId: places[0]!, release: () => {} },
    runWhole: () => Promise.reject(new Error("the render ran whole")),
    checkChunk: async (path, expected, options) => {
      const startedMs = performance.now();
      const problem = await checker.check(path, expected, options);
      checking += (performance.now() - startedMs) / 1000;
      return problem;
    },
    tickMs: 1_000,
    clock: () => performance.now(),
  });
}

const only = process.argv[3] ?? null;

try {
  const chunks: Chunk[] = [];
  console.log(`${seconds} s of 1080p to 720p`);
  const two = only === "one" ? null : await measure(() => renderSplit(["0", "1"], chunks));
  for (const { place, frames, encoding } of chunks)
    console.log(
      `core ${place}: ${frames} frames in ${encoding.toFixed(1)} s, ${(frames / encoding).toFixed(0)} a second`,
    );
  if (two !== null) {
    const checking = (chunks.at(-1)?.checking ?? 0) / chunks.length;
    console.log(`two places: ${two.seconds.toFixed(1)} s, ${two.cpu.toFixed(1)} CPU-seconds`);
    console.log(`${chunks.length} pieces, checks: ${checking.toFixed(2)} s a piece`);
  }
  const one =
    only === "two" ? null : await measure(() => runRender(createTools("0"), input, createContext(join(root, "one"))));
  if (one !== null) console.log(`one place: ${one.seconds.toFixed(1)} s, ${one.cpu.toFixed(1)} CPU-seconds`);
  if (one !== null && two !== null) {
    const perPiece = (two.cpu - one.cpu) / chunks.length;
    console.log(
      `${(one.seconds / two.seconds).toFixed(2)} times as fast; ${perPiece.toFixed(2)} CPU-seconds more a piece`,
    );
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(0);
