/**
 * Measures the steps of a preparation, of a video, one after another:
 * `bun test/bench/one-shot/preparation.ts RECORDING`. Prints the CPU time of all processes and the wall time of each.
 * Needs root, for a control group.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { openMediaTools } from "../../../src/boot-tools";
import { loadConfig } from "../../../src/config";
import { openAssets } from "../../../src/lib/assets";
import { openJobChild } from "../../../src/work/job-child/child";
import { temporaryFolder } from "../../temporary-folder";
import { createGroup } from "./process-tree";

const recording = resolve(argv[2] ?? "");
const group = createGroup();
await writeFile(group.procs, String(process.pid));
await using folder = await temporaryFolder();
const at = (name: string) => join(folder.path, name);
const config = await loadConfig({ file: null, env: {}, flags: {} });
const assets = await openAssets({ dataDir: folder.path });
const { ffmpeg, sandbox, speech, jobCommand } = await openMediaTools(config, assets, folder.path, {
  speech: null,
  log: null,
});
await mkdir(at("work"));
const child = openJobChild({
  command: jobCommand,
  sandbox,
  view: { readOnly: [recording], writable: [at("work")], devices: false },
  limitCode: "processing_failed",
  maxMemoryBytes: 3 * 1024 ** 3,
  maxFileBytes: null,
});

async function measure(name: string, run: () => Promise<unknown>): Promise<void> {
  const [cpu, started] = [group.readCpuMs(), performance.now()];
  await run();
  console.log(
    `${name}: ${(group.readCpuMs() - cpu).toFixed(0)} ms CPU, ${(performance.now() - started).toFixed(0)} ms`,
  );
}

const source = { ffmpeg, source: recording, probed: at("work/probed") };
const audio = at("work/audio");
const limits = { maxDurationSeconds: 86_400, maxSidePixels: 8_192, maxStreams: 50 };
const outputPath = (name: string) => at(`work/${name}`);
await measure("probe", () => child.run("probe", { ...source, limits }));
const measured = { waveform: outputPath("waveform"), peaks: outputPath("peaks"), loudness: outputPath("loudness") };
await measure("extract", () => child.run("extract", { ...source, outputPath: audio, measured }));
await measure("indexSource", () => child.run("indexSource", { ...source, outputPath: outputPath("index") }));
await measure("storyboard", () => child.run("storyboard", { ...source, outputDir: outputPath("sheets") }));
await measure("poster", () => child.run("poster", { ...source, outputPath: outputPath("poster.jpg") }));
await measure("filmstrip", () => child.run("filmstrip", { ...source, outputPath: outputPath("filmstrip.jpg") }));
await measure("speech", () => speech.analyze({ path: audio }, { language: null }));
await Promise.all([child.end(), speech.close()]);
exit(0);
