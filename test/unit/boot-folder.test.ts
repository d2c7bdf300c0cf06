import { expect, spyOn, test } from "bun:test";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "../../src/boot-folder";
import { loadConfig } from "../../src/config";
import { temporaryFolder } from "../temporary-folder";

test.each([
  ["the data folder", "data/", "data"],
  ["the database", "data/version.json", "data"],
  ["the media folder", "media/", "media"],
])("a first start on a full disk of %s names the folder and what to do", async (_, files, named) => {
  await using folder = await temporaryFolder();
  const [data, media] = [join(folder.path, "data"), join(folder.path, "media")];
  const config = await loadConfig({ env: { OFFCUT_DATA_DIR: data, OFFCUT_MEDIA_DIR: media }, flags: {} });
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  const { writeFile } = fs;
  const writing = spyOn(fs, "writeFile").mockImplementation(async (path, ...rest) => {
    if (String(path).startsWith(join(folder.path, files))) throw full;
    await writeFile(path, ...rest);
  });
  try {
    await expect(openFolder(config)).rejects.toThrow(
      `The disk of ${join(folder.path, named)} is full. Free some space, then try again.`,
    );
  } finally {
    writing.mockRestore();
  }
  const opened = await openFolder(config);
  await opened.close();
});
