/**
 * The compiled executable as its users run it: from a separate folder, with nothing of this project in reach and a bare
 * environment. `OFFCUT_EXECUTABLE` names it (else `dist/offcut`); `OFFCUT_TEST_PATH` is its PATH, empty to leave it
 * only the bundled ffmpeg.
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
 * `./install.sh test` runs these tests a second time with an empty PATH, so with the bundled ffmpeg. Tests for which
 * the ffmpeg in use does not matter are skipped then.
 */
export const IS_BUNDLED_PASS = SEARCH_PATH === "";

if (!existsSync(EXECUTABLE)) throw new Error(`${EXECUTABLE} is missing: run ./install.sh build`);

export type Run = { code: number | null; stdout: string; stderr: string };
/**
 * `folder` is the working folder and the home, and has the data folder `data/`. `launcher`: a command that runs the
 * executable in its place. `executable`: another one.
 */
export type RunOptions = {
  folder: string;
  env?: Record<string, string> | undefined;
  stdin?: string;
  launcher?: string[];
  executable?: string;
};

/** Starts the executable with settings that keep its files inside the folder. */
export function spawnOffcut(
  args: string[],
  { folder, env, stdin, launcher = [], executable = EXECUTABLE }: RunOptions,
) {
  return Bun.spawn([...launcher, executable, ...args], {
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

/** A running `serve` or `worker`. */
export type RunningProcess = AsyncDisposable & {
  pid: number;
  /** Every line of the log so far. */
  log: Record<string, unknown>[];
  /** Waits for a line of the log. Throws with the output when the process ends before it. */
  logged(event: string, deadlineSeconds?: number): Promise<Record<string, unknown>>;
  /** Resolves at the end with the exit code, or null when a signal ended the process. */
  exited: Promise<number | null>;
  stderr: Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Sends a signal and returns the exit code, or null when the signal ended the process. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<number | null>;
};

/** Starts a command that logs until it is stopped. */
export function startProcess(args: string[], options: RunOptions): RunningProcess {
  const child = spawnOffcut(args, options);
  const log: Record<string, unknown>[] = [];
  const stderr = new Response(child.stderr).text();
  const reading = (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      log.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    }
  })();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const exited = Promise.all([child.exited, reading]).then(() => (child.signalCode === null ? child.exitCode : null));
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
    child.kill(signal);
    return await exited;
  };
  return {
    pid: child.pid,
    log,
    exited,
    stderr,
    kill: (signal) => child.kill(signal),
    stop,
    logged: async (event, deadlineSeconds) => {
      const find = () => log.find((each) => each.event === event) ?? (hasEnded() ? "ended" : null);
      const line = await until(event, find, deadlineSeconds);
      if (line === "ended") throw new Error(`offcut ${args[0]} ended with ${child.exitCode}: ${await stderr}`);
      return line;
    },
    [Symbol.asyncDispose]: async () => {
      if (!hasEnded()) await stop("SIGKILL");
    },
  };
}

export type RunningOffcut = RunningProcess & { url: string };

/**
 * Starts a server, by default on a free port, and waits until it is ready. Throws with its output when it does not
 * start.
 */
export async function startOffcut(options: RunOptions, port = "0"): Promise<RunningOffcut> {
  const running = startProcess(["serve", "--port", port], options);
  const { url } = await running.logged("server.started");
  return { ...running, url: url as string };
}
