import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmod, mkdir, rm, stat } from "node:fs/promises";
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

test("the folder is created with its parents and is private", async () => {
  await using folder = await temporaryFolder();
  const path = prepareDataFolder(join(folder.path, "a/b"));
  expect(await modeOf(path)).toBe(0o700);
});

test("a folder that others can read becomes private", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "open");
  await mkdir(path);
  await chmod(path, 0o755);
  prepareDataFolder(path);
  expect(await modeOf(path)).toBe(0o700);
});

test("a path that is a file is rejected with one line", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  await Bun.write(path, "");
  expect(() => prepareDataFolder(path)).toThrow(ConfigError);
  expect(() => prepareDataFolder(join(path, "below"))).toThrow(`Cannot use the data folder ${join(path, "below")}`);
});

test("the keys are created once, kept, and private", async () => {
  await using folder = await temporaryFolder();
  const first = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  const { links, cursors, sessions } = first.secrets;
  const keys = [links, cursors, ...sessions.map(({ secret }) => secret)];
  expect([keys.length, new Set(keys).size]).toEqual([3, 3]);
  expect(Math.min(...keys.map((key) => key.length))).toBeGreaterThanOrEqual(43);
  expect(await modeOf(join(folder.path, "secrets.json"))).toBe(0o600);
  first.lock.release();
  const second = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  expect(second.secrets).toEqual(first.secrets);
  second.lock.release();
});

test("session keys are replaced without the others, also those of a version without sessions", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "secrets.json");
  await Bun.write(path, JSON.stringify({ links: "l".repeat(43), cursors: "c".repeat(43), sessions: "s".repeat(43) }));
  const opened = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  expect([opened.secrets.links, opened.secrets.sessions.length]).toEqual(["l".repeat(43), 1]);
  const sessions = [...opened.secrets.sessions, { kid: "second", secret: "x", created_at: 1 }];
  await opened.saveSessionKeys(sessions);
  opened.lock.release();
  expect(await Bun.file(path).json()).toEqual({ ...opened.secrets, sessions });
  expect(await modeOf(path)).toBe(0o600);
});

test("a recovery key is kept, together with session keys that are saved at the same time", async () => {
  await using folder = await temporaryFolder();
  const opened = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  expect(opened.recoveryKey()).toBeNull();
  const sessions = [...opened.secrets.sessions, { kid: "second", secret: "x", created_at: 1 }];
  await Promise.all([opened.saveRecoveryKey("the key"), opened.saveSessionKeys(sessions)]);
  expect(opened.recoveryKey()).toBe("the key");
  opened.lock.release();
  const again = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  expect([again.recoveryKey(), again.secrets.sessions]).toEqual(["the key", sessions]);
  again.lock.release();
});

test("unreadable keys fail the start and are never replaced", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "secrets.json");
  await Bun.write(path, '{"links": "half');
  await expect(openDataFolder({ dataDir: folder.path, mediaDir: null })).rejects.toThrow(`${path} is damaged`);
  expect(await Bun.file(path).text()).toBe('{"links": "half');
});

test("keys that open second factors are not replaced, unless the administrator wants it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "secrets.json");
  const open = () => openDataFolder({ dataDir: folder.path, mediaDir: null });
  const database = new Database(join(folder.path, "offcut.db"), { create: true });
  database.run("CREATE TABLE users (totp_secret text)");
  database.run("INSERT INTO users VALUES (NULL)");
  (await open()).lock.release();
  await rm(path);
  database.run("UPDATE users SET totp_secret = 'sealed'");
  database.close();
  await expect(open()).rejects.toThrow(`${path} is missing`);
  expect(await Bun.file(path).exists()).toBe(false);
  await Bun.write(path, "{}");
  const opened = await open();
  expect(opened.secrets.links).toHaveLength(43);
  opened.lock.release();
});

test("no keys are written beside a database that cannot be read", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "offcut.db"), "no database".repeat(100));
  const opened = openDataFolder({ dataDir: folder.path, mediaDir: null });
  await expect(opened).rejects.toThrow(`cannot open the database ${join(folder.path, "offcut.db")}`);
  expect(await Bun.file(join(folder.path, "secrets.json")).exists()).toBe(false);
});

test("an open folder cannot be opened again", async () => {
  await using folder = await temporaryFolder();
  const held = await openDataFolder({ dataDir: folder.path, mediaDir: null });
  const again = openDataFolder({ dataDir: folder.path, mediaDir: null });
  await expect(again).rejects.toThrow(FolderLockedError);
  await expect(again).rejects.toThrow(`Another offcut process is using ${folder.path}.`);
  held.lock.release();
});

test("a path that is too long for a socket is detected", () => {
  const fitting = `/${"a".repeat(107 - "/control.sock".length - 1)}`;
  expect(Buffer.byteLength(getControlSocketPath(fitting))).toBe(107);
  expect(hasValidSocketPath(fitting)).toBe(true);
  expect(hasValidSocketPath(`${fitting}a`)).toBe(false);
});
