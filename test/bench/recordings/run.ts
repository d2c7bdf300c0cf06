/**
 * Uploads, prepares, cuts, renders and downloads recordings with the executable, and prints a row per file:
 * `bun test/bench/recordings/run.ts FILE|FOLDER…` (default: `media` in `OFFCUT_SHARED`). Exits with 1 when one fails.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ALL_FORMATS, BlobSource, Input } from "mediabunny";
import { startOffcut } from "../servers";
import { listMedia } from "./media-files";

const POLL_MS = 200;

type Resource = {
  id: string;
  state: string;
  type?: string;
  upload_url?: string;
  download_url?: string;
  error_code?: string;
};
type Row = {
  file: string;
  seconds: string;
  kept: string;
  removed: string;
  prepare: string;
  cut: string;
  render: string;
  result: string;
};

const given = process.argv.slice(2);
const roots = given.length > 0 ? given : process.env.OFFCUT_SHARED ? [join(process.env.OFFCUT_SHARED, "media")] : [];
if (roots.length === 0) throw new Error("usage: bun test/bench/recordings/run.ts FILE|FOLDER…");
const files = (await Promise.all(roots.map(listMedia))).flat();

const dataDir = await mkdtemp(join(tmpdir(), "offcut-recordings-"));
const server = await startOffcut(dataDir);
const { url, key } = server;

const rows: Row[] = [];
try {
  const project = await call<Resource>("POST", "/v1/projects", { name: "Recordings" });
  for (const file of files) rows.push(await processRecording(project.id, file));
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
console.table(rows);
const failed = rows.filter((row) => row.result !== "ok");
console.log(`${rows.length - failed.length} of ${rows.length} recordings passed`);
process.exit(failed.length > 0 ? 1 : 0);

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function waitUntilEnded<T extends Resource>(path: string): Promise<T> {
  for (;;) {
    const resource = await call<T>("GET", path);
    if (["ready", "completed", "failed", "cancelled", "pending_payment"].includes(resource.state)) return resource;
    await Bun.sleep(POLL_MS);
  }
}

async function processRecording(projectId: string, file: string): Promise<Row> {
  const row: Row = {
    file: basename(file),
    seconds: "",
    kept: "",
    removed: "",
    prepare: "",
    cut: "",
    render: "",
    result: "ok",
  };
  const timed = async <T>(part: "prepare" | "cut" | "render", work: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const value = await work();
    row[part] = `${((performance.now() - from) / 1000).toFixed(1)} s`;
    return value;
  };
  try {
    const { size } = Bun.file(file);
    const asset = await call<Resource>("POST", "/v1/assets", { project_id: projectId, size_bytes: size });
    const ready = await timed("prepare", async () => {
      const sent = await fetch(asset.upload_url!, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${key}`,
          "tus-resumable": "1.0.0",
          "upload-offset": "0",
          "content-type": "application/offset+octet-stream",
        },
        body: Bun.file(file),
      });
      if (sent.status !== 204) throw new Error(`upload: ${sent.status}`);
      return waitUntilEnded<Resource & { duration_seconds: string }>(`/v1/assets/${asset.id}`);
    });
    if (ready.state !== "ready") throw new Error(`asset ${ready.state} ${ready.error_code}`);
    row.seconds = Number(ready.duration_seconds).toFixed(1);
    const cut = await timed("cut", async () => {
      const made = await call<Resource>("POST", "/v1/cuts", { asset_id: asset.id });
      return waitUntilEnded<Resource & { plan: { kept_duration: number; removed: unknown[] } }>(`/v1/cuts/${made.id}`);
    });
    if (cut.state !== "completed") throw new Error(`cut ${cut.state} ${cut.error_code}`);
    row.kept = cut.plan.kept_duration.toFixed(1);
    row.removed = String(cut.plan.removed.length);
    const render = await timed("render", async () => {
      const made = await call<Resource>("POST", "/v1/renders", { asset_id: asset.id, cut_id: cut.id });
      return waitUntilEnded<Resource>(`/v1/renders/${made.id}`);
    });
    if (render.state !== "completed") throw new Error(`render ${render.state} ${render.error_code}`);
    using input = new Input({
      source: new BlobSource(await (await fetch(render.download_url!)).blob()),
      formats: ALL_FORMATS,
    });
    const difference = Math.abs((await input.computeDuration()) - cut.plan.kept_duration);
    if (difference > 0.1) throw new Error(`duration differs from the plan by ${difference.toFixed(3)} s`);
  } catch (error) {
    row.result = (error as Error).message;
  }
  return row;
}
