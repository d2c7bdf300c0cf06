/** The `run` of each job, in a process that has a folder of blobs and neither a database nor a data folder. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { JOB_NAMES, type Job, type JobName } from "../../src/domain/jobs";
import { findLatestStep, findPreviewStep } from "../../src/store/steps";
import type { JobInput, JobOutput, LoadedJob } from "../../src/work/jobs/definition";
import { JOBS } from "../../src/work/jobs/registry";
import { temporaryFolder } from "../temporary-folder";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { BUNDLED_FFMPEG, oldVideo, silentVideo, video } from "./media";

setDefaultTimeout(3 * PATIENCE_MS);

/** Loads the input of a job that the server has done already. */
async function load(server: Harness, name: JobName, subjectId: string): Promise<LoadedJob<JobInput>> {
  const find = name === "preview" ? findPreviewStep : findLatestStep;
  const step = (await find(server.services().store.read, subjectId))!;
  const job: Job = {
    stepId: step.id,
    pipelineId: step.pipeline_id,
    workspaceId: step.workspace_id,
    name,
    subjectId,
    attempt: step.attempts,
    failures: 0,
    kernelKills: 0,
    runsAlone: false,
  };
  const loaded = await JOBS[name].load(server.services(), job);
  return loaded!;
}

type Finished = { output: JobOutput & Record<string, unknown>; checkpoints: Record<string, unknown>[]; log: string };

