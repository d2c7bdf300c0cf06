/** Pruning, two servers, and clocks that differ. */
import { expect, test } from "bun:test";
import { moveToTrash } from "../../../../../src/blobs/trash";
import { createRecoveryKey } from "../../../../../src/lib/recovery-key";
import { lockRepository } from "../../../../../src/work/backup/offsite/lock";
import { openRepository } from "../../../../../src/work/backup/offsite/repository";
import { pruneOffsite } from "../../../../../src/work/backup/prune";
import { DAY_MS, NEVER, type OffsiteFolder, offsiteFolder, PLACE, refusal, START } from "./offsite-folder";

const KEEP = { daily: 2, weekly: 0 };
const QUICK_LOCK = { renewMs: 10, lostMs: 10_000, staleMs: 30 * 60_000, attempts: 2, delayMs: 1 };

const prune = ({ access, recorded }: OffsiteFolder, keep = KEEP) =>
  pruneOffsite(PLACE, access, {
    folders: recorded.folders,
    keep,
    folderId: null,
    now: START + 365 * DAY_MS,
    signal: NEVER,
  });
const names = async ({ s3 }: OffsiteFolder) =>
  (await s3.keys("office/snapshots/")).map((key) => key.replace(/^.*\/|\.json$/g, "")).sort();
const verify = async (offsite: OffsiteFolder, url: string) =>
  (await (await offsite.open(url))!.verify({ signal: NEVER })).damaged;

test("old backups and what only they name are removed, and the others stay intact", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, s3 } = offsite;
  const { filmstrip } = recorded.folders.media(recorded.assetId);
  const paths: string[] = [];
  for (const day of [0, 1, 2, 3]) {
    await Bun.write(filmstrip, `of day ${day}`);
    paths.push((await offsite.backup({ now: START + day * DAY_MS })).path);
  }
  const database = await offsite.backup({ now: START + 60_000, hasMedia: false });
  const before = await s3.keys("office/blobs/");
  expect(await prune(offsite)).toEqual(["offcut-2027-02-01T02-00-00Z", "offcut-2027-01-31T02-00-00Z"]);
  const after = await s3.keys("office/blobs/");
  expect(after.length).toBeLessThan(before.length);
  for (const path of [paths[2]!, paths[3]!, database.path]) expect(await verify(offsite, path)).toEqual([]);
  // Again: nothing is left to remove.
  expect(await prune(offsite)).toEqual([]);
  expect(await s3.keys("office/blobs/")).toEqual(after);
});

test("the newest good backup stays, however many with missing or damaged blobs are newer", async () => {
  await using offsite = await offsiteFolder();
  const { s3, recorded } = offsite;
  const good = await offsite.backup({ now: START });
  await Bun.write(recorded.folders.media(recorded.assetId).filmstrip, "lost later");
  const before = new Set(await s3.keys("office/blobs/"));
  for (const day of [1, 2, 3]) await offsite.backup({ now: START + day * DAY_MS });
  const added = (await s3.keys("office/blobs/")).filter((key) => !before.has(key));
  // The content of each blob is damaged, which only reading finds.
  for (const key of added) await s3.client.write(key, (await s3.client.file(key).bytes()).reverse());
  const damaged = await names(offsite).then((found) => found.slice(1));
  for (const name of damaged) expect(await verify(offsite, `${PLACE}/${name}`)).not.toEqual([]);
  for (const key of (await s3.keys("office/damaged/")).slice(1))
    await s3.client.delete(key.replace("damaged", "blobs"));
  expect(await prune(offsite, { daily: 1, weekly: 0 })).toEqual(damaged.slice(0, 2).reverse());
  expect(await names(offsite)).toEqual([good.path.split("/").at(-1)!, damaged[2]!]);
  expect(await verify(offsite, good.path)).toEqual([]);
});

test("while a manifest cannot be read, no blob is removed", async () => {
  await using offsite = await offsiteFolder();
  const { s3 } = offsite;
  await offsite.backup();
  await s3.client.write("office/snapshots/offcut-2027-01-30T00-00-00Z.json", "damaged");
  const orphan = `office/blobs/${"0".repeat(64)}`;
  await s3.client.write(orphan, "of a killed backup");
  await prune(offsite);
  expect(await s3.client.exists(orphan)).toBe(true);
  await s3.client.delete("office/snapshots/offcut-2027-01-30T00-00-00Z.json");
  await prune(offsite);
  expect(await s3.client.exists(orphan)).toBe(false);
});

