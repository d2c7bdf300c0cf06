import { expect, spyOn, test } from "bun:test";
import * as fs from "node:fs/promises";
import { openFolder } from "../../src/boot-folder";
import { loadConfig } from "../../src/config";
import { temporaryFolder } from "../temporary-folder";

test("a first start on a full disk names the folder and what to do", async () => {
  await using folder = await temporaryFolder();
  const config = await loadConfig({ env: { OFFCUT_DATA_DIR: folder.path }, flags: {} });
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  const writing = spyOn(fs, "writeFile").mockRejectedValue(full);
  try {
    await expect(openFolder(config)).rejects.toThrow(
      `The disk of ${folder.path} is full. Free some space, then start Offcut again.`,
    );
  } finally {
    writing.mockRestore();
  }
  const opened = await openFolder(config);
  await opened.close();
});
