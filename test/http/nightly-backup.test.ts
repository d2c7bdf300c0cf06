/** The nightly backup of a running server, whose clock is moved. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createRecoveryKey } from "../../src/lib/recovery-key";
import { listBackupRuns } from "../../src/store/backup-runs";
import { BUCKET, startS3Server } from "../s3-server";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import { harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;
const BACKUPS = "/api/v1/admin/backups";

test("a server writes the backup that was missed, one for each day, and removes old ones", async () => {
  await using backups = await temporaryFolder();
  const list = async () => (await readdir(backups.path)).filter((name) => name.startsWith("offcut-")).sort();
  const settings = { BACKUP_TO: backups.path, BACKUP_KEEP_DAILY: "2", BACKUP_KEEP_WEEKLY: "0" };
  await using server = await harness(settings, { drillCommand: ["/bin/false"] });
  const [first] = await until("the first backup", async () => ((await list()).length === 1 ? list() : null));
  for (let day = 2; day <= 3; day++) {
    server.advance(DAY_MS);
    await server.restart();
    await until(`the backup of day ${day}`, () =>
      server.log.filter((line) => line.includes('"backup.completed"')).length === day ? true : null,
    );
  }
  await until("two backups", async () => ((await list()).length === 2 ? true : null));
  expect(await list()).not.toContain(first!);
  const listDrills = async () =>
    (await listBackupRuns(server.services().store.read, { kind: "drill" }, { limit: 9, offset: 0 })).rows;
  const newest = join(backups.path, (await list()).at(-1)!);
  const drills = await until("the end of the drill of the last backup", async () => {
    const found = await listDrills();
    return found[0]?.path === newest && found[0].state === "failed" ? found : null;
  });
  // The same day again: nothing is written, and a drill that failed is not repeated.
  await server.restart();
  await server.idle();
  expect(await listDrills()).toEqual(drills);
  expect(server.log.filter((line) => line.includes('"backup.completed"'))).toHaveLength(3);
});

test("a server backs up to a bucket, whose backups administrators verify, and which the next one heals", async () => {
  await using s3 = await startS3Server();
  Object.assign(process.env, s3.env);
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      for (const name of Object.keys(s3.env)) delete process.env[name];
    },
  };
  const settings = { BACKUP_TO: `s3://${BUCKET}/office`, BACKUP_KEY: createRecoveryKey() };
  await using server = await harness(settings, { drillCommand: ["/bin/false"] });
  const admin = await startSession(server, await createAdmin(server));
  type Run = { id: string; kind: string; state: string; path: string; error: string | null; is_available: boolean };
  const list = async () => (await admin.must<{ items: Run[] }>("GET", BACKUPS)).items;
  const ended = (what: string, find: (run: Run) => boolean) =>
    until(what, async () => (await list()).find((run) => find(run) && run.state !== "running"), PATIENCE_MS / 1000);
  const start = async (path: string) => {
    const { id } = await admin.must<Run>("POST", BACKUPS + path);
    return ended(path, (run) => run.id === id);
  };
  await ended("the drill of the first night", ({ kind }) => kind === "drill");
  const backup = (await list()).find(({ kind }) => kind === "backup")!;
  expect(backup).toMatchObject({ state: "completed", is_available: true });
  const verify = () => start(`/${backup.id}/verify`);
  expect(await verify()).toMatchObject({ state: "completed", path: backup.path, error: null });
  // The secrets are the smallest file.
  const blobs = (await s3.client.list({ prefix: "office/blobs/" })).contents!;
  const { key } = blobs.toSorted((a, b) => a.size! - b.size!)[0]!;
  await s3.client.write(key, (await s3.client.file(key).bytes()).reverse());
  const error = "secrets.json has changed since the backup.";
  expect(await verify()).toMatchObject({ state: "failed", error });
  expect(await start("")).toMatchObject({ state: "completed" });
  expect(await verify()).toMatchObject({ state: "completed", error: null });
});
