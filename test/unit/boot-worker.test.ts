/** Problems that stop a worker before it starts. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startWorker } from "../../src/boot-worker";
import { loadConfig } from "../../src/config";
import { requireFolderLock } from "../../src/data-folder";
import { silentLog } from "../../src/lib/log";
import { temporaryFolder } from "../temporary-folder";

const SETTINGS = { head: "http://127.0.0.1:9", token: "wt_x", redis: "redis://127.0.0.1:9" };

async function start(folder: string, flags: Record<string, string> = {}): Promise<unknown> {
  const config = await loadConfig({ env: {}, flags: { "data-dir": folder, ...flags } });
  return startWorker(config, SETTINGS, silentLog());
}

test("a worker refuses the data folder of a server", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "offcut.db"), "");
  await expect(start(folder.path)).rejects.toThrow("data folder of a server");
});

test("two workers need two folders", async () => {
  await using folder = await temporaryFolder();
  const lock = requireFolderLock(folder.path);
  await expect(start(folder.path)).rejects.toThrow("Another offcut process");
  lock.release();
});

test("a certificate that cannot be read is named, and the folder is free again", async () => {
  await using folder = await temporaryFolder();
  await expect(start(folder.path, { ca: join(folder.path, "missing.pem") })).rejects.toThrow("missing.pem");
  requireFolderLock(folder.path).release();
});

test("settings of a worker are checked", async () => {
  await using folder = await temporaryFolder();
  for (const [name, value] of [
    ["jobs", "render,preview"],
    ["jobs", ""],
    ["slots", "0"],
    ["head", "head.example.com"],
    ["redis", "http://redis.example.com"],
  ] as const)
    await expect(start(folder.path, { [name]: value })).rejects.toThrow(name);
});
