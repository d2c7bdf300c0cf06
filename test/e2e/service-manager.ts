/**
 * A stand-in for systemctl that really runs the service: an installed executable, its data folder, and a program
 * `systemctl` on the PATH that knows the commands that `offcut upgrade` uses.
 */
import { chmod, copyFile, link, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeys, type KeyTexts, sign } from "../minisign";
import { until } from "../until";
import { folderWithAssets } from "./extracted-assets";
import { EXECUTABLE, type Run, runOffcut, SEARCH_PATH } from "./offcut";
import { BUNDLED, processesOf } from "./server";

export type Installation = AsyncDisposable & {
  folder: string;
  data: string;
  /** The installed executable. */
  executable: string;
  keys: KeyTexts;
  env: Record<string, string>;
  /** Runs the installed executable. */
  run(...args: string[]): Promise<Run>;
  /** Runs `offcut upgrade FILE` with the key of the releases. */
  upgrade(file: string, ...args: string[]): Promise<Run>;
  /** Starts or restarts the service and waits until it listens. */
  restart(): Promise<void>;
  /** Process ID of the running service; null when it is not running. */
  pid(): Promise<number | null>;
  /** Writes a signed release with this shell script, or with the executable that works but has other bytes. */
  release(name: string, script: string | null): Promise<string>;
};

const SYSTEMCTL = `#!/bin/sh
cd FOLDER
alive() { [ -f pid ] && readlink "/proc/$(cat pid)/exe" >/dev/null 2>&1; }
case $1 in
  show)
    [ "$2" = offcut ] || { echo LoadState=not-found; exit 0; }
    echo LoadState=loaded
    if alive; then echo ActiveState=active; else echo ActiveState=failed; fi
    echo "ExecStart={ path=FOLDER/bin/offcut ; argv[]=FOLDER/bin/offcut serve ; }"
    ;;
  reset-failed) ;;
  stop)
    if alive; then kill "$(cat pid)"; fi
    while alive; do sleep 0.05; done
    ;;
  restart)
    if [ -f kill-upgrade ]; then rm kill-upgrade; kill -9 "$PPID"; exit 1; fi
    "$0" stop offcut
    rm -f pid
    # Its process ID is written when it has left the group of this command, which is killed when this command ends.
    setsid sh -c 'echo $$ >pid; exec bin/offcut serve --port 0' </dev/null >>log 2>&1 &
    while [ ! -s pid ]; do sleep 0.02; done
    ;;
esac
`;

/** Installs the executable into a fresh folder. */
export async function installOffcut(): Promise<Installation> {
  const temporary = await folderWithAssets();
  const folder = temporary.path;
  const executable = join(folder, "bin/offcut");
  const data = join(folder, "data");
  await mkdir(join(folder, "bin"));
  await link(EXECUTABLE, executable).catch(() => copyFile(EXECUTABLE, executable));
  await writeProgram(join(folder, "tools/systemctl"), SYSTEMCTL.replaceAll("FOLDER", folder));
  const keys = createKeys();
  await writeFile(join(folder, "key.pub"), keys.publicText);
  const env = {
    PATH: `${join(folder, "tools")}:${SEARCH_PATH}`,
    HOME: folder,
    OFFCUT_DATA_DIR: data,
    OFFCUT_FFMPEG: BUNDLED.FFMPEG,
  };
  const pid = async () => {
    const found = Number(await readFile(join(folder, "pid"), "utf8").catch(() => "0"));
    const commands = found === 0 ? "" : await readFile(`/proc/${found}/cmdline`, "utf8").catch(() => "");
    return commands.includes("serve") ? found : null;
  };
  const run = (...args: string[]) => runOffcut(args, { folder, env, executable });
  return {
    folder,
    data,
    executable,
    keys,
    env,
    run,
    pid,
    upgrade: (file, ...args) => run("upgrade", file, "--public-key", join(folder, "key.pub"), ...args),
    restart: async () => {
      await Bun.spawn([join(folder, "tools/systemctl"), "restart", "offcut"], { env }).exited;
      await until("the service", async () => {
        const log = await readFile(join(folder, "log"), "utf8").catch(() => "");
        return log.includes("server.started");
      });
    },
    release: async (name, script) => {
      const path = join(folder, name);
      if (script !== null) await writeProgram(path, script);
      else await writeFile(path, Buffer.concat([await readFile(EXECUTABLE), Buffer.of(0)]));
      await sign(path, keys);
      return path;
    },
    [Symbol.asyncDispose]: async () => {
      const running = await pid();
      if (running !== null) process.kill(running, "SIGKILL");
      await until("the end of the service", async () => (await processesOf(folder)).length === 0);
      await temporary[Symbol.asyncDispose]();
    },
  };
}

async function writeProgram(path: string, text: string): Promise<void> {
  await Bun.write(path, text);
  await chmod(path, 0o755);
}
