import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { findFileSize } from "../../../src/lib/file-size";
import { temporaryFolder } from "../../temporary-folder";

test("a file counts as missing only if it is, not when it cannot be read", async () => {
  await using folder = await temporaryFolder();
  const [file, loop] = [join(folder.path, "file"), join(folder.path, "loop")];
  await Bun.write(file, "four");
  await symlink(loop, loop);
  expect(await findFileSize(file)).toBe(4);
  for (const missing of [join(folder.path, "none"), join(file, "inside")])
    expect(await findFileSize(missing)).toBeNull();
  await expect(findFileSize(loop)).rejects.toMatchObject({ code: "ELOOP" });
});
