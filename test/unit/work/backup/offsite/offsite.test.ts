import { expect, test } from "bun:test";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { createRecoveryKey } from "../../../../../src/lib/recovery-key";
import type { OffsiteAccess } from "../../../../../src/work/backup/offsite/repository";
import { createBackupPlaces } from "../../../../../src/work/backup/places";
import { refuse } from "../../../../s3-server";
import { SOURCE_BYTES } from "../recorded-folder";
import { DAY_MS, NEVER, offsiteFolder, PLACE, refusal, START } from "./offsite-folder";

test("a backup in a bucket has every file, is intact, and restores on an empty machine", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, s3 } = offsite;
  const { assetId, uploadId, renderId } = recorded;
  await Bun.write(recorded.folders.media(assetId).filmstrip, "");
  const report = await offsite.backup();
  expect(report).toMatchObject({
    path: `${PLACE}/offcut-2027-01-31T03-00-00Z`,
    files: 7,
    copied_files: 4,
    linked_files: 1,
    missing: [],
    notes: [],
  });
  const backup = (await offsite.open())!;
  expect(await backup.verify({ signal: NEVER })).toEqual({
    path: report.path,
    files: 7,
    checked_files: 7,
    damaged: [],
    notes: [],
  });
  // Neither files in the data folder nor a lock are left behind.
  expect((await readdir(recorded.data)).filter((name) => name.startsWith("."))).toEqual([]);
  expect(await s3.keys("office/locks/")).toEqual([]);

  const target = join(recorded.root, "restored");
  expect(await offsite.restore()).toMatchObject({ from: report.path, files: 7, skipped: [], data_dir: target });
  expect((await readdir(recorded.root)).sort()).toEqual(["data", "restored"]);
  expect(await Bun.file(join(target, "media", assetId, "source")).text()).toBe(SOURCE_BYTES);
  expect(await Bun.file(join(target, "media", assetId, "filmstrip.jpg")).text()).toBe("");
  expect(await Bun.file(join(target, "uploads", uploadId)).text()).toBe("first ha");
  expect(await Bun.file(join(target, "renders", renderId, "output.mp4")).text()).toBe("render");
  expect(await Bun.file(join(target, "secrets.json")).text()).toBe('{"links":"secret"}');
});

test("a bucket is checked without writing to it, and problems are reported at once", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, access, s3 } = offsite;
  await offsite.backup();
  s3.requests.length = 0;
  const find = (change: Partial<OffsiteAccess> = {}, url = PLACE) =>
    createBackupPlaces({ folders: recorded.folders, now: () => 0, offsite: { ...access, ...change } }).findProblem(
      url,
      NEVER,
    );
  expect(await find()).toBeNull();
  expect(new Set(s3.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  const key = createRecoveryKey();
  expect(await find({ recoveryKey: () => key })).toContain("The recovery key does not open");
  expect(await find({ recoveryKey: () => null })).toContain("There is no recovery key yet.");
  expect(await find({ env: {} })).toContain("needs AWS_ACCESS_KEY_ID");
  expect(await find({}, "s3://absent/x")).toContain("the bucket does not exist");
  s3.intercept = () => refuse(403, "SignatureDoesNotMatch");
  expect(await find()).toContain("the secret access key is wrong");
  s3.intercept = () => new Response("", { status: 503 });
  expect(await find()).toStartWith(`${PLACE} failed 1 times`);
});

test("names and contents of files are not in the bucket", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, s3 } = offsite;
  await offsite.backup();
  const keys = await s3.keys();
  expect(keys.length).toBeGreaterThan(6);
  for (const key of keys) {
    expect(key).toMatch(/^office\/(repository\.json|snapshots\/offcut-[\dTZ-]+\.json|blobs\/[0-9a-f]{64})$/);
    const text = Buffer.from(await s3.client.file(key).bytes()).toString("latin1");
    for (const secret of [SOURCE_BYTES, recorded.assetId, "offcut.db", "first ha"]) expect(text).not.toContain(secret);
  }
});

test("a second backup sends only new content, and equal contents are one blob", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, s3 } = offsite;
  await offsite.backup();
  s3.requests.length = 0;
  await Bun.write(recorded.folders.media(recorded.assetId).filmstrip, "render");
  // The same bytes with another time: the file is read and not sent.
  await utimes(recorded.folders.media(recorded.assetId).source, 1_700_000_000, 1_700_000_000);
  expect(await offsite.backup()).toMatchObject({ files: 7, copied_files: 0, copied_bytes: 0, linked_files: 5 });
  const sent = s3.requests.filter(({ method, key }) => method === "PUT" && key.startsWith("office/blobs/"));
  // The copy of the database may be the same.
  expect(sent.length).toBeLessThanOrEqual(1);
});

test("the state at a time is that of the newest backup until then", async () => {
  await using offsite = await offsiteFolder();
  const first = await offsite.backup({ now: START });
  await offsite.backup({ now: START + DAY_MS });
  expect(await refusal(offsite.restore({ at: START - 1 }))).toContain(`${PLACE} has no state until`);
  expect(await readdir(offsite.recorded.root)).toEqual(["data"]);
  expect((await offsite.restore({ at: START + DAY_MS - 1 })).from).toBe(first.path);
});
