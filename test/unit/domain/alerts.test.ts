import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CertificateFacts,
  type DiskFacts,
  findBackupProblem,
  findCertificateProblem,
  findDiskProblem,
  findDrillProblem,
  findFilesProblem,
  findFolderProblem,
  findWebhookProblem,
  findWorkerProblem,
  mayReport,
  type WebhookFacts,
} from "../../../src/domain/alerts";

const DAY = 24 * 3600 * 1000;
const NOW = 1_800_000_000_000;
const GB = 1e9;

const disk = (change: Partial<DiskFacts>): DiskFacts => ({
  freeBytes: 500 * GB,
  totalBytes: 1000 * GB,
  reserveBytes: 2 * GB,
  trend: null,
  ...change,
});

test.each<[string, Partial<DiskFacts>, string | null]>([
  ["half of it is free", {}, null],
  ["exactly a tenth is free", { freeBytes: 100 * GB }, null],
  ["less than a tenth is free", { freeBytes: 99 * GB }, "warning: Only 9% of the disk is free"],
  ["the reserve is reached", { freeBytes: 2 * GB }, "critical: The disk is full: 2 GB free"],
  ["it fills up in 10 days", { trend: { bytesPerDay: -49 * GB } }, null],
  ["it fills up in a week", { trend: { bytesPerDay: -72 * GB } }, "warning: The disk will be full in 6 days"],
  ["it fills up today", { trend: { bytesPerDay: -900 * GB } }, "critical: The disk will be full within a day"],
  ["it gets emptier", { trend: { bytesPerDay: 900 * GB } }, null],
  ["both", { freeBytes: 40 * GB, trend: { bytesPerDay: -30 * GB } }, "warning: Only 4% of the disk is free"],
  ["its size is unknown", { totalBytes: 0 }, null],
])("a disk when %s", (_, change, expected) => {
  const found = findDiskProblem(disk(change));
  expect(found && `${found.severity}: ${found.title}`).toBe(expected);
});

test("the problem of a disk that is small and fills up contains both", () => {
  expect(findDiskProblem(disk({ freeBytes: 40 * GB, trend: { bytesPerDay: -30 * GB } }))?.detail).toBe(
    "40 GB of 1 TB are left. At the current rate the disk is full in a day. Free some space or add a larger disk.",
  );
});

const HOUR = 3600 * 1000;

test.each<[string, number, string | null, string | null]>([
  ["of last night", 10 * HOUR, null, null],
  ["that takes two hours", 26 * HOUR, null, null],
  ["that is missing", 27 * HOUR, null, "warning: The backup is late"],
  ["that failed", HOUR, "The disk is full", "warning: The backup failed"],
  ["that failed two nights", 50 * HOUR, "The disk is full", "warning: No backup has succeeded for 2 days"],
  ["that is missing for a week", 7 * DAY + 1, null, "critical: No backup has succeeded for 7 days"],
])("a backup %s", (_, age, error, expected) => {
  const found = findBackupProblem({ completedAt: NOW - age, error }, NOW);
  expect(found && `${found.severity}: ${found.title}`).toBe(expected);
  if (found && error) expect(found.detail).toBe("The disk is full. Offcut tries again every hour.");
});

test("the problem of a failed drill has the reason, in a limited number of characters", () => {
  expect(findDrillProblem(null)).toBeNull();
  expect(findDrillProblem("2 balances differ.")?.detail).toBe(
    "The newest backup may not be restorable. 2 balances differ.",
  );
  expect(findDrillProblem("x".repeat(10_000))!.detail.length).toBeLessThan(400);
});

test("a folder that is offline and damaged files", () => {
  expect([findFolderProblem(null), findFilesProblem(0)]).toEqual([null, null]);
  expect(findFolderProblem("media folder /mnt/media is away. Mount it")?.detail).toBe(
    "The media folder /mnt/media is away. Mount it. Uploads, renders and exports wait until it is back.",
  );
  expect(findFilesProblem(1)?.title).toBe("A file is missing or damaged");
  expect(findFilesProblem(1200)?.title).toBe("1,200 files are missing or damaged");
});

