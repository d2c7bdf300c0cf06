/** Alerts with a simulated clock: the stored reports and the notifications of administrators. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import { loadConfig } from "../../../../src/config";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { listOpenAlerts, saveDiskSample } from "../../../../src/store/alerts";
import { insertBackupRun } from "../../../../src/store/backup-runs";
import { INTERRUPTED } from "../../../../src/work/backup/backups";
import type { WorkerList, WorkerView } from "../../../../src/work/cluster/worker-list";
import type { DiskState } from "../../../../src/work/health/system-health";
import { createAlerts } from "../../../../src/work/upkeep/alerts";
import { createCertificate } from "../../../certificate";
import { addUser, freshStore } from "../../store/test-store";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const GB = 1e9;
const NOW = 1_800_000_000_000;

/**
 * Creates alerts of a server that has been running for a day. `settings` are environment variables without the prefix.
 */
async function watch(settings: Record<string, string> = {}) {
  const fresh = await freshStore();
  const { store } = fresh;
  const { userId: adminId } = await store.write(addUser);
  const { userId } = await store.write(addUser);
  await store.write((tx) => tx.run(sql`UPDATE users SET is_admin = true WHERE id = ${adminId}`));
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`OFFCUT_${name}`, value]));
  // A separate file, so that settings of an installed server do not apply.
  const file = join(fresh.folder, "settings.toml");
  await Bun.write(file, "");
  const config = await loadConfig({ file, env, flags: {} });
  const time = { now: NOW, clock: 0 };
  const disk: DiskState = { freeBytes: 500 * GB, totalBytes: 1000 * GB, reserveBytes: 2 * GB, isLow: false };
  const workers: WorkerView[] = [];
  let isDiskUnknown = false;
  const start = () =>
    createAlerts({
      config,
      folders: getFolders(fresh.folder),
      store,
      disk: {} as never,
      log: silentLog(),
      now: () => time.now,
      confirmedNow: () => 0,
      clock: () => time.clock,
      workerList: { list: async () => workers } as Partial<WorkerList> as WorkerList,
      readDisk: async () => {
        if (isDiskUnknown) throw new Error("The disk does not respond.");
        return { ...disk };
      },
    });
  let alerts = start();
  const pass = (milliseconds: number) => {
    time.now += milliseconds;
    // Only the time of day can be set back.
    time.clock += Math.max(0, milliseconds);
  };
  pass(DAY);
  return {
    store,
    folder: fresh.folder,
    disk,
    workers,
    adminId,
    userId,
    forget: (isUnknown: boolean) => {
      isDiskUnknown = isUnknown;
    },
    /** Checks after some time. */
    check: async (after = 0) => {
      pass(after);
      await alerts.check();
    },
    now: () => time.now,
    restart: () => {
      alerts = start();
    },
    open: async () => (await listOpenAlerts(store.read)).map(({ title }) => title),
    /** Returns the notifications of a user, oldest first. */
    notified: async (id = adminId) =>
      (
        await store.read.all<{ type: string; title: string }>(
          sql`SELECT type, payload ->> 'title' AS title FROM notifications WHERE user_id = ${id} ORDER BY id`,
        )
      ).map(({ type, title }) => `${type === "problem_found" ? "found" : "resolved"}: ${title}`),
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  };
}

const FULL = "Only 5% of the disk is free";

test("a problem is reported once, again each day while it lasts, and once when it has ended", async () => {
  await using s = await watch();
  await s.check();
  expect([await s.open(), await s.notified()]).toEqual([[], []]);
  s.disk.freeBytes = 50 * GB;
  await s.check();
  for (let minute = 0; minute < 30; minute++) await s.check(MINUTE);
  expect([await s.open(), await s.notified()]).toEqual([[FULL], [`found: ${FULL}`]]);
  await s.check(DAY);
  await s.check(HOUR);
  expect(await s.notified()).toEqual([`found: ${FULL}`, `found: ${FULL}`]);
  s.disk.freeBytes = 500 * GB;
  await s.check(MINUTE);
  expect(await s.open()).toEqual([FULL]);
  await s.check(11 * MINUTE);
  await s.check(DAY);
  expect(await s.open()).toEqual([]);
  expect((await s.notified()).slice(2)).toEqual(["resolved: The disk has enough free space again"]);
  expect(await s.notified(s.userId)).toEqual([]);
});