/** Copies the input blobs to `folder` and runs the job there, with nothing of the server in reach but the program. */
async function runIn(folder: string, name: JobName, { input, inputDir }: LoadedJob<JobInput>): Promise<Finished> {
  await mkdir(join(folder, "inputs"), { recursive: true });
  for (const blob of Object.values(input.blobs)) {
    if (blob === null) continue;
    const path = join(folder, "inputs", blob.name);
    if (!(await Bun.file(path).exists())) await copyFile(join(inputDir, blob.name), path);
    expect(Bun.file(path).size).toBe(blob.bytes);
  }
  await Bun.write(join(folder, "input.json"), JSON.stringify(input));
  const script = new URL("./job-run-child.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script, name, folder, BUNDLED_FFMPEG], {
    cwd: folder,
    env: { HOME: folder, PATH: "/usr/bin:/bin" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  const text = (file: string) =>
    Bun.file(join(folder, file))
      .text()
      .catch(() => "");
  const lines = (await text("checkpoints.txt")).split("\n").filter(Boolean);
  return {
    output: JSON.parse(await text("result.json")),
    checkpoints: lines.map((line) => JSON.parse(line)),
    log: await text("log.txt"),
  };
}

/** Names and sizes of the files in a folder, as blobs. */
async function blobsIn(dir: string, except: string[] = []) {
  const names = (await readdir(dir)).filter((name) => !except.includes(name)).sort();
  return names.map((name) => ({ name, bytes: Bun.file(join(dir, name)).size }));
}

const byName = (blobs: JobOutput["blobs"]) => blobs.toSorted((a, b) => (a.name < b.name ? -1 : 1));

describe("a job runs with only a folder of blobs, and has the same output as on the server:", () => {
  test("prepare", async () => {
    await using server = await harness();
    await using folder = await temporaryFolder();
    const user = await server.user();
    const asset = await user.ready(await oldVideo(2));
    const { output, checkpoints } = await runIn(folder.path, "prepare", await load(server, "prepare", asset.id));
    const made = await blobsIn(server.services().folders.media(asset.id).dir, ["source"]);
    expect(byName(output.blobs)).toEqual(made);
    expect(await blobsIn(join(folder.path, "outputs"))).toEqual(made);
    expect(checkpoints.map(({ kind }) => kind).toSorted()).toEqual(["audio", "indexed", "probed", "video"]);
    expect(checkpoints.find(({ kind }) => kind === "audio")).toMatchObject({ hasWaveform: true, hasTranscript: true });
    expect(checkpoints.find(({ kind }) => kind === "video")).toMatchObject({ hasPoster: true });
  });

  test("preview", async () => {
    await using server = await harness();
    await using folder = await temporaryFolder();
    const user = await server.user();
    const asset = await user.ready(await oldVideo(2));
    const { dir } = server.services().folders.media(asset.id);
    const before = (await blobsIn(dir)).map(({ name }) => name);
    await user.must("GET", `/api/v1/assets/${asset.id}/media`);
    await server.idle();
    const { output } = await runIn(folder.path, "preview", await load(server, "preview", asset.id));
    const made = await blobsIn(dir, before);
    // The preparation has made the peaks and the storyboard.
    expect(byName(output.blobs).filter(({ name }) => !before.includes(name))).toEqual(made);
    expect(await blobsIn(join(folder.path, "outputs"), before)).toEqual(made);
  });

  test("cut, with a script", async () => {
    await using server = await harness();
    await using folder = await temporaryFolder();
    const user = await server.user();
    const asset = await user.ready(await video(4));
    const { id } = await user.startCut({ asset_id: asset.id, script: "alpha bravo" });
    const cut = await user.cutEnded(id);
    const { output } = await runIn(folder.path, "cut", await load(server, "cut", id));
    expect(output.blobs).toEqual([]);
    expect(JSON.parse(output.plan as string)).toEqual(cut.plan);
  });

  test("render, and resumes from the chunks in its work folder", async () => {
    await using server = await harness();
    await using folder = await temporaryFolder();
    const user = await server.user();
    const asset = await user.ready(await video(4));
    const { id: cutId } = await user.startCut({ asset_id: asset.id });
    await user.cutEnded(cutId);
    const { id } = await user.startRender({ asset_id: asset.id, cut_id: cutId, output: { resolution: "180p" } });
    const render = await user.renderEnded(id);
    const loaded = await load(server, "render", id);
    const first = await runIn(folder.path, "render", loaded);
    expect(first.output).toMatchObject({
      blobs: [{ name: "output.mp4", bytes: render.size_bytes }],
      strategy: render.strategy,
      encodedShare: render.encoded_share,
      reasons: render.strategy_reasons,
      warnings: render.warnings,
    });
    expect(await blobsIn(join(folder.path, "outputs"))).toEqual(first.output.blobs);
    expect(first.log).toContain('"reused_chunks":0');

    await rm(join(folder.path, "outputs"), { recursive: true });
    await rm(join(folder.path, "log.txt"));
    const second = await runIn(folder.path, "render", loaded);
    expect(second.output).toEqual(first.output);
    expect(second.log).not.toContain('"reused_chunks":0');
  });
});

test("each input survives JSON, and names no path", async () => {
  await using server = await harness();
  const user = await server.user();
  const asset = await user.ready(await video(4));
  const silent = await user.ready(await silentVideo(2));
  for (const { id } of [asset, silent]) await user.must("GET", `/api/v1/assets/${id}/media`);
  const cut = await user.startCut({ asset_id: asset.id, script: "alpha bravo" });
  await user.cutEnded(cut.id);
  const cutRender = await user.startRender({ asset_id: asset.id, cut_id: cut.id });
  const wholeRender = await user.startRender({ asset_id: silent.id, output: { resolution: "180p" } });
  for (const { id } of [cutRender, wholeRender]) await user.renderEnded(id);
  const jobs: [JobName, string][] = [
    ["prepare", asset.id],
    ["prepare", silent.id],
    ["preview", asset.id],
    ["preview", silent.id],
    ["cut", cut.id],
    ["render", cutRender.id],
    ["render", wholeRender.id],
  ];
  for (const [name, subjectId] of jobs) {
    const { input } = await load(server, name, subjectId);
    expect(JSON.parse(JSON.stringify(input))).toStrictEqual(input);
    expect(JSON.stringify(input)).not.toContain(server.dataDir);
    for (const blob of Object.values(input.blobs)) expect(blob?.name ?? "").not.toContain("/");
  }
});

test("nothing that `run` imports reaches the store", async () => {
  const source = resolve(import.meta.dir, "../../src");
  const queue = JOB_NAMES.map((name) => join(source, `work/jobs/${name}-run.ts`));
  const seen = new Set<string>(queue);
  for (const file of queue) {
    const text = await Bun.file(file).text();
    // Imports of types are erased.
    const imports = [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)"|import\("(\.[^"]+)"\)/gm)];
    for (const match of imports) {
      const path = `${resolve(dirname(file), (match[1] ?? match[2])!)}.ts`;
      const index = path.replace(/\.ts$/, "/index.ts");
      const found = (await Bun.file(path).exists()) ? path : index;
      if (!seen.has(found) && (await Bun.file(found).exists())) {
        seen.add(found);
        queue.push(found);
      }
    }
  }
  const reached = queue.map((file) => file.slice(source.length + 1));
  expect(reached.length).toBeGreaterThan(20);
  expect(reached.filter((file) => /^(store|queue|http|outbound|cli|boot)/.test(file))).toEqual([]);
});
