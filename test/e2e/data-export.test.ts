/**
 * Data exports of the compiled server: a large account with little memory, and `kill -9` in the middle.
 * `OFFCUT_FULL=1`: 100,000 rows and 20 GB instead of 2,000 rows and 1 GB.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdir, open, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { getFolders } from "../../src/blobs/folders";
import { newId } from "../../src/lib/ids";
import type { Client } from "../http/client";
import { exportIs, requestExport, rowsOf } from "../http/exports";
import { until } from "../until";
import { readZip, testWithUnzip } from "../zip";
import { IS_BUNDLED_PASS } from "./offcut";
import { BUNDLED, memoryOf, type Server, startServer } from "./server";

const IS_FULL = Boolean(process.env.OFFCUT_FULL);
const ROWS = IS_FULL ? 100_000 : 2_000;
/** Older notifications than the newest 1,000 are deleted. */
const NOTIFICATIONS = 500;
const FILES = IS_FULL ? 20 : 4;
const FILE_BYTES = IS_FULL ? 1_000_000_000 : 250_000_000;
const KILL_AT_BYTES = 30_000_000;
const MAX_ADDED_MB = 100;
const LIMIT_MS = IS_FULL ? 3_600_000 : 120_000;
const DEADLINE_SECONDS = LIMIT_MS / 1000;

/** Stops the server, adds many rows and large sparse recordings to a user, and starts it again. */
async function enlarge(server: Server, { userId }: Client): Promise<void> {
  await server.terminate();
  const folders = getFolders(server.data);
  using database = new Database(join(server.data, "offcut.db"));
  const projectId = newId();
  database.run(
    "INSERT INTO projects (id, workspace_id, name, state, created_by, created_at, updated_at, last_activity_at) VALUES (?, ?, 'P', 'active', ?, 0, 0, 0)",
    [projectId, userId, userId],
  );
  const insertAsset = database.query(
    "INSERT INTO assets (id, workspace_id, project_id, kind, state, filename, upload_length, upload_active_at, payment, created_by, created_at) VALUES (?, ?, ?, 'source', 'ready', 'talk.mp4', ?, 0, 'settled', ?, 0)",
  );
  const insertCut = database.query(
    "INSERT INTO cuts (id, workspace_id, asset_id, state, script, options, plan, created_by, created_at) VALUES (?, ?, ?, 'completed', ?, '{}', ?, ?, 0)",
  );
  const insertNotification = database.query(
    "INSERT INTO notifications (id, user_id, type, payload, cause, mail_state, created_at) VALUES (?, ?, 'pipeline_failed', '{}', ?, 'none', 0)",
  );
  const insertEntry = database.query(
    "INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES (?, ?, 'grant', 1, 0)",
  );
  const assetIds = Array.from({ length: FILES }, newId);
  const plan = JSON.stringify({
    segments: Array.from({ length: 50 }, (_, i) => ({ start: i, end: i + 0.5, text: "word" })),
  });
  database.transaction(() => {
    for (const id of assetIds) insertAsset.run(id, userId, projectId, FILE_BYTES, userId);
    for (let i = 0; i < ROWS / 4; i++) insertCut.run(newId(), userId, assetIds[0]!, "script ".repeat(50), plan, userId);
    for (let i = 0; i < NOTIFICATIONS; i++) insertNotification.run(newId(), userId, String(i));
    for (let i = 0; i < (ROWS * 3) / 4 - NOTIFICATIONS; i++) insertEntry.run(newId(), userId);
  })();
  for (const id of assetIds) {
    await mkdir(folders.media(id).dir, { recursive: true });
    await (await open(folders.media(id).source, "w")).close();
    await truncate(folders.media(id).source, FILE_BYTES);
  }
  await server.start();
}

/** Requests an export and waits until its archive has this many bytes. */
async function startExport(server: Server, user: Client, bytes: number): Promise<string> {
  const { body } = await requestExport(user, "?media=true");
  const { exportsRoot } = getFolders(server.data);
  const hasBytes = async () => {
    const [part] = (await readdir(exportsRoot)).filter((name) => name.endsWith(".part"));
    return part !== undefined && Bun.file(join(exportsRoot, part)).size > bytes;
  };
  await until("bytes of the archive", hasBytes, DEADLINE_SECONDS);
  return body.id;
}

test.skipIf(IS_BUNDLED_PASS)(
  "a large account is exported with less than 100 MB of additional memory, also after kill -9",
  async () => {
    await using server = await startServer({ ...BUNDLED, DISK_RESERVE_BYTES: "1000000" });
    const user = await server.user();
    await enlarge(server, user);

    const id = await startExport(server, user, KILL_AT_BYTES);
    await server.kill();
    await server.start();
    const before = await memoryOf(server.pid(), "VmRSS");
    const started = performance.now();
    const { size_bytes: size, download_url: link } = await exportIs(user, id, "ready", DEADLINE_SECONDS);
    const seconds = (performance.now() - started) / 1000;
    const added = (await memoryOf(server.pid(), "VmHWM")) - before;
    console.log(
      `export: ${ROWS} rows, ${(size! / 1e9).toFixed(1)} GB in ${seconds.toFixed(1)} s, ${added.toFixed(0)} MB added`,
    );
    expect(size).toBeGreaterThan(FILES * FILE_BYTES);

    // Read on the disk, because a copy would take just as long.
    const { exportsRoot } = getFolders(server.data);
    const [archive] = await readdir(exportsRoot);
    const path = join(exportsRoot, archive!);
    expect(Bun.file(path).size).toBe(size!);
    expect((await fetch(link!, { method: "HEAD" })).headers.get("content-length")).toBe(String(size));
    // Smaller archives are tested completely in `test/http/`.
    if (IS_FULL) expect(await testWithUnzip(path)).toBe(0);
    const { entries, texts } = await readZip(path, (name) => name.endsWith(".json"));
    expect(
      entries.filter((entry) => entry.fileName.startsWith("media/")).map((entry) => entry.uncompressedSize),
    ).toEqual(Array(FILES).fill(FILE_BYTES));
    expect(rowsOf(texts, "cuts.json")).toHaveLength(ROWS / 4);
    expect(rowsOf(texts, "notifications.json")).toHaveLength(NOTIFICATIONS + 1);
    expect(rowsOf(texts, "credit_history.json")).toHaveLength((ROWS * 3) / 4 - NOTIFICATIONS + 1);
    expect(added).toBeLessThan(MAX_ADDED_MB);

    const [row] = await server.query<{ failures: number; state: string }>("SELECT failures, state FROM data_exports");
    expect(row).toEqual({ failures: 2, state: "ready" });
    await rm(path);
  },
  LIMIT_MS,
);
