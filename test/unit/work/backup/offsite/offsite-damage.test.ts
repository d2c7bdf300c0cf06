/** Damage, hostile buckets and wrong keys. */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createBlobCipher, getEncryptedBytes } from "../../../../../src/lib/blob-cipher";
import { createRecoveryKey, parseRecoveryKey } from "../../../../../src/lib/recovery-key";
import { openOffsiteBackup } from "../../../../../src/work/backup/offsite/offsite-backup";
import { SOURCE_BYTES } from "../recorded-folder";
import { NEVER, type OffsiteFolder, offsiteFolder, PLACE, refusal } from "./offsite-folder";

/** Returns the key of the blob with a content. */
const keyOf = ({ access }: OffsiteFolder, content: string): string =>
  `office/blobs/${createBlobCipher(parseRecoveryKey(access.recoveryKey()!)).nameOf(Buffer.from(content))}`;

const CASES: [string, (offsite: OffsiteFolder, key: string) => Promise<unknown>, string][] = [
  ["missing", ({ s3 }, key) => s3.client.delete(key), "is missing"],
  [
    "truncated",
    async ({ s3 }, key) => s3.client.write(key, (await s3.client.file(key).bytes()).slice(0, -1)),
    "has changed since the backup",
  ],
  [
    "altered",
    async ({ s3 }, key) => {
      const bytes = await s3.client.file(key).bytes();
      bytes[60]! ^= 1;
      return s3.client.write(key, bytes);
    },
    "has changed since the backup",
  ],
  [
    "swapped with another one of the same size",
    async (offsite, key) => {
      const { s3, recorded } = offsite;
      await Bun.write(recorded.folders.media(recorded.assetId).filmstrip, "x".repeat(SOURCE_BYTES.length));
      await offsite.backup();
      return s3.client.write(key, await s3.client.file(keyOf(offsite, "x".repeat(SOURCE_BYTES.length))).bytes());
    },
    "has changed since the backup",
  ],
  [
    "replaced by gigabytes",
    async ({ s3 }, key) => {
      s3.intercept = ({ key: requested, method }) => {
        if (requested !== key || method !== "GET") return null;
        const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1_000_000));
        return new Response(new ReadableStream({ pull }));
      };
    },
    "has changed since the backup",
  ],
];

describe("a blob of a recording that is", () => {
  test.each(CASES)("%s is refused with the name of the file", async (_, damage, problem) => {
    await using offsite = await offsiteFolder();
    const { recorded } = offsite;
    const path = `media/${recorded.assetId}/source`;
    const { path: backup } = await offsite.backup();
    await damage(offsite, keyOf(offsite, SOURCE_BYTES));
    const verified = await (await offsite.open())!.verify({ signal: NEVER });
    expect(verified.damaged).toEqual([{ path, problem }]);
    const message = await refusal(offsite.restore());
    expect(message).toContain(`${path} ${problem}`);
    expect(message).toContain("--skip-damaged-media");
    expect((await readdir(recorded.root)).sort()).toEqual(["data"]);
    const report = await offsite.restore({ skipDamagedMedia: true });
    expect(report.skipped).toEqual([{ path, problem }]);
    expect(await Bun.file(join(report.data_dir, path)).exists()).toBe(false);
    expect(await Bun.file(join(report.data_dir, "uploads", recorded.uploadId)).text()).toBe("first ha");
    // The next backup sends it again, which is good for the earlier ones too.
    offsite.s3.intercept = () => null;
    await offsite.backup();
    expect((await (await offsite.open(backup))!.verify({ signal: NEVER })).damaged).toEqual([]);
    expect(await offsite.s3.keys("office/damaged/")).toEqual([]);
  });
});

test("a damaged database is refused, also without media that is damaged", async () => {
  await using offsite = await offsiteFolder();
  const { s3, recorded } = offsite;
  await offsite.backup();
  const large = (await s3.client.list({ prefix: "office/blobs/" })).contents!.find(({ size }) => size! > 10_000)!;
  const bytes = await s3.client.file(large.key).bytes();
  bytes[5000]! ^= 1;
  await s3.client.write(large.key, bytes);
  expect(await refusal(offsite.restore({ skipDamagedMedia: true }))).toContain(
    "offcut.db has changed since the backup. Choose another",
  );
  expect(await readdir(recorded.root)).toEqual(["data"]);
});