test("a killed pruning is completed by the next one", async () => {
  await using offsite = await offsiteFolder();
  const { s3, recorded } = offsite;
  for (const day of [0, 1, 2]) {
    await Bun.write(recorded.folders.media(recorded.assetId).filmstrip, `of day ${day}`);
    await offsite.backup({ now: START + day * DAY_MS });
  }
  s3.intercept = ({ method, key }) =>
    method === "DELETE" && key.includes("/blobs/") ? new Response("", { status: 500 }) : null;
  expect(await refusal(prune(offsite))).toContain("failed 3 times");
  s3.intercept = () => null;
  const before = await s3.keys("office/blobs/");
  expect(await names(offsite)).toHaveLength(2);
  await prune(offsite);
  expect((await s3.keys("office/blobs/")).length).toBeLessThan(before.length);
  for (const name of await names(offsite)) expect(await verify(offsite, `${PLACE}/${name}`)).toEqual([]);
});

test("a backup dated in the future neither stops nor removes those of today", async () => {
  await using offsite = await offsiteFolder();
  await offsite.backup({ now: START + 3650 * DAY_MS });
  const today = await offsite.backup({ now: START });
  await prune(offsite);
  expect(await verify(offsite, today.path)).toEqual([]);
  const same = await offsite.backup({ now: START });
  expect(same.path).toBe(`${PLACE}/offcut-2027-01-31T02-00-01Z`);
});

test("one server at a time writes to a prefix; the lock of a killed or vanished one is taken over", async () => {
  await using offsite = await offsiteFolder();
  const { access, recorded, s3 } = offsite;
  const repository = await openRepository(PLACE, access, NEVER);
  const other = await lockRepository(repository, "/srv/other", NEVER, QUICK_LOCK);
  const own = () => lockRepository(repository, recorded.data, NEVER, QUICK_LOCK);
  expect(await refusal(own())).toMatch(
    /^Server .* \(\/srv\/other\) is writing to s3:\/\/backups\/office\. Try again later/,
  );
  // A refused server leaves no lock that would stop the other one.
  expect(await s3.keys("office/locks/")).toHaveLength(1);
  // The same folder again: its process was killed.
  await (await lockRepository(repository, "/srv/other", NEVER, QUICK_LOCK)).release();
  await other.release();
  await lockRepository(repository, "/srv/other", NEVER, { ...QUICK_LOCK, renewMs: 3_600_000 });
  // Its age by the clock of the bucket is 0 s, and locks of that age are stale here.
  const lock = await lockRepository(repository, recorded.data, NEVER, { ...QUICK_LOCK, staleMs: -1000 });
  lock.requireHeld();
  await lock.release();
});

test("a server that cannot renew its lock stops before another one takes it", async () => {
  await using offsite = await offsiteFolder();
  const { access, recorded, s3 } = offsite;
  const repository = await openRepository(PLACE, access, NEVER);
  const lock = await lockRepository(repository, recorded.data, NEVER, { ...QUICK_LOCK, lostMs: 0 });
  s3.intercept = () => new Response("", { status: 500 });
  expect(() => lock.requireHeld()).toThrow("could not be renewed");
  await lock.release();
});

test("two servers with different keys do not mix their backups", async () => {
  await using offsite = await offsiteFolder();
  await offsite.backup();
  const key = createRecoveryKey();
  const other = offsite.backup({ access: { ...offsite.access, recoveryKey: () => key } });
  expect(await refusal(other)).toContain("The recovery key does not open s3://backups/office");
});

test("a file that is deleted while the backup runs is in it", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, s3 } = offsite;
  const { renderId } = recorded;
  let isDeleted = false;
  s3.intercept = async ({ method, key }) => {
    if (method === "PUT" && key.includes("/blobs/") && !isDeleted) {
      isDeleted = true;
      await moveToTrash(recorded.folders, [recorded.folders.render(renderId)]);
    }
    return null;
  };
  const report = await offsite.backup();
  expect(isDeleted).toBe(true);
  expect(report.missing).toEqual([]);
  const { manifest } = (await offsite.open())!;
  expect(manifest.files.map((file) => file.path)).toContain(`renders/${renderId}/output.mp4`);
});
