/** The services that `install.sh --systemd` writes, and their configuration. */
import { describe, expect, test } from "bun:test";
import { chmod, chown, readdir, readlink, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../temporary-folder";

const INSTALLER = join(import.meta.dir, "../../../install.sh");
const REFUSED = 77;

/** Runs lines of bash after all functions of the installer. */
function runInstaller(lines: string, values: string[] = [], env: Record<string, string> = {}): string {
  const script = `
    set -euo pipefail
    readonly CALLER_FOLDER=$PWD
    eval "$(sed -n '/^readonly WORKER_/p; /^[a-z_0-9]*() {.*}$/p; /^[a-z_0-9]*() {$/,/^}$/p; /^fail()/,/^}$/p' "$1")"
    shift
    ${lines}`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", script, "bash", INSTALLER, ...values], {
    // Bash warns about a locale that is not installed.
    env: { ...process.env, LC_ALL: "C", ...env },
  });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  return stdout.toString();
}

/** Returns the lines of the unit of workers. `bwrap`: whether it works for the user of the service. */
async function printUnit({ bwrap = false, config = "" } = {}): Promise<Map<string, string>> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "worker.toml");
  await Bun.write(path, config);
  const call = /^ *(unit "Offcut worker" .*) "\$WORKER_CONFIG" >/m.exec(await Bun.file(INSTALLER).text())![1]!;
  const text = runInstaller(`runuser() { [[ "$*" == "-u offcut-worker -- bwrap "* ]] && ${bwrap}; }; ${call} "$1"`, [
    path,
  ]);
  const lines = text.split("\n");
  return new Map(lines.filter((line) => line.includes("=")).map((line) => line.split(/=(.*)/) as [string, string]));
}

test("the service of a worker is restarted after failures, not after its token was refused", async () => {
  const unit = await printUnit();
  expect(unit.get("ExecStart")).toEndWith("/offcut worker --config /etc/offcut/worker.toml");
  expect([unit.get("Restart"), unit.get("RestartPreventExitStatus")]).toEqual(["on-failure", String(REFUSED)]);
  const command = await Bun.file(join(import.meta.dir, "../../../src/cli/worker.ts")).text();
  expect(command).toContain(`const REFUSED_EXIT_CODE = ${REFUSED};`);
});

test("the service of a worker has the time to drain, and its children end with it", async () => {
  const unit = await printUnit();
  expect(Number(unit.get("TimeoutStopSec"))).toBeGreaterThan(30);
  // Only the worker receives SIGTERM, so that its chunk can end.
  expect(unit.get("KillMode")).toBe("mixed");
  expect([unit.get("User"), unit.get("StateDirectory")]).toEqual(["offcut-worker", "offcut-worker"]);
});

describe("the sandbox is required", () => {
  test.each([
    ["where bwrap works", { bwrap: true }, "OFFCUT_SANDBOX=require"],
    ["not where it does not", { bwrap: false }, undefined],
    ["not against the configuration", { bwrap: true, config: 'sandbox = "off"' }, undefined],
    ["not against one that is indented", { bwrap: true, config: '\tsandbox\t= "off"' }, undefined],
  ])("%s", async (_, options, environment) => {
    const unit = await printUnit(options);
    expect(unit.get("Environment")).toBe(environment);
    expect([unit.get("LimitCORE"), unit.get("EnvironmentFile")]).toEqual(["0", "-/etc/offcut/offcut-worker.env"]);
  });
});

test("a configuration without a data folder gets one, and keeps its owner and mode", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "offcut.toml");
  await Bun.write(path, 'smtp_url = "smtp://user:secret@mail.example"\n');
  await chmod(path, 0o640);
  if (process.getuid!() === 0) await chown(path, 1, 2);
  const before = await stat(path);
  const add = () => runInstaller(`umask 022; add_data_dir "$1" /var/lib/offcut`, [path]);
  add();
  add();
  const { mode, uid, gid } = await stat(path);
  expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
  expect(await Bun.file(path).text()).toBe(
    'data_dir = "/var/lib/offcut"\nsmtp_url = "smtp://user:secret@mail.example"\n',
  );
  expect(await readdir(folder.path)).toEqual(["offcut.toml"]);
});

test("a configuration that is a symbolic link stays one", async () => {
  await using folder = await temporaryFolder();
  const [path, target] = [join(folder.path, "offcut.toml"), join(folder.path, "managed.toml")];
  await Bun.write(target, "port = 80\n");
  await symlink("managed.toml", path);
  const add = () => runInstaller(`add_data_dir "$1" /var/lib/offcut`, [path]);
  add();
  expect(await readlink(path)).toBe("managed.toml");
  expect(await Bun.file(target).text()).toBe('data_dir = "/var/lib/offcut"\nport = 80\n');
  expect((await readdir(folder.path)).sort()).toEqual(["managed.toml", "offcut.toml"]);
  await Bun.write(target, '\tdata_dir = "/srv/offcut"\n');
  add();
  expect(await Bun.file(target).text()).toBe('\tdata_dir = "/srv/offcut"\n');
});

test("the secrets of a worker come from files", async () => {
  await using folder = await temporaryFolder();
  const [token, redis] = [join(folder.path, "token"), join(folder.path, "redis")];
  await Bun.write(token, "wt_secret\r\n");
  await Bun.write(redis, "rediss://offcut:secret@redis.example:6379");
  const files = { OFFCUT_HEAD: "https://cut.example", OFFCUT_TOKEN_FILE: token, OFFCUT_REDIS_FILE: redis };
  expect(Bun.TOML.parse(runInstaller("worker_config", [], files))).toEqual({
    data_dir: "/var/lib/offcut-worker",
    head: "https://cut.example",
    token: "wt_secret",
    redis: "rediss://offcut:secret@redis.example:6379",
  });
});
