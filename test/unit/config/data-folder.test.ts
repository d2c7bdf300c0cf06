import { expect, test } from "bun:test";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../../src/config";
import {
  FolderLockedError,
  getControlSocketPath,
  hasValidSocketPath,
  openDataFolder,
  prepareDataFolder,
} from "../../../src/data-folder";
import { temporaryFolder } from "../../temporary-folder";

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("a folder is made with its parents and is private", async () => {
  await using folder = await temporaryFolder();
  const path = prepareDataFolder(join(folder.path, "a/b"));
  expect(await modeOf(path)).toBe(0o700);
});

test("a folder that others may read becomes private", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "open");
  await mkdir(path);
  await chmod(path, 0o755);
  prepareDataFolder(path);
  expect(await modeOf(path)).toBe(0o700);
});

test("a path that is a file is refused in one line", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  await Bun.write(path, "");
  expect(() => prepareDataFolder(path)).toThrow(ConfigError);
  expect(() => prepareDataFolder(join(path, "below"))).toThrow(`cannot use the data folder ${join(path, "below")}`);
});

test("the keys are made once, kept, and private", async () => {
  await using folder = await temporaryFolder();
  const first = await openDataFolder(folder.path);
  expect(new Set(Object.values(first.secrets)).size).toBe(3);
  expect(Math.min(...Object.values(first.secrets).map((secret) => secret.length))).toBeGreaterThanOrEqual(43);
  expect(await modeOf(join(folder.path, "secrets.json"))).toBe(0o600);
  first.lock.release();
  const second = await openDataFolder(folder.path);
  expect(second.secrets).toEqual(first.secrets);
  second.lock.release();
});

test("keys that cannot be read stop the start: they are never replaced", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "secrets.json");
  await Bun.write(path, '{"links": "half');
  await expect(openDataFolder(folder.path)).rejects.toThrow(`${path} is damaged`);
  expect(await Bun.file(path).text()).toBe('{"links": "half');
});

test("a folder that is open cannot be opened again", async () => {
  await using folder = await temporaryFolder();
  const held = await openDataFolder(folder.path);
  const again = openDataFolder(folder.path);
  await expect(again).rejects.toThrow(FolderLockedError);
  await expect(again).rejects.toThrow(`another offcut is using ${folder.path}`);
  held.lock.release();
});

test("a path too long for a socket is known beforehand", () => {
  const fitting = `/${"a".repeat(107 - "/control.sock".length - 1)}`;
  expect(Buffer.byteLength(getControlSocketPath(fitting))).toBe(107);
  expect(hasValidSocketPath(fitting)).toBe(true);
  expect(hasValidSocketPath(`${fitting}a`)).toBe(false);
});