test("a problem that comes and goes is reported once a day, and shown each time", async () => {
  await using s = await watch();
  for (let times = 0; times < 20; times++) {
    s.disk.freeBytes = 50 * GB;
    await s.check(20 * MINUTE);
    expect(await s.open()).toEqual([FULL]);
    s.disk.freeBytes = 500 * GB;
    await s.check(MINUTE);
    await s.check(11 * MINUTE);
    expect(await s.open()).toEqual([]);
  }
  expect(await s.notified()).toEqual([`found: ${FULL}`, "resolved: The disk has enough free space again"]);
  // Too short to count as resolved: it is still the same problem.
  s.disk.freeBytes = 50 * GB;
  await s.check(DAY);
  const [{ found }] = (await s.store.read.all<{ found: number }>(sql`SELECT count(*) AS found FROM alerts`)) as [
    { found: number },
  ];
  s.disk.freeBytes = 500 * GB;
  await s.check(MINUTE);
  s.disk.freeBytes = 50 * GB;
  await s.check(9 * MINUTE);
  s.disk.freeBytes = 500 * GB;
  await s.check(9 * MINUTE);
  expect(await s.store.read.all<object>(sql`SELECT count(*) AS found FROM alerts`)).toEqual([{ found }]);
});

test("a restart reports nothing twice, and downtime does not flood", async () => {
  await using s = await watch();
  s.disk.freeBytes = 50 * GB;
  await s.check();
  s.restart();
  await s.check(MINUTE);
  expect(await s.notified()).toHaveLength(1);
  // The server was off for two weeks.
  s.restart();
  await s.check(14 * DAY);
  await s.check(MINUTE);
  expect(await s.notified()).toEqual([`found: ${FULL}`, `found: ${FULL}`]);
});

test("a server without administrators reports as soon as there is one", async () => {
  await using s = await watch();
  await s.store.write((tx) => tx.run(sql`UPDATE users SET is_admin = false`));
  s.disk.freeBytes = 50 * GB;
  await s.check();
  await s.store.write((tx) => tx.run(sql`UPDATE users SET is_admin = true WHERE id = ${s.userId}`));
  await s.check(MINUTE);
  expect([await s.notified(), await s.notified(s.userId)]).toEqual([[], [`found: ${FULL}`]]);
});

test("a check that fails leaves its problem as it is, and the others are checked", async () => {
  await using s = await watch({ REDIS_URL: "redis://127.0.0.1:1" });
  s.disk.freeBytes = 50 * GB;
  await s.check();
  s.forget(true);
  s.workers.push(worker("render-1", s.now() - HOUR));
  await s.check(MINUTE);
  await s.check(HOUR);
  expect((await s.open()).toSorted()).toEqual([FULL, "Worker render-1 is gone"]);
});

test("a disk that fills up is reported before it is full", async () => {
  await using s = await watch();
  const samples = Array.from({ length: 72 }, (_, hours) => ({ hours, freeBytes: (300 + hours * 2) * GB }));
  for (const { hours, freeBytes } of samples.toReversed())
    await s.store.write((tx) => saveDiskSample(tx, { takenAt: s.now() - hours * HOUR, freeBytes }, 0));
  s.disk.freeBytes = 300 * GB;
  await s.check();
  expect(await s.notified()).toEqual(["found: The disk will be full in 6 days"]);
});

test("the disk of the data folder is watched too when the media is on another one", async () => {
  await using s = await watch();
  s.disk.dataDisk = { freeBytes: 50 * GB, totalBytes: 1000 * GB };
  await s.check();
  expect(await s.notified()).toEqual(["found: Only 5% of the disk of the data folder is free"]);
});

test("the free space is measured once an hour, and kept for a week", async () => {
  await using s = await watch();
  for (let n = 0; n < 10; n++) await s.check(10 * MINUTE);
  const count = async () => (await s.store.read.all(sql`SELECT taken_at FROM disk_samples`)).length;
  expect(await count()).toBe(2);
  for (let n = 0; n < 180; n++) await s.check(HOUR);
  expect(await count()).toBe(169);
  // A clock that is set back.
  await s.check(-30 * DAY);
  expect(await count()).toBe(1);
});

test("a certificate is reported 14 days before its end, and a renewed one is in use after a restart", async () => {
  await using folder = await watch();
  await createCertificate(folder.folder);
  const [TLS_CERT, TLS_KEY] = [join(folder.folder, "cert.pem"), join(folder.folder, "key.pem")];
  await using s = await watch({ TLS_CERT, TLS_KEY });
  // The test's clock is before the certificate ends; it is valid for 2 days from today.
  const endsAt = Date.now() + 2 * DAY;
  await s.check(endsAt - 15 * DAY - s.now());
  expect(await s.open()).toEqual([]);
  await s.check(2 * DAY);
  expect(await s.open()).toEqual(["The TLS certificate expires in 12 days"]);
  await s.check(14 * DAY);
  expect(await s.open()).toEqual(["The TLS certificate has expired"]);
  expect(await s.notified()).toHaveLength(2);
});

const worker = (name: string, lastSeenAt: number, change: Partial<WorkerView> = {}, isDraining = false): WorkerView =>
  ({
    worker: { name, last_seen_at: lastSeenAt, is_draining: isDraining },
    revokedAt: null,
    state: "offline",
    current: [],
    ...change,
  }) as Partial<WorkerView> as WorkerView;

