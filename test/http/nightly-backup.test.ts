/** The nightly backup of a running server, whose clock is moved. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createRecoveryKey } from "../../src/lib/recovery-key";
import { listBackupRuns } from "../../src/store/backup-runs";
import { BUCKET, startS3Server } from "../s3-server";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;

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

test("a server backs up to a bucket each night, and drills once a week", async () => {
  await using s3 = await startS3Server();
  Object.assign(process.env, s3.env);
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      for (const name of Object.keys(s3.env)) delete process.env[name];
    },
  };
  const settings = { BACKUP_TO: `s3://${BUCKET}/office`, BACKUP_KEY: createRecoveryKey() };
  await using server = await harness(settings, { drillCommand: ["/bin/false"] });
  const list = async (kind: "backup" | "drill") =>
    (await listBackupRuns(server.services().store.read, { kind }, { limit: 99, offset: 0 })).rows.filter(
      ({ state }) => state !== "running",
    );
  await until("the first night", async () => (await list("drill")).length === 1, PATIENCE_MS / 1000);
  for (let day = 2; day <= 8; day++) {
    server.advance(DAY_MS);
    await server.restart();
    await until(`night ${day}`, async () => (await list("backup")).length === day, PATIENCE_MS / 1000);
    if (day < 8) expect(await list("drill")).toHaveLength(1);
  }
  await until("the drill of the next week", async () => (await list("drill")).length === 2, PATIENCE_MS / 1000);
  expect((await list("backup")).map(({ state }) => state)).toEqual(Array(8).fill("completed"));
});