test.each<[string, Partial<CertificateFacts>, string | null]>([
  ["in a month", { usedUntil: NOW + 30 * DAY }, null],
  ["in 10 days", { usedUntil: NOW + 10 * DAY }, "warning: The TLS certificate expires in 10 days"],
  ["in 2 days", { usedUntil: NOW + 2 * DAY }, "critical: The TLS certificate expires in 2 days"],
  ["in an hour", { usedUntil: NOW + DAY / 24 }, "critical: The TLS certificate expires within a day"],
  ["a minute ago", { usedUntil: NOW - 60_000 }, "critical: The TLS certificate has expired"],
])("a certificate that ends %s", (_, change, expected) => {
  const found = findCertificateProblem({ usedUntil: NOW, storedUntil: null, ...change }, NOW);
  expect(found && `${found.severity}: ${found.title}`).toBe(expected);
});

test("a renewed certificate is not in use before a restart", () => {
  const usedUntil = NOW + 2 * DAY;
  expect(findCertificateProblem({ usedUntil, storedUntil: NOW + 90 * DAY }, NOW)?.detail).toContain(
    "Restart the server",
  );
  expect(findCertificateProblem({ usedUntil, storedUntil: usedUntil }, NOW)?.detail).toContain("Renew it");
});

test("workers that are gone are named, and a long list is cut", () => {
  const names = Array.from({ length: 8 }, (_, n) => `render-${n}`);
  expect(findWorkerProblem({ names: [], online: 0 })).toBeNull();
  expect(findWorkerProblem({ names: ["render-1"], online: 2 })).toMatchObject({
    severity: "warning",
    title: "Worker render-1 is gone",
  });
  expect(findWorkerProblem({ names, online: 0 })).toMatchObject({
    severity: "critical",
    title: "8 workers are gone: render-0, render-1, render-2, render-3, render-4 and 3 more",
  });
  expect(findWorkerProblem({ names: ["x".repeat(5_000)], online: 1 })!.title.length).toBeLessThan(100);
});

test.each<[WebhookFacts, string | null]>([
  [{ hosts: [], total: 0, disabled: 0 }, null],
  [
    { hosts: ["a.example"], total: 1, disabled: 0 },
    "The webhook endpoint at a.example fails. No delivery has succeeded for a day. Ask the owner to check the receiver.",
  ],
  [
    { hosts: ["a.example"], total: 1, disabled: 1 },
    "The webhook endpoint at a.example fails. Offcut disabled it after too many failures. Ask the owner to check the receiver.",
  ],
  [
    { hosts: ["a.example", "a.example", "b.example"], total: 3, disabled: 2 },
    "3 webhook endpoints fail. At a.example and b.example, no delivery has succeeded for a day. Offcut disabled 2 of them. Ask the owners to check the receivers.",
  ],
])("webhooks %#", (facts, expected) => {
  const found = findWebhookProblem(facts);
  expect(found && `${found.title}. ${found.detail}`).toBe(expected);
});

test("a problem is reported at most once in 24 hours, whatever the clock does", () => {
  expect(mayReport(null, NOW)).toBe(true);
  expect(mayReport(NOW, NOW)).toBe(false);
  expect(mayReport(NOW - DAY + 1, NOW)).toBe(false);
  expect(mayReport(NOW - DAY, NOW)).toBe(true);
  // A clock that was set back.
  expect(mayReport(NOW + 1, NOW)).toBe(true);
});

test("for any checks at growing times, reports are a day apart", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 * 3600_000 }), { maxLength: 200 }), (steps) => {
      let [now, last] = [NOW, null as number | null];
      for (const step of steps) {
        now += step;
        if (!mayReport(last, now)) continue;
        if (last !== null && now - last < DAY) return false;
        last = now;
      }
      return true;
    }),
  );
});
