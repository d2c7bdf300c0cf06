/** Jobs that fail because storage is full. */
import { expect, test } from "bun:test";
import { noFolderGuard } from "../../../../src/blobs/folder-guard";
import { AppError } from "../../../../src/domain/errors";
import { type Job, type JobContext, JobPostponed } from "../../../../src/domain/jobs";
import { withStorage } from "../../../../src/work/jobs/disk-space";
import type { CoreNeeds } from "../../../../src/work/needs";

const disk = { availableBytes: () => 1e12 };
const services = {
  folders: { guard: noFolderGuard },
  disk: { ...disk, media: disk, database: disk },
} as unknown as CoreNeeds;
const context = { signal: new AbortController().signal } as JobContext;

const failed = (code: string) => Object.assign(new Error("failed"), { code });

test.each<[string, Error, boolean]>([
  ["its file does not fit", failed("ENOSPC"), true],
  ["a file of its child reaches the limit, which leaves the reserve free", failed("EFBIG"), true],
  ["its result does not fit in the database", new Error("Failed query", { cause: failed("SQLITE_FULL") }), true],
  ["its file cannot be read", failed("EIO"), false],
])("a preparation waits and a render fails when %s", async (_, error, isFull) => {
  const run = (behavior: "postpone" | "fail") =>
    withStorage(services, behavior, { attempt: 1 } as Job, context, () => Promise.reject(error)).catch(
      (thrown) => thrown,
    );
  const [postponed, refused] = [await run("postpone"), await run("fail")];
  expect(postponed instanceof JobPostponed).toBe(isFull);
  expect(refused instanceof AppError && refused.code === "storage_full").toBe(isFull);
});