test("workers are gone after 10 minutes, unless they were drained, and not before they had time to join", async () => {
  await using s = await watch({ REDIS_URL: "redis://127.0.0.1:1" });
  s.workers.push(
    worker("gone", s.now() - 11 * MINUTE),
    worker("just away", s.now() - 9 * MINUTE),
    worker("drained", s.now() - DAY, {}, true),
    worker("online", s.now(), { state: "online" }),
  );
  s.restart();
  await s.check();
  await s.check(10 * MINUTE);
  expect(await s.open()).toEqual([]);
  s.workers[1] = worker("just away", s.now() + 6 * MINUTE);
  await s.check(6 * MINUTE);
  expect(await s.open()).toEqual(["Worker gone is gone"]);
  s.workers[0] = worker("gone", s.now(), { state: "online" });
  await s.check(MINUTE);
  await s.check(9 * MINUTE);
  expect(await s.notified()).toEqual(["found: Worker gone is gone"]);
  await s.check(2 * MINUTE);
  // The other one is gone by now: the same problem, with another subject.
  expect(await s.open()).toEqual(["Worker just away is gone"]);
  expect(await s.notified()).toHaveLength(1);
});

test("webhook endpoints are reported after a day without a success, and those that the server disabled", async () => {
  await using s = await watch();
  const insert = (id: string, state: string, values: { since?: number; at?: number; reason?: string }) =>
    s.store.write((tx) =>
      tx.run(
        sql`INSERT INTO webhook_endpoints (id, workspace_id, url, event_types, state, secret, created_at, failing_since, disabled_at, disabled_reason)
          VALUES (${id}, ${s.userId}, ${`https://${id}.example/secret-path`}, '[]', ${state}, 'whsec', 1, ${values.since ?? null}, ${values.at ?? null}, ${values.reason ?? null})`,
      ),
    );
  await insert("works", "enabled", {});
  await insert("new", "enabled", { since: s.now() - HOUR });
  await insert("manual", "disabled", { at: s.now(), reason: "manual" });
  await insert("long-ago", "disabled", { at: s.now() - 8 * DAY, reason: "failing" });
  await s.check();
  expect(await s.open()).toEqual([]);
  await insert("bad", "enabled", { since: s.now() - DAY });
  await s.check();
  expect(await s.open()).toEqual(["The webhook endpoint at bad.example fails"]);
  await insert("gone", "disabled", { at: s.now(), reason: "gone" });
  await s.check(MINUTE);
  const [alert] = await listOpenAlerts(s.store.read);
  expect([alert!.title, alert!.detail]).toEqual([
    "2 webhook endpoints fail",
    "At gone.example and bad.example, no delivery has succeeded for a day. Offcut disabled 1 of them. Ask the owners to check the receivers.",
  ]);
  await s.store.write((tx) => tx.run(sql`DELETE FROM webhook_endpoints WHERE id IN ('bad', 'gone')`));
  await s.check(MINUTE);
  await s.check(11 * MINUTE);
  expect(await s.notified()).toEqual([
    "found: The webhook endpoint at bad.example fails",
    "resolved: All webhook endpoints work again",
  ]);
});

test("a backup that fails or is late is reported, and a failed drill; one that the server interrupted itself is not", async () => {
  await using s = await watch({ BACKUP_TO: "/backup" });
  const run = (kind: "backup" | "drill", error: string | null, path = "/backup/offcut-x") =>
    s.store.write((tx) =>
      insertBackupRun(tx, {
        id: newId(),
        kind,
        state: error === null ? "completed" : "failed",
        path,
        error,
        started_at: s.now(),
        ended_at: s.now(),
      }),
    );
  await s.check();
  expect(await s.open()).toEqual([]);
  await s.check(3 * HOUR);
  expect(await s.open()).toEqual(["The backup is late"]);
  await run("backup", null, "/elsewhere/offcut-x");
  await s.check(MINUTE);
  expect(await s.open()).toEqual(["The backup is late"]);
  await run("backup", null);
  await run("drill", null);
  await s.check(MINUTE);
  await s.check(11 * MINUTE);
  await run("backup", INTERRUPTED);
  await run("drill", INTERRUPTED);
  await s.check(MINUTE);
  expect(await s.open()).toEqual([]);
  await run("backup", "The disk is full.");
  await run("drill", "Asset x differs.");
  await s.check(MINUTE);
  expect((await s.open()).toSorted()).toEqual(["The backup failed", "The restore drill failed"]);
  await run("backup", null);
  await run("drill", null);
  await s.check(MINUTE);
  await s.check(11 * MINUTE);
  expect(await s.open()).toEqual([]);
  expect(await s.notified()).toEqual([
    "found: The backup is late",
    "resolved: Backups are written again",
    "found: The restore drill failed",
    "resolved: A backup was restored and checked again",
  ]);
});
