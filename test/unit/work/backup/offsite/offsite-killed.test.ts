/** Uploads that are killed, and their memory. */
import { expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fullOr } from "../../../../full-size";
import { until } from "../../../../until";
import { NEVER, type OffsiteFolder, offsiteFolder } from "./offsite-folder";

const BLOB_BYTES = 4 * 1024 * 1024;
/** 10 GiB, or 100 MiB. */
const BLOBS = fullOr(2560, 25);
const KILLED_AFTER = fullOr(1000, 8);
const MAX_MEMORY_MB = 200;
const PATIENCE_MS = fullOr(3_600_000, 120_000);

/** Writes a recording whose blobs differ. */
async function writeLarge(path: string): Promise<void> {
  const file = await open(path, "w");
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const part = Buffer.concat(Array.from({ length: BLOB_BYTES / bytes.length }, () => bytes));
  for (let n = 0; n < BLOBS; n++) {
    part.writeUInt32BE(n);
    await file.write(part);
  }
  // The last blob is shorter.
  await file.write("end");
  await file.close();
}

const startUpload = ({ recorded, access, s3 }: OffsiteFolder) =>
  Bun.spawn([process.execPath, join(import.meta.dir, "upload-process.ts"), recorded.data, access.recoveryKey()!], {
    env: { PATH: process.env.PATH, ...s3.env },
    stdout: "pipe",
    stderr: "inherit",
  });

test(
  "an upload that was killed sends no blob again, stays small in memory, and restores",
  async () => {
    await using offsite = await offsiteFolder();
    const { recorded, s3 } = offsite;
    const { source } = recorded.folders.media(recorded.assetId);
    await writeLarge(source);
    const stored = () => s3.requests.filter(({ method, key }) => method === "PUT" && key.includes("/blobs/"));

    const killed = startUpload(offsite);
    await until("some blobs", () => (stored().length >= KILLED_AFTER ? true : null), PATIENCE_MS / 1000);
    killed.kill("SIGKILL");
    await killed.exited;
    const before = new Map((await s3.keys("office/blobs/")).map((key) => [key, true]));
    expect(before.size).toBeGreaterThanOrEqual(KILLED_AFTER - 4);
    expect(before.size).toBeLessThan(BLOBS);
    expect(await offsite.open()).toBeNull();

    s3.requests.length = 0;
    const second = startUpload(offsite);
    const report = JSON.parse(await new Response(second.stdout).text());
    expect(await second.exited).toBe(0);
    const again = stored().filter(({ key }) => before.has(key));
    expect(again).toEqual([]);
    expect(report.copied_bytes).toBeLessThan(BLOBS * BLOB_BYTES);
    expect(report.peak_mb).toBeLessThan(MAX_MEMORY_MB);

    const backup = (await offsite.open())!;
    expect((await backup.verify({ signal: NEVER })).damaged).toEqual([]);
  },
  PATIENCE_MS,
);
