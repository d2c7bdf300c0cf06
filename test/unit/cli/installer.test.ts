/** Calls of `install.sh` that end before anything is built. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../temporary-folder";

const INSTALLER = join(import.meta.dir, "../../../install.sh");

function run(cwd: string, args: string[]) {
  // Bash warns about a locale that is not installed.
  const env = { ...process.env, LC_ALL: "C" };
  const { exitCode, stderr } = Bun.spawnSync(["bash", INSTALLER, ...args], { cwd, env });
  return `${exitCode} ${stderr.toString().split("\n")[0]}`;
}

test("files of the demo are those of the caller's folder", async () => {
  await using folder = await temporaryFolder();
  expect(run(folder.path, ["demo", "talk.mp4"])).toBe(`1 install.sh: file not found: ${folder.path}/talk.mp4`);
  expect(run(folder.path, ["demo", INSTALLER, "--script", "talk.txt"])).toBe(
    `1 install.sh: file not found: ${folder.path}/talk.txt`,
  );
});

test.each([
  [["--wroker"], "unknown command or option: --wroker"],
  [["--worker"], "--worker needs --systemd"],
  [["--systemd", "now"], "unknown option of --systemd: now"],
  [["demo", "--speed"], "unknown option of demo: --speed"],
  [["demo", "--script"], "--script takes a file"],
  [["test", "unit"], "test takes no arguments"],
])("%j is refused with the reason", (args, reason) => {
  expect(run(".", args)).toBe(`2 install.sh: ${reason}`);
});

test("a release is not built without a key to sign it", () => {
  expect(run(".", ["package"])).toBe(
    "1 install.sh: package: set OFFCUT_SIGNING_KEY to a secret key of minisign -G -W, or to the path of its file",
  );
});
