/**
 * The compiled executable as its users run it: from a separate folder, with nothing of this project in reach and a bare environment.
 * `OFFCUT_EXECUTABLE` names it (else `dist/offcut`); `OFFCUT_TEST_PATH` is its PATH, empty to leave it only the bundled ffmpeg.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until";

export const FIXTURES = join(import.meta.dir, "../fixtures");
export const EXECUTABLE = process.env.OFFCUT_EXECUTABLE ?? join(import.meta.dir, "../../dist/offcut");
export const SEARCH_PATH = process.env.OFFCUT_TEST_PATH ?? "/usr/bin:/bin";
/** Whether the executable finds an ffmpeg of the system. */
export const HAS_SYSTEM_FFMPEG = SEARCH_PATH.split(":").some(
  (folder) => folder !== "" && existsSync(join(folder, "ffmpeg")),
);

/**
 * `./install.sh test` runs these tests a second time with an empty PATH, so with the bundled ffmpeg. Tests for which the ffmpeg in use does
 * not matter are skipped then.
 */
export const IS_BUNDLED_PASS = SEARCH_PATH === "";

if (!existsSync(EXECUTABLE)) throw new Error(`${EXECUTABLE} is missing: run ./install.sh build`);

export type Run = { code: number | null; stdout: string; stderr: string };
/** `folder` is the working folder and the home, and has the data folder `data/`. */
export type RunOptions = { folder: string; env?: Record<string, string> | undefined; stdin?: string };

/** Starts the executable with settings that keep its files inside the folder. */
export function spawnOffcut(args: string[], { folder, env, stdin }: RunOptions) {
  return Bun.spawn([EXECUTABLE, ...args], {
    cwd: folder,
    env: { PATH: SEARCH_PATH, HOME: folder, OFFCUT_DATA_DIR: join(folder, "data"), ...env },
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs the executable until it exits. */
export async function runOffcut(args: string[], options: RunOptions): Promise<Run> {
  const child = spawnOffcut(args, options);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

export type RunningOffcut = AsyncDisposable & {
  url: string;
  pid: number;
  /** Every line of the log so far. */
  log: Record<string, unknown>[];
  /** Sends a signal and returns the exit code, or null when the signal ended the process. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<number | null>;
};

/** Starts a server on a free port and waits until it is ready. Throws with its output when it does not start. */
export async function startOffcut(options: RunOptions): Promise<RunningOffcut> {
  const child = spawnOffcut(["serve", "--port", "0"], options);
  const log: Record<string, unknown>[] = [];
  const errors = new Response(child.stderr).text();
  const reading = (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      log.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    }
  })();
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
    child.kill(signal);
    await Promise.all([child.exited, reading]);
    return child.signalCode === null ? child.exitCode : null;
  };
  const ready = await until("the server is ready", () => {
    if (child.exitCode !== null) return { url: null };
    return log.find((line) => line.event === "server.started") as { url: string } | undefined;
  });
  if (typeof ready.url !== "string") throw new Error(`the server ended with ${child.exitCode}: ${await errors}`);
  return {
    url: ready.url,
    pid: child.pid,
    log,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await stop("SIGKILL");
    },
  };
}
