/** The times of the nightly backup and its drill, and the records of a night whose bucket was down. */
import { expect, test } from "bun:test";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { type BackupRun, insertBackupRun, listBackupRuns } from "../../../../src/store/backup-runs";
import { COMMAND_ACTOR } from "../../../../src/work/access/audit";
import { createRunRecorder } from "../../../../src/work/backup/backup-status";
import { type BackupNeeds, createBackups, INTERRUPTED } from "../../../../src/work/backup/backups";
import { openBackupCatalog } from "../../../../src/work/backup/find-in-backups";
import { createNightlyBackup } from "../../../../src/work/backup/nightly-backup";
import { createProblemChecks, type ProblemNeeds } from "../../../../src/work/upkeep/problem-checks";
import { until } from "../../../until";
import { DAY_MS, type OffsiteFolder, offsiteFolder, PLACE } from "./offsite/offsite-folder";
import { SOURCE_BYTES } from "./recorded-folder";

const HOUR_MS = 3_600_000;
/** An hour after a backup is due. */
const NIGHT = new Date(2027, 0, 31, 3).getTime();

/** The nightly backup to a bucket, whose drills fail: no restored server runs. */
function createNights({ access, recorded: { folders, store } }: OffsiteFolder) {
  const clock = { now: NIGHT, uptime: 0 };
  const now = () => clock.now;
  const log = silentLog();
  const tools = { ffmpeg: null, encoder: null, sandbox: "none" };
  const config = { ...tools, backupTo: PLACE, backupAt: "02:00", backupKeepDaily: 7, backupKeepWeekly: 4 } as never;
  const backups = createBackups({ config, store, folders, now, log, drillCommand: ["/bin/false"], offsite: access });
  let polls = 0;
  const isBusy = () => {
    polls++;
    return backups.isBusy();
  };
  const nightly = createNightlyBackup(
    { backups: { ...backups, isBusy }, config, log, now, store } as Partial<BackupNeeds> as BackupNeeds,
    PLACE,
  );
  const list = async (kind: BackupRun["kind"]) =>
    (await listBackupRuns(store.read, { kind }, { limit: 99, offset: 0 })).rows;
  return {
    backups,
    clock,
    list,
    /** Polls once at this time, and returns the number of drills so far. */
    poll: async (time: number) => {
      clock.now = time;
      const before = polls;
      nightly.start();
      await until("a poll", () => polls > before);
      // It completes the running backup.
      await nightly.stop();
      return (await list("drill")).length;
    },
    catalog: () => openBackupCatalog({ backups, config, now } as Partial<BackupNeeds> as BackupNeeds),
    problem: () => {
      const services = { clock: () => clock.uptime, config, now, store } as unknown as ProblemNeeds;
      return createProblemChecks(services).backups_failing.find();
    },
  };
}

test("a night whose bucket is down is a failed run with the reason, and is made up for an hour later", async () => {
  await using offsite = await offsiteFolder();
  const nights = createNights(offsite);
  const { assetId } = offsite.recorded;
  offsite.s3.intercept = () => new Response("", { status: 503 });
  await nights.poll(NIGHT);
  const [failed] = await nights.list("backup");
  expect(failed).toMatchObject({ state: "failed", path: PLACE, started_at: NIGHT, ended_at: NIGHT });
  expect(failed!.error).toStartWith(`${PLACE} failed 3 times`);
  expect(await nights.problem()).toMatchObject({ title: "The backup failed", detail: expect.stringContaining(PLACE) });
  // The scrub continues without a backup to compare with.
  expect((await nights.catalog()).find(`media/${assetId}/source`)).toBeNull();
  offsite.s3.intercept = () => null;
  await nights.poll(NIGHT + HOUR_MS);
  expect((await nights.list("backup")).map(({ state }) => state)).toEqual(["completed", "failed"]);
  expect(await nights.problem()).toBeNull();
  expect((await nights.catalog()).find(`media/${assetId}/source`)).toMatchObject({ bytes: SOURCE_BYTES.length });
});

test("a failure while the clock was ahead does not delay the next attempt", async () => {
  await using offsite = await offsiteFolder();
  const nights = createNights(offsite);
  offsite.s3.intercept = () => new Response("", { status: 503 });
  await nights.poll(NIGHT + 30 * DAY_MS);
  offsite.s3.intercept = () => null;
  await nights.poll(NIGHT);
  expect((await nights.list("backup")).map(({ state }) => state)).toEqual(["completed", "failed"]);
});

test("in a bucket the drill of the server counts for a week, and one by hand only when it is a proof", async () => {
  await using offsite = await offsiteFolder();
  const { store } = offsite.recorded;
  const nights = createNights(offsite);
  const record = (change: Partial<BackupRun>) =>
    store.write((tx) =>
      insertBackupRun(tx, {
        id: newId(),
        kind: "drill",
        state: "failed",
        path: `${PLACE}/x`,
        started_at: nights.clock.now,
        ...change,
      }),
    );
  expect(await nights.poll(NIGHT)).toBe(1);
  expect(await nights.poll(NIGHT + DAY_MS)).toBe(1);
  // A week later, with drills of the days before: one by hand that failed, one of another place, one that was
  // interrupted.
  nights.clock.now = NIGHT + 6.5 * DAY_MS;
  const { done } = await nights.backups.drill(
    { path: PLACE },
    createRunRecorder(COMMAND_ACTOR, () => nights.clock.now),
  );
  await done.catch(() => {});
  await record({ state: "completed", path: "/mnt/backup/x" });
  await record({ error: INTERRUPTED });
  expect(await nights.poll(NIGHT + 7 * DAY_MS)).toBe(5);
  // The server may have been killed by the drill of this night.
  await store.write((tx) =>
    insertBackupRun(tx, {
      id: newId(),
      kind: "drill",
      state: "failed",
      path: PLACE,
      error: INTERRUPTED,
      started_at: NIGHT + 14 * DAY_MS - 1,
    }),
  );
  expect(await nights.poll(NIGHT + 14 * DAY_MS)).toBe(6);
  nights.clock.now = NIGHT + 20 * DAY_MS;
  await record({ state: "completed" });
  expect(await nights.poll(NIGHT + 21 * DAY_MS)).toBe(7);
});

test("the first backup is late a day after the first attempt, however often the server is restarted and its clock is set", async () => {
  await using offsite = await offsiteFolder();
  const nights = createNights(offsite);
  const { store } = offsite.recorded;
  // The time of day was wrong at the start.
  const { problem } = nights;
  nights.clock.now = NIGHT + 1000 * DAY_MS;
  expect(await problem()).toBeNull();
  const attempt = { id: newId(), kind: "backup", path: PLACE, error: "Bucket is away." } as const;
  await store.write((tx) =>
    insertBackupRun(tx, { ...attempt, state: "failed", started_at: nights.clock.now - 3 * DAY_MS }),
  );
  expect(await problem()).toMatchObject({ title: "No backup has succeeded for 3 days" });
  // A backup of the future, when the clock was ahead.
  await store.write((tx) =>
    insertBackupRun(tx, {
      ...attempt,
      id: newId(),
      error: null,
      state: "completed",
      started_at: nights.clock.now + DAY_MS,
    }),
  );
  expect(await problem()).toMatchObject({ title: "No backup has succeeded for 3 days" });
});
