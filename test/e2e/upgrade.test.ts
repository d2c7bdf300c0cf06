/** `offcut upgrade` with the built executable, and a service that a stand-in for systemctl runs. */
import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, chown, copyFile, mkdir, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeys, sign } from "../minisign";
import { temporaryFolder } from "../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES } from "../unit/store/old-database";
import { IS_BUNDLED_PASS, runOffcut } from "./offcut";
import { type Installation, installOffcut } from "./service-manager";

setDefaultTimeout(120_000);

const inodeOf = async (path: string) => (await stat(path)).ino;
const listStaged = async ({ folder, data }: Installation) =>
  [...(await readdir(join(folder, "bin"))), ...(await readdir(data))].filter((name) => name.includes("upgrade"));
const listAccounts = async (installed: Installation) => (await installed.run("user", "list")).stdout;

async function killWriter(path: string): Promise<void> {
  const script = `
    const { Database } = require("bun:sqlite");
    new Database(${JSON.stringify(path)}).run("UPDATE users SET created_at = 2");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
}

async function installWithAccount(): Promise<Installation> {
  const installed = await installOffcut();
  const created = await runOffcut(["user", "create", "--email", "ann@example.test", "--password", "-"], {
    folder: installed.folder,
    stdin: "correct horse battery\n",
  });
  expect(created).toMatchObject({ code: 0, stderr: "" });
  return installed;
}

describe.skipIf(IS_BUNDLED_PASS)("offcut upgrade", () => {
  test("checks a release while the server runs, is killed before the restart, and completes when it is run again", async () => {
    await using installed = await installWithAccount();
    await installed.restart();
    const pid = await installed.pid();
    const accounts = await listAccounts(installed);
    expect(accounts).toContain("ann@example.test");
    const [old, release] = [await inodeOf(installed.executable), await installed.release("new", null)];

    const checked = await installed.run("upgrade", "--check", "--json");
    expect(JSON.parse(checked.stdout)).toMatchObject({ migrations: [], needed_bytes: 0 });
    // A downloaded file is not executable.
    expect(await installed.upgrade(release, "--check")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is not executable: run chmod +x on it"),
    });
    expect([await installed.pid(), await listStaged(installed)]).toEqual([pid, []]);

    await writeFile(join(installed.folder, "kill-upgrade"), "");
    expect((await installed.upgrade(release)).code).toBe(137);
    expect(Buffer.compare(await readFile(installed.executable), await readFile(release))).toBe(0);
    expect(await inodeOf(`${installed.executable}.previous`)).toBe(old);
    expect([await installed.pid(), await listAccounts(installed)]).toEqual([pid, accounts]);

    const completed = await installed.upgrade(release);
    expect(completed).toMatchObject({ code: 0, stderr: "" });
    expect(completed.stdout).toMatch(
      /opened a copy of the database in .*is this release already\.\nOffcut .* is running\.\n$/s,
    );
    expect(await inodeOf(`${installed.executable}.previous`)).toBe(old);
    expect(await installed.pid()).not.toBe(pid);
    expect([await listAccounts(installed), await listStaged(installed)]).toEqual([accounts, []]);
  });

  test("puts the executable and the database back when the new version migrates and ends", async () => {
    await using installed = await installWithAccount();
    await installed.restart();
    const accounts = await listAccounts(installed);
    const [old, kept] = [await inodeOf(installed.executable), "offcut-before-9999_future-2027-01-31.db"];
    // Simulates the service of a newer version.
    await writeFile(
      join(installed.folder, "future.ts"),
      `import { Database } from "bun:sqlite";
       import { copyFileSync, writeFileSync } from "node:fs";
       process.chdir(${JSON.stringify(installed.data)});
       const database = new Database("offcut.db");
       database.run("PRAGMA wal_checkpoint(TRUNCATE)");
       copyFileSync("offcut.db", "${kept}");
       database.run("INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)");
       database.run("UPDATE users SET email = 'lost@example.test'");
       writeFileSync("version.json", '{"version":"9.9.9","schema":"9999_future"}');
       process.kill(process.pid, "SIGKILL");`,
    );
    const release = await installed.release(
      "new",
      `#!/bin/sh\n[ "$1" != serve ] || exec ${process.execPath} ${installed.folder}/future.ts\nexec ${process.env.OFFCUT_EXECUTABLE ?? "dist/offcut"} "$@"\n`,
    );
    const failed = await installed.upgrade(release);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(
      new RegExp(
        `ended after its start \\(service offcut\\)\\. Offcut .* was put back\\. The database is ${kept} again; the migrated one is kept as offcut-after-9999_future-.*\\.db\\. It is running\\.`,
      ),
    );
    expect(await inodeOf(installed.executable)).toBe(old);
    expect([await listAccounts(installed), await listStaged(installed)]).toEqual([accounts, []]);
    const aside = (await readdir(installed.data)).filter((name) => /^offcut-.*\.db$/.test(name));
    expect(aside).toEqual([expect.stringMatching(/^offcut-after-9999_future-/)]);
    using database = new Database(join(installed.data, aside[0]!), { readwrite: true, create: false });
    expect(database.query("SELECT email FROM users").values()).toEqual([["lost@example.test"]]);
  });

  test("refuses files that are unsigned, do not run, or would disturb, and changes nothing", async () => {
    await using installed = await installWithAccount();
    const script = (body: string) => `#!/bin/sh\n${body}\n`;
    const marker = join(installed.folder, "was-run");
    const release = (name: string, body = `touch ${marker}`) => installed.release(name, script(body));
    const refusal = async (file: string, ...args: string[]) => {
      const { code, stderr } = await installed.upgrade(file, ...args);
      return `${code} ${stderr.trim()}`;
    };

    const altered = await release("altered");
    await writeFile(altered, script("rm -rf /nothing"));
    expect(await refusal(altered)).toContain("the file is not the one that was signed");
    const cut = await release("cut");
    await truncate(cut, 12);
    expect(await refusal(cut)).toContain("the file is not the one that was signed");
    const foreign = await release("foreign");
    await sign(foreign, createKeys());
    expect(await refusal(foreign)).toMatch(/1 .*it was signed with key [0-9A-F]{16}, expected/);
    expect(await refusal(foreign, "--check")).toMatch(/1 .*it was signed with key/);
    const other = await release("other");
    await copyFile(`${foreign}.minisig`, `${other}.minisig`);
    expect(await refusal(other)).toContain("it was signed with key");
    const renamed = await release("renamed");
    const signature = await readFile(`${renamed}.minisig`, "utf8");
    await writeFile(`${renamed}.minisig`, signature.replace("version:9.9.9", "version:0.0.1"));
    expect(await refusal(renamed)).toContain("the trusted comment is not the one that was signed");
    const huge = await release("huge");
    await writeFile(`${huge}.minisig`, signature.repeat(100));
    expect(await refusal(huge)).toContain("huge.minisig: not a minisign file");
    expect(await refusal(join(installed.folder, "missing"))).toContain("missing: file not found.");
    expect(await installed.run("upgrade", altered)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("built without the public key of releases"),
    });
    expect(await Bun.file(marker).exists()).toBe(false);

    expect(await refusal(await release("silent", "exit 0"))).toContain("its check printed no report");
    expect(await refusal(await release("broken", "echo no more space >&2; exit 3"))).toContain(
      "The new version cannot be installed: no more space",
    );
    const report = (version: string) => `echo '{"version":"${version}","migrations":[],"duration_ms":1}'`;
    expect(await refusal(await release("old", report("0.0.1")))).toContain("which is older than this version");

    // A server that writes a backup.
    const server = Bun.serve({
      unix: join(installed.data, "control.sock"),
      fetch: async (request) =>
        Response.json({ is_writing: ((await request.json()) as { command: string }).command === "backup state" }),
    });
    expect(await refusal(await release("good", report("9.9.9")))).toContain("A backup is being written.");
    await server.stop(true);

    if (process.getuid?.() === 0) {
      // Everything is readable for another user, and nothing writable.
      await chmod(installed.folder, 0o755);
      const launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
      const { code, stderr } = await runOffcut(
        ["upgrade", await release("good", report("9.9.9")), "--public-key", join(installed.folder, "key.pub")],
        { folder: installed.folder, env: installed.env, launcher, executable: installed.executable },
      );
      expect([code, stderr]).toEqual([1, expect.stringContaining("bin (EACCES): run offcut upgrade as its owner")]);
    }
    expect((await readdir(join(installed.folder, "bin"))).sort()).toEqual(["offcut"]);
    expect(await listStaged(installed)).toEqual([]);
  });

  test("--check migrates a copy of an older database as the owner of the folder, and leaves no trace", async () => {
    await using folder = await temporaryFolder();
    const data = join(folder.path, "data");
    await mkdir(data, { mode: 0o700 });
    createOldDatabase(join(data, "offcut.db"), MIGRATION_NAMES.slice(0, 9));
    // A log that is not in the file.
    await killWriter(join(data, "offcut.db"));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      await chmod(folder.path, 0o755);
      for (const path of ["", ...(await readdir(data))]) await chown(join(data, path), 65534, 65534);
    }
    const describeFiles = async () =>
      Promise.all(
        (await readdir(data)).sort().map(async (name) => {
          const { ino, size, mtimeMs, uid } = await stat(join(data, name));
          return { name, ino, size, mtimeMs, uid };
        }),
      );
    const before = await describeFiles();
    const { code, stdout, stderr } = await runOffcut(["upgrade", "--check", "--json"], { folder: folder.path });
    expect([code, stderr]).toEqual([0, ""]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ schema: MIGRATION_NAMES.at(-1), migrations: MIGRATION_NAMES.slice(9) });
    expect(report.needed_bytes).toBe(3 * report.database_bytes);
    // The lock is empty, and belongs to the owner.
    const after = await describeFiles();
    expect(after.filter(({ name }) => name !== "lock")).toEqual(before);
    expect(after.map(({ uid }) => uid)).toEqual(after.map(() => before[0]!.uid));

    using database = new Database(join(data, "offcut.db"));
    database.run("INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)");
    database.close();
    expect(await runOffcut(["upgrade", "--check"], { folder: folder.path })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /Offcut .* is older than the database: it does not have migration "9999_future"\.\n$/,
      ),
    });
  });

  test("without a service, it swaps the executable and prints how to continue", async () => {
    await using installed = await installWithAccount();
    await rename(join(installed.folder, "tools/systemctl"), join(installed.folder, "tools/none"));
    const release = await installed.release(
      "new",
      `#!/bin/sh\necho '{"version":"9.9.9","migrations":null,"duration_ms":1}'\n`,
    );
    const { code, stdout } = await installed.upgrade(release);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("stop the server and start it again as you started it."),
    ]);
    expect(await readFile(installed.executable, "utf8")).toStartWith("#!/bin/sh");
  });
});
