/**
 * Cuts and renders a recording through the public API of a running server, and prints the results. `./install.sh demo`
 * runs it: `bun src/demo/client.ts --url URL --key KEY --out FOLDER [--script FILE] [--expect-retake] FILE`
 */
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { parseArgs } from "node:util";
import { ALL_FORMATS, BlobSource, Input } from "mediabunny";
import { drawTimeline, formatClock, formatRemovedTable, summarizePlan } from "../cli/plan-report";
import type { PlanJson } from "../domain/plan-json";

type DemoAsset = {
  id: string;
  type: string;
  state: string;
  progress: number | null;
  cuttable: boolean;
  upload_url: string;
};
type DemoJob = { id: string; state: string; progress?: number | null; error_code?: string; error_message?: string };
type DemoCut = DemoJob & { plan: PlanJson | null };
type DemoRender = DemoJob & { download_url: string; strategy: string; warnings: string[]; size_bytes: number };

const CHUNK_BYTES = 4 * 1024 * 1024;
const MAX_FAILURES = 5;
const POLL_MS = 300;
/** Tolerance between the durations of the file and the plan: a video frame at each end, and the audio framing. */
const LENGTH_TOLERANCE_SECONDS = 0.2;

/** Steps with their durations in seconds. */
const durations: [string, number][] = [];
let lastProgress = "";

