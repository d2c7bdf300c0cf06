/**
 * Measures response times of lists over 100 and over many rows, and of reads while two renders run:
 * `bun test/bench/api/load.ts [ROWS]` (default 100,000). Needs ffmpeg and `dist/offcut`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "../../../src/lib/hash";
import { newId } from "../../../src/lib/ids";
import { openStore } from "../../../src/store/db";
import { migrate } from "../../../src/store/migrate";
import { insertProject } from "../../../src/store/projects";
import { insertApiKey, insertUser } from "../../../src/store/users";
import { startOffcut } from "../servers";

const MANY = Number(process.argv[2] ?? 100_000);
const FEW = 100;
const READS = 400;
const dataDir = await mkdtemp(join(tmpdir(), "offcut-load-"));

type Account = { key: string; rows: number };

/** Creates accounts with this many projects, before the server starts. */
async function createAccounts(sizes: number[]): Promise<Account[]> {
  const store = await openStore(join(dataDir, "offcut.db"));
  await migrate(store);
  const created: Account[] = [];
  for (const rows of sizes) {
    const [userId, key, now] = [newId(), `sk_${newId()}`, Date.now()];
    await store.write(async (tx) => {
      await insertUser(tx, { id: userId, email: `${userId}@example.com`, created_at: now });
      await insertApiKey(tx, {
        id: newId(),
        user_id: userId,
        workspace_id: userId,
        name: "bench",
        prefix: "sk_",
        hash: sha256(key),
        created_at: now,
      });
      for (let n = 0; n < rows; n++) {
        const at = now + n;
        await insertProject(tx, {
          id: newId(),
          workspace_id: userId,
          created_by: userId,
          name: `Project ${n}`,
          state: "active",
          archived_at: null,
          created_at: at,
          updated_at: at,
          last_activity_at: at,
        });
      }
    });
    created.push({ key, rows });
  }
  await store.close();
  return created;
}

const [few, many] = await createAccounts([FEW, MANY]);
const offcut = await startOffcut(dataDir, { OFFCUT_RENDER_JOBS: "2" });

/** Returns the response times in milliseconds, sorted. */
async function measureReads(path: string, key: string, reads = READS): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let n = 0; n < reads; n++) {
    const from = performance.now();
    const answer = await fetch(`${offcut.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    milliseconds.push(performance.now() - from);
  }
  return milliseconds.sort((a, b) => a - b);
}

const toRow = (what: string, milliseconds: number[]) => ({
  what,
  "median ms": milliseconds[milliseconds.length >> 1]!.toFixed(2),
  "p99 ms": milliseconds[Math.floor(milliseconds.length * 0.99)]!.toFixed(2),
});

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${offcut.key}`, "content-type": "application/json" };
  const answer = await fetch(`${offcut.url}${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Uploads two minutes of detailed 720p video, waits until it is ready, and returns its ID. */
async function createReadyVideo(): Promise<string> {
  const file = join(dataDir, "detailed.mp4");
  const ffmpeg = Bun.spawnSync([
    "ffmpeg",
    "-v",
    "error",
    "-y",
    "-f",
    "lavfi",
    "-i",
    "testsrc2=s=1280x720:r=30:d=120",
    "-f",
    "lavfi",
    "-i",
    "sine=f=300:d=120",
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-g",
    "60",
    "-c:a",
    "aac",
    file,
  ]);
  if (ffmpeg.exitCode !== 0) throw new Error(ffmpeg.stderr.toString());
  const project = await call<{ id: string }>("POST", "/v1/projects", { name: "Renders" });
  const asset = await call<{ id: string; upload_url: string }>("POST", "/v1/assets", {
    project_id: project.id,
    size_bytes: Bun.file(file).size,
  });
  await fetch(asset.upload_url, {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${offcut.key}`,
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: Bun.file(file),
  });
  while ((await call<{ state: string }>("GET", `/v1/assets/${asset.id}`)).state !== "ready") await Bun.sleep(200);
  return asset.id;
}

try {
  const rows = [
    toRow(`list of ${FEW}`, await measureReads("/v1/projects", few!.key)),
    toRow(`list of ${MANY}`, await measureReads("/v1/projects", many!.key)),
  ];
  const assetId = await createReadyVideo();
  const renders = await Promise.all(
    ["480p", "360p"].map((resolution) =>
      call<{ id: string }>("POST", "/v1/renders", { asset_id: assetId, output: { resolution } }),
    ),
  );
  const state = async () =>
    (await Promise.all(renders.map(({ id }) => call<{ state: string }>("GET", `/v1/renders/${id}`)))).map(
      (r) => r.state,
    );
  while (!(await state()).includes("processing")) await Bun.sleep(50);
  const during = await measureReads(`/v1/assets/${assetId}`, offcut.key);
  const stillRunning = (await state()).some((s) => s === "processing");
  rows.push(toRow(`read during renders${stillRunning ? "" : " (the renders ended first)"}`, during));
  console.table(rows);
} finally {
  await offcut.stop();
  await rm(dataDir, { recursive: true, force: true });
}
