/**
 * The swap of a release: after any later failure, the previous version is restored and the administrator is informed.
 */
import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type InstallTarget, installRelease } from "../../../../src/work/upgrade/install-release";
import { readRelease, stageRelease } from "../../../../src/work/upgrade/release-file";
import { createKeys, sign } from "../../../minisign";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";

const SERVICE = { name: "offcut", isWorker: false };
const VERSIONS = { from: "1.0.0", to: "2.0.0" };

/** An executable `old` with a staged `new`, and a service that runs whatever is installed. */
async function createTarget(folder: TemporaryFolder, changes: Partial<InstallTarget> = {}) {
  const executable = join(folder.path, "offcut");
  const staged = join(folder.path, ".offcut.upgrade.1");
  await writeFile(executable, "1.0.0");
  await writeFile(staged, "2.0.0");
  const calls: string[] = [];
  const said: string[] = [];
  const target: InstallTarget = {
    executable,
    services: [SERVICE],
    change: async (action) => void calls.push(`${action} ${await readFile(executable, "utf8")}`),
    isReady: async (_, version) => version === VERSIONS.from,
    hasEnded: async () => false,
    putBackDatabase: async () => null,
    say: (line) => void said.push(line),
    waitMs: 20,
    ...changes,
  };
  const install = () =>
    installRelease(target, { staged, ...VERSIONS }).then(
      () => null,
      (error: Error) => error.message,
    );
  return { executable, staged, calls, said, install };
}

test("a new version that is ready stays, and the previous one lies beside it", async () => {
  await using folder = await temporaryFolder();
  const { executable, calls, install } = await createTarget(folder, { isReady: async () => true });
  expect(await install()).toBeNull();
  expect(calls).toEqual(["restart 2.0.0"]);
  expect(await readFile(executable, "utf8")).toBe("2.0.0");
  expect(await readFile(`${executable}.previous`, "utf8")).toBe("1.0.0");
  expect((await readdir(folder.path)).sort()).toEqual(["offcut", "offcut.previous"]);
});

test.each([
  ["is never ready", {}, "Offcut 2.0.0 was not ready within 0 s (service offcut)."],
  ["ends", { hasEnded: async () => true }, "Offcut 2.0.0 ended after its start (service offcut)."],
] as [string, Partial<InstallTarget>, string][])("a new version that %s is taken back", async (_, changes, problem) => {
  await using folder = await temporaryFolder();
  const { executable, calls, said, install } = await createTarget(folder, changes);
  expect(await install()).toBe(`${problem} Offcut 1.0.0 was put back. The database was not migrated. It is running.`);
  expect(calls).toEqual(["restart 2.0.0", "stop 2.0.0", "restart 1.0.0"]);
  expect(said.at(-1)).toBe(`${problem} Going back to Offcut 1.0.0.`);
  expect(await readFile(executable, "utf8")).toBe("1.0.0");
});

test("a service that cannot be restarted or stopped does not keep the previous version away", async () => {
  await using folder = await temporaryFolder();
  const { executable, install } = await createTarget(folder, {
    change: () => Promise.reject(new Error("systemctl failed.")),
    putBackDatabase: async () => ({ kept: "before.db", aside: "after.db" }),
  });
  expect(await install()).toBe(
    "systemctl failed. Offcut 1.0.0 was put back. The database is before.db again; the migrated one is kept as after.db. systemctl failed. Look at journalctl -u offcut.",
  );
  expect(await readFile(executable, "utf8")).toBe("1.0.0");
});

test("a failure to restore the database is reported, and the executable is restored", async () => {
  await using folder = await temporaryFolder();
  const { executable, install } = await createTarget(folder, {
    putBackDatabase: () => Promise.reject(new Error("Another offcut process is using /data.")),
  });
  expect(await install()).toBe(
    "Offcut 2.0.0 was not ready within 0 s (service offcut). Offcut 1.0.0 was put back, but not the database: Another offcut process is using /data. It is running.",
  );
  expect(await readFile(executable, "utf8")).toBe("1.0.0");
});

test("a release is staged as an executable copy, and files of a killed upgrade are removed", async () => {
  await using folder = await temporaryFolder();
  const { release, executable, bin } = await createRelease(folder);
  await writeFile(join(bin, ".offcut.upgrade.999999999"), "half");
  const staged = await stageRelease(release, executable, new AbortController().signal);
  expect(staged).toBe(join(bin, `.offcut.upgrade.${process.pid}`));
  expect((await stat(staged)).mode & 0o777).toBe(0o755);
  expect((await readdir(bin)).sort()).toEqual([`.offcut.upgrade.${process.pid}`, "offcut"]);
});

test("nothing is staged while another upgrade runs, without space, and when it is interrupted", async () => {
  await using folder = await temporaryFolder();
  const { release, executable, bin } = await createRelease(folder);
  const { signal } = new AbortController();
  const other = Bun.spawn(["sh", "-c", "read line # upgrade"], { stdin: "pipe" });
  // A new process has the command of its parent first.
  await until("its command", async () => (await readFile(`/proc/${other.pid}/cmdline`, "utf8")).includes("# upgrade"));
  const leftover = join(bin, `.offcut.upgrade.${other.pid}`);
  await writeFile(leftover, "half");
  await expect(stageRelease(release, executable, signal)).rejects.toThrow(
    `Another upgrade is running (process ${other.pid}).`,
  );
  other.kill();
  await other.exited;
  const interrupted = AbortSignal.abort(new Error("Interrupted."));
  await expect(stageRelease(release, executable, interrupted)).rejects.toThrow("Interrupted.");
  const huge = { ...release, bytes: 1e15 };
  await expect(stageRelease(huge, executable, signal)).rejects.toThrow(/bin needs 1 PB, has .* free\./);
  expect(await readdir(bin)).toEqual(["offcut"]);
});

async function createRelease(folder: TemporaryFolder) {
  const bin = join(folder.path, "bin");
  const executable = join(bin, "offcut");
  await mkdir(bin);
  await writeFile(executable, "old");
  const path = join(folder.path, "new");
  await writeFile(path, "new");
  const keys = createKeys();
  await sign(path, keys);
  return { bin, executable, release: await readRelease(path, keys.publicText) };
}