test("the wrong recovery key is named by its ID, and a mistyped one is refused, without the key in the message", async () => {
  await using offsite = await offsiteFolder();
  await offsite.backup();
  const open = (key: string | null) =>
    refusal(openOffsiteBackup(PLACE, { ...offsite.access, recoveryKey: () => key }, { signal: NEVER }));
  const other = createRecoveryKey();
  const message = await open(other);
  expect(message).toMatch(
    /^The recovery key does not open s3:\/\/backups\/office: it has the ID [0-9a-f]{16}, the backups/,
  );
  expect(message).not.toContain(other.slice(0, 7));
  const typo = other.slice(0, -1) + (other.endsWith("A") ? "B" : "A");
  expect(await open(typo)).toBe("Recovery key is mistyped: its last characters do not match the others.");
  expect(await open("short")).toBe("A recovery key has 56 characters, but this one has 5.");
  expect(await open(null)).toContain("There is no recovery key yet.");
});

test("manifests of a stranger, moved manifests and those with other paths are not restored", async () => {
  await using offsite = await offsiteFolder();
  const { s3, access } = offsite;
  const { path } = await offsite.backup();
  const key = `office/snapshots/${path.split("/").at(-1)}.json`;
  const moved = "offcut-2027-02-01T00-00-00Z";
  const stranger = createBlobCipher(parseRecoveryKey(createRecoveryKey()));
  const own = createBlobCipher(parseRecoveryKey(access.recoveryKey()!));
  const write = (bytes: Uint8Array) => s3.client.write(`office/snapshots/${moved}.json`, bytes);
  const open = () => refusal(offsite.open(`${PLACE}/${moved}`));
  await write(await s3.client.file(key).bytes());
  expect(await open()).toContain(`The manifest of ${PLACE}/${moved} is damaged`);
  await write(stranger.encrypt(Buffer.from("{}"), `snapshot ${moved}`));
  expect(await open()).toContain("damaged, or was written with another recovery key");
  const { manifest } = (await offsite.open(path))!;
  for (const change of [
    { path: "../../etc/cron.d/offcut" },
    { path: "media/../../x" },
    { path: "/etc/passwd" },
    { bytes: 2 ** 60 },
    { bytes: 9 * 1024 ** 4 },
    { blobs: ["../secrets"] },
    { blobs: null },
  ]) {
    const files = manifest.files.map((file, index) => (index === 2 ? { ...file, ...change } : file));
    await write(own.encrypt(Buffer.from(JSON.stringify({ ...manifest, files })), `snapshot ${moved}`));
    expect(await open()).toMatch(/is not a valid backup/);
  }
  // The newest one that can be read is restored.
  expect((await offsite.open())!.path).toBe(path);
});

test("a list that never ends, is not a list, or has other objects in it does not hurt", async () => {
  await using offsite = await offsiteFolder();
  const { s3 } = offsite;
  await offsite.backup();
  await s3.client.write("office/blobs/../evil", "x").catch(() => {});
  await s3.client.write("office/blobs/not-a-blob", "x");
  await s3.client.write("office/snapshots/other.json", "x");
  await s3.client.write("office-2/snapshots/offcut-2028-01-31T03-00-00Z.json", "x");
  expect((await (await offsite.open())!.verify({ signal: NEVER })).damaged).toEqual([]);
  s3.intercept = ({ method, key }) =>
    method === "GET" && !key.includes("office") ? new Response("<html>Sign in</html>") : null;
  expect(await refusal(offsite.open())).toMatch(/^s3:\/\/backups\/office failed 3 times: .*InvalidResponse/);
});

test("sizes of objects follow from sizes of contents", async () => {
  await using offsite = await offsiteFolder();
  await offsite.backup();
  const { size } = await offsite.s3.client.file(keyOf(offsite, SOURCE_BYTES)).stat();
  expect(size).toBe(getEncryptedBytes(SOURCE_BYTES.length));
});
