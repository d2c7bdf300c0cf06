/**
 * Runs one job in a separate process: `job-run-child.ts NAME FOLDER FFMPEG`. The folder has `input.json` and the input
 * blobs in `inputs`; it receives `outputs`, `work` and `result.json`. Nothing here opens a database, and no module of
 * the store is loaded.
 */
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createSemaphore } from "../../src/lib/semaphore";
import { selectFfmpeg } from "../../src/media/ffmpeg";
import { runCut } from "../../src/work/jobs/cut-run";
import type { RunContext } from "../../src/work/jobs/definition";
import type { MediaTools } from "../../src/work/jobs/media-tools";
import { runPrepare } from "../../src/work/jobs/prepare-run";
import { runPreview } from "../../src/work/jobs/preview-run";
import { runRender } from "../../src/work/jobs/render-run";
import { fakeSpeech } from "./fake-speech";

const [name, folder, ffmpegPath] = process.argv.slice(2) as [string, string, string];
const main = join(import.meta.dir, "../../src/main.ts");
const tools: MediaTools = {
  ffmpeg: await selectFfmpeg({ forced: ffmpegPath, bundled: ffmpegPath, path: undefined }),
  encoder: async () => "libx264",
  encoders: async () => ({ video: ["libx264"], audio: ["aac"] }),
  speech: fakeSpeech(),
  encoderSemaphore: createSemaphore(2),
  sandbox: { mode: "none", reason: "a test", wrap: (command) => command },
  jobCommand: [process.execPath, main, "__job"],
  temporaryFolder: join(folder, "work"),
  maxFileBytes: () => null,
};
const context: RunContext<unknown> = {
  signal: new AbortController().signal,
  shouldYield: () => false,
  progress: () => {},
  log: (event, fields) => void appendFile(join(folder, "log.txt"), `${JSON.stringify({ event, ...fields })}\n`),
  owner: "user",
  getInputPath: (blob) => join(folder, "inputs", blob),
  outputDir: join(folder, "outputs"),
  workDir: join(folder, "work"),
  checkpoint: async (checkpoint) => {
    await appendFile(join(folder, "checkpoints.txt"), `${JSON.stringify(checkpoint)}\n`);
  },
};
const RUNS: Record<string, (input: never) => Promise<object>> = {
  prepare: (input) => runPrepare(tools, input, context),
  cut: (input) => runCut(tools, input, context as RunContext),
  render: (input) => runRender(tools, input, context as RunContext),
  preview: (input) => runPreview(tools, input, context as RunContext),
};
await mkdir(context.outputDir, { recursive: true });
const input = (await Bun.file(join(folder, "input.json")).json()) as never;
await Bun.write(join(folder, "result.json"), JSON.stringify(await RUNS[name]!(input)));
process.exit(0);
