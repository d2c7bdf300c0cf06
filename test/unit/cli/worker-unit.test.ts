/** The unit of the service that `install.sh --worker --systemd` writes. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const INSTALLER = join(import.meta.dir, "../../../install.sh");
const REFUSED = 77;

/** Runs the line of the installer that writes the unit of workers, with the functions that it needs. */
function printUnit(): Map<string, string> {
  const script = `
    set -euo pipefail
    eval "$(sed -n '/^readonly WORKER_CONFIG=/p; /^say()/p; /^is_root()/p; /^program_folder() {/,/^}$/p; /^unit() {/,/^}$/p' "$1")"
    eval "$(sed -n 's/^ *\\(unit "Offcut worker" .*\\) >.*/\\1/p' "$1")"`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", script, "bash", INSTALLER], {
    // Bash warns about a locale that is not installed.
    env: { ...process.env, LC_ALL: "C" },
  });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  const lines = stdout.toString().split("\n");
  return new Map(lines.filter((line) => line.includes("=")).map((line) => line.split(/=(.*)/) as [string, string]));
}

test("the service of a worker is restarted after failures, not after its token was refused", async () => {
  const unit = printUnit();
  expect(unit.get("ExecStart")).toEndWith("/offcut worker --config /etc/offcut/worker.toml");
  expect([unit.get("Restart"), unit.get("RestartPreventExitStatus")]).toEqual(["on-failure", String(REFUSED)]);
  const command = await Bun.file(join(import.meta.dir, "../../../src/cli/worker.ts")).text();
  expect(command).toContain(`const REFUSED_EXIT_CODE = ${REFUSED};`);
});

test("the service of a worker has the time to drain, and its children end with it", () => {
  const unit = printUnit();
  expect(Number(unit.get("TimeoutStopSec"))).toBeGreaterThan(30);
  // SIGTERM goes to the worker only, so that its chunk can end.
  expect(unit.get("KillMode")).toBe("mixed");
  expect([unit.get("User"), unit.get("StateDirectory")]).toEqual(["offcut-worker", "offcut-worker"]);
});
