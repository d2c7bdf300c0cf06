/** Backups, verifications and drills started by administrators, and their records. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../src/lib/ids";
import { findLastRun, insertBackupRun } from "../../src/store/backup-runs";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(2 * PATIENCE_MS);

type Run = {
  id: string;
  kind: string;
  state: string;
  path: string;
  is_available: boolean;
  files: number;
  bytes: number;
  checked_files: number;
  balances: number;
  error: string | null;
  ended_at: string | null;
};
type List = {
  items: Run[];
  total: number;
  running: Run | null;
  last_backup: Run | null;
  last_proven_restore: Run | null;
  last_failure: Run | null;
  settings: { backup_to: string; next_at: string };
};

const BACKUPS = "/api/v1/admin/backups";
const PATIENCE_SECONDS = PATIENCE_MS / 1000;

let folder: TemporaryFolder;
let server: Harness;
let admin: Client;
let assetId: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  server = await harness({ BACKUP_TO: folder.path }, { sharesChild: true });
  admin = await startSession(server, await createAdmin(server));
  const user = await server.user();
  ({ id: assetId } = await user.ready(await wav(2)));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const list = () => admin.must<List>("GET", BACKUPS);
/** Waits for the end of a run. */
const ended = (id: string) =>
  until(
    `the end of ${id}`,
    async () => (await list()).items.find((run) => run.id === id && run.state !== "running") ?? null,
    PATIENCE_SECONDS,
  );

test("the nightly backup is followed by a drill, which proves it", async () => {
  const proven = await until("a proven restore", async () => (await list()).last_proven_restore, PATIENCE_SECONDS);
  const { items, last_backup, last_failure, running, settings } = await list();
  expect(items.map(({ kind, state }) => `${kind} ${state}`)).toEqual(["drill completed", "backup completed"]);
  expect(proven).toMatchObject({ path: last_backup!.path, checked_files: proven!.files });
  // The hourly snapshot, if it was taken before the backup: drills do not restore snapshots.
  expect([0, 1]).toContain(last_backup!.files - proven!.files);
  expect([running, last_failure, settings.backup_to]).toEqual([null, null, folder.path]);
  expect(Date.parse(settings.next_at)).toBeGreaterThan(Date.now());
  // The same night again: neither is repeated.
  await server.restart();
  expect((await list()).total).toBe(2);
});

test("a backup is started once for an Idempotency-Key, verified, and its damage is named", async () => {
  const headers = { "Idempotency-Key": newId() };
  const started = await admin.call<Run>("POST", BACKUPS, { headers });
  expect(started).toMatchObject({ status: 202, body: { kind: "backup", state: "running", ended_at: null } });
  const repeated = await admin.call<Run>("POST", BACKUPS, { headers });
  expect([repeated.status, repeated.body.id]).toEqual([202, started.body.id]);
  const backup = await ended(started.body.id);
  expect(backup).toMatchObject({ state: "completed", is_available: true, error: null });

  const verify = async () => ended((await admin.must<Run>("POST", `${BACKUPS}/${backup.id}/verify`)).id);
  expect(await verify()).toMatchObject({ state: "completed", path: backup.path, checked_files: backup.files });
  const source = join(backup.path, "media", assetId, "source");
  const bytes = await readFile(source);
  bytes[50]! ^= 1;
  await writeFile(source, bytes);
  const error = `media/${assetId}/source has changed since the backup.`;
  expect(await verify()).toMatchObject({ state: "failed", error });
  expect((await list()).last_failure).toMatchObject({ kind: "verify", error });

  const actions = await admin.must<{ items: { action: string; target: { kind: string } }[] }>(
    "GET",
    "/api/v1/admin/audit?limit=3",
  );
  expect(actions.items.map(({ action, target }) => [action, target.kind])).toEqual([
    ["backup.verification_started", "backup_run"],
    ["backup.verification_started", "backup_run"],
    ["backup.started", "backup_run"],
  ]);
  // The next backup stores the file again.
  await ended((await admin.must<Run>("POST", BACKUPS)).id);
  expect((await list()).last_failure).toBeNull();
  expect(await verify()).toMatchObject({ state: "completed" });
  await rm(backup.path, { recursive: true });
  expect(await admin.call("POST", `${BACKUPS}/${backup.id}/verify`)).toMatchObject({ status: 409 });
});

test("one at a time: a second start is 409, and a running one ends with the server", async () => {
  const drill = await admin.must<Run>("POST", `${BACKUPS}/drill`);
  expect((await list()).running).toMatchObject({ id: drill.id, kind: "drill" });
  for (const path of ["", "/drill"])
    expect(await admin.call("POST", `${BACKUPS}${path}`)).toMatchObject({
      status: 409,
      body: { code: "conflict", detail: "A drill is running. Wait until it is complete." },
    } as never);
  await server.restart();
  expect(await ended(drill.id)).toMatchObject({
    state: "failed",
    error: "The server stopped before it was complete.",
  });
  // An older backup may be on its way out.
  await until("only complete backups", async () => (await readdir(folder.path)).every((name) => !name.startsWith(".")));
});

test("a run that was killed with the server has failed after the next start", async () => {
  const id = newId();
  await server.restart((store) =>
    store.write((tx) => insertBackupRun(tx, { id, kind: "backup", state: "running", path: "/backup", started_at: 1 })),
  );
  expect(await ended(id)).toMatchObject({ state: "failed", error: "The server stopped before it was complete." });
  expect(await findLastRun(server.services().store.read, "backup", "running")).toBeNull();
});
