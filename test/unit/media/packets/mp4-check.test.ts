/** Files whose boxes extend beyond their end. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../src/domain/errors";
import { checkMp4, MAX_MISSING_BYTES } from "../../../../src/media/packets/mp4-check";
import { temporaryFolder } from "../../../temporary-folder";

/** Returns a file with an `ftyp` and one empty box that declares `missing` bytes more than the file has. */
function fileOf(type: string, missing: number): Buffer {
  const file = Buffer.alloc(24);
  file.writeUInt32BE(16, 0);
  file.write("ftypisom", 4, "latin1");
  file.writeUInt32BE(8 + missing, 16);
  file.write(type, 20, "latin1");
  return file;
}

test.each([
  ["moov", 0, null],
  ["moov", MAX_MISSING_BYTES, null],
  ["moov", MAX_MISSING_BYTES + 1, "corrupt_media"],
  ["moof", 1_000_000, null],
])("%s that is %i bytes too long: %p", async (type, missing, expected) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file.mp4");
  await writeFile(path, fileOf(type, missing));
  const code = await checkMp4(path).then(
    () => null,
    (error) => (error instanceof AppError ? error.code : error),
  );
  expect(code).toBe(expected);
});
