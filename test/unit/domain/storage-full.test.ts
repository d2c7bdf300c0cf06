import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import { isStorageFull, toStorageError } from "../../../src/domain/storage-full";

const failed = (code: string) => Object.assign(new Error("failed"), { code });

test.each<[string, unknown, boolean]>([
  ["a full disk", failed("ENOSPC"), true],
  ["a full quota", failed("EDQUOT"), true],
  ["a full database, as Drizzle reports it", new Error("query", { cause: failed("SQLITE_FULL") }), true],
  [
    "a write to a full disk whose file does not close either",
    new SuppressedError(failed("EIO"), failed("ENOSPC")),
    true,
  ],
  ["a file that does not close on a full disk", new SuppressedError(failed("ENOSPC"), failed("EIO")), true],
  ["the limit of a child process for its files", failed("EFBIG"), true],
  ["the error of a job", new AppError("storage_full", "The storage is full."), true],
  [
    "another error of a job, whatever caused it",
    new AppError("upstream_error", "x", { cause: failed("ENOSPC") }),
    false,
  ],
  ["a damaged disk", failed("EIO"), false],
  ["nothing", null, false],
])("%s", (_name, error, isFull) => {
  expect(isStorageFull(error)).toBe(isFull);
  const mapped = toStorageError(error);
  if (isFull) expect(mapped).toMatchObject({ code: "storage_full" });
  else expect(mapped).toBe(error);
});
