import { expect, test } from "bun:test";
import { newId } from "../../../src/lib/ids";
import {
  failInterruptedRuns,
  findBackupRun,
  findLastRun,
  insertBackupRun,
  listBackupRuns,
  readLastSuccesses,
} from "../../../src/store/backup-runs";
import { freshStore } from "./test-store";

const RUN = { path: "/backup", started_at: 1 };

test("a thousand runs are kept, and the last success of each kind", async () => {
  await using db = await freshStore();
  const proven = newId();
  await db.store.write(async (tx) => {
    await insertBackupRun(tx, { id: newId(), kind: "backup", state: "failed", error: "Full.", ...RUN });
    await insertBackupRun(tx, { id: proven, kind: "drill", state: "completed", ...RUN });
    for (let n = 0; n < 1_005; n++)
      await insertBackupRun(tx, { id: newId(), kind: "backup", state: "failed", error: String(n), ...RUN });
  });
  const { read } = db.store;
  const { rows, total } = await listBackupRuns(read, {}, { limit: 1, offset: 0 });
  expect([total, rows[0]?.error]).toEqual([1_001, "1004"]);
  expect((await readLastSuccesses(read)).drill?.id).toBe(proven);
});

test("runs of a killed server end as failures, and others stay as they are", async () => {
  await using db = await freshStore();
  const [running, completed] = [newId(), newId()];
  const interrupted = await db.store.write(async (tx) => {
    await insertBackupRun(tx, { id: completed, kind: "verify", state: "completed", ended_at: 2, ...RUN });
    await insertBackupRun(tx, { id: running, kind: "backup", state: "running", ...RUN });
    return failInterruptedRuns(tx, "Stopped.", 9);
  });
  expect(interrupted).toBe(1);
  const { read } = db.store;
  expect(await findBackupRun(read, running)).toMatchObject({ state: "failed", error: "Stopped.", ended_at: 9 });
  expect(await findBackupRun(read, completed)).toMatchObject({ state: "completed", ended_at: 2 });
  expect(await findLastRun(read, "backup", "running")).toBeNull();
});