const { values, positionals } = parseArgs({
  options: {
    url: { type: "string" },
    key: { type: "string" },
    out: { type: "string" },
    script: { type: "string" },
    "expect-retake": { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const [recording] = positionals;
if (!recording || !values.url || !values.key || !values.out)
  throw new Error(
    "usage: bun src/demo/client.ts --url URL --key KEY --out FOLDER [--script FILE] [--expect-retake] FILE",
  );
const server = values.url;
const authorization = `Bearer ${values.key}`;
const outputFolder = values.out;
try {
  await runDemo(recording);
} catch (error) {
  process.stderr.write(`demo: ${(error as Error).message}\n`);
  process.exit(1);
}

async function runDemo(recording: string): Promise<void> {
  await mkdir(outputFolder, { recursive: true });

  const started = performance.now();
  const asset = await timed("upload", () => upload(recording));
  const ready = await timed("prepare", () => waitUntilReady(asset));
  const format = ready.type === "audio" ? "m4a" : "mp4";
  const script = values.script === undefined ? null : await Bun.file(values.script).text();
  const variants = [{ name: "cut", script: "" }, ...(script === null ? [] : [{ name: "script", script }])];
  for (const variant of variants) {
    const title = variant.script === "" ? "without a script" : "with the script";
    const cut = await timed(`cut ${title}`, () => createCut(ready, variant.script));
    const plan = cut.plan!;
    const name = `${basename(recording, extname(recording))}.${variant.name}.${format}`;
    const path = join(outputFolder, name);
    const render = await timed(`render ${title}`, () => createRender(ready, cut, format, path));
    print(
      "",
      `== The cut ${title} ==`,
      "",
      ...drawTimeline(plan, 100),
      "",
      ...formatRemovedTable(plan),
      "",
      ...summarizePlan(plan),
    );
    print(`written: ${path} (${(render.size_bytes / 1e6).toFixed(2)} MB, ${render.strategy})`, ...render.warnings);
    await check(plan, path);
  }
  print("", ...durations.map(([what, seconds]) => `${what.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s`));
  print(`${"total".padEnd(26)} ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s`);
}

function print(...lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await run();
  durations.push([what, (performance.now() - from) / 1000]);
  return result;
}

async function call<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(`${server}${path}`, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function upload(path: string): Promise<DemoAsset> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new Error(`File not found: ${path}`);
  const project = await call<{ id: string }>("POST", "/v1/projects", { name: "Demo" });
  const metadata = `filename ${Buffer.from(basename(path)).toString("base64")}`;
  const asset = await call<DemoAsset>(
    "POST",
    "/v1/assets",
    { project_id: project.id, size_bytes: file.size },
    { "upload-metadata": metadata },
  );
  const headers = { authorization, "tus-resumable": "1.0.0" };
  let offset = 0;
  let failures = 0;
  while (offset < file.size) {
    progress("uploading", offset / file.size);
    const answer = await fetch(asset.upload_url, {
      method: "PATCH",
      headers: { ...headers, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
      body: file.slice(offset, offset + CHUNK_BYTES),
    }).catch(() => null);
    if (answer?.ok) {
      offset = Number(answer.headers.get("upload-offset"));
      continue;
    }
    // The connection was lost: ask for the offset and resume from there.
    if (++failures > MAX_FAILURES) throw new Error(`Upload failed: ${answer?.status} ${await answer?.text()}`);
    await Bun.sleep(POLL_MS * 2 ** failures);
    const head = await fetch(asset.upload_url, { method: "HEAD", headers });
    if (!head.ok) throw new Error(`Upload cannot be resumed: HEAD returned ${head.status}`);
    offset = Number(head.headers.get("upload-offset"));
  }
  progress("uploading", 1);
  return asset;
}

function waitUntilReady(asset: DemoAsset): Promise<DemoAsset> {
  return waitFor<DemoAsset & DemoJob>("preparing", `/v1/assets/${asset.id}`, ["ready"], ["failed", "pending_payment"]);
}

async function createCut(asset: DemoAsset, script: string): Promise<DemoCut> {
  const cut = await call<DemoCut>("POST", "/v1/cuts", { asset_id: asset.id, script });
  return waitFor<DemoCut>("cutting", `/v1/cuts/${cut.id}`, ["completed"], ["failed"]);
}

async function createRender(asset: DemoAsset, cut: DemoCut, format: string, output: string): Promise<DemoRender> {
  const body = { asset_id: asset.id, cut_id: cut.id, output: { format } };
  const { id } = await call<DemoRender>("POST", "/v1/renders", body);
  const render = await waitFor<DemoRender>("rendering", `/v1/renders/${id}`, ["completed"], ["failed", "cancelled"]);
  const file = await fetch(render.download_url);
  if (!file.ok) throw new Error(`Download failed: ${file.status}`);
  await Bun.write(output, file);
  return render;
}

async function waitFor<T extends DemoJob>(
  what: string,
  path: string,
  success: string[],
  failure: string[],
): Promise<T> {
  for (;;) {
    const job = await call<T>("GET", path);
    if (success.includes(job.state)) {
      progress(what, 1);
      return job;
    }
    if (failure.includes(job.state))
      throw new Error(`${what}: ${job.state} ${job.error_code ?? ""} ${job.error_message ?? ""}`);
    progress(what, job.progress ?? 0);
    await Bun.sleep(POLL_MS);
  }
}

/**
 * Throws unless the file is as long as planned and, with `--expect-retake`, shorter than the source without the known
 * retake.
 */
async function check(plan: PlanJson, output: string): Promise<void> {
  using input = new Input({ source: new BlobSource(Bun.file(output)), formats: ALL_FORMATS });
  const seconds = await input.computeDuration();
  if (Math.abs(seconds - plan.kept_duration) > LENGTH_TOLERANCE_SECONDS)
    throw new Error(`${output} is ${formatClock(seconds)} long, expected ${formatClock(plan.kept_duration)}`);
  if (!values["expect-retake"]) return;
  if (seconds >= plan.source_duration) throw new Error(`${output} is not shorter than its source`);
  if (!plan.removed.some((span) => span.reason === "retake")) throw new Error("The retake was not removed.");
}

/** Draws a progress bar on a terminal; elsewhere prints a line for every 10%. */
function progress(what: string, share: number): void {
  const tenths = Math.floor(share * 10);
  if (process.stderr.isTTY) {
    const bar = "█".repeat(tenths * 3).padEnd(30, "░");
    process.stderr.write(
      `\r${what.padEnd(10)} ${bar} ${String(Math.round(share * 100)).padStart(3)}%${share === 1 ? "\n" : ""}`,
    );
    return;
  }
  const line = `${what} ${tenths * 10}%`;
  if (line !== lastProgress) process.stderr.write(`${line}\n`);
  lastProgress = line;
}
