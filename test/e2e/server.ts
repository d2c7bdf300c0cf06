/** A compiled server with accounts, that can be killed and started again on its folder, and looked into afterwards. */
import { Database } from "bun:sqlite";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getControlSocketPath } from "../../src/data-folder";
import { type Client, createClient } from "../http/client";
import { BUNDLED_FFMPEG } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { linkExtractedAssets } from "./extracted-assets";
import { type RunningOffcut, runOffcut, startOffcut, startProcess } from "./offcut";

/** Real speech recognition on a busy machine takes its time. */
const PATIENCE_SECONDS = 90;
const PASSWORD = "correct horse battery";

/** Settings for tests in which the ffmpeg does not matter: the bundled one starts ten times faster. */
export const BUNDLED = { FFMPEG: BUNDLED_FFMPEG };

export type Server = AsyncDisposable & {
  folder: string;
  data: string;
  url(): string;
  pid(): number;
  log(): Record<string, unknown>[];
  /** `patienceSeconds`: how long their jobs may take. */
  user(credits?: number, patienceSeconds?: number): Promise<Client>;
  /** `kill -9`; resolves when the server and everything that it had started have ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM; returns the exit code and the duration. */
  terminate(): Promise<{ code: number | null; seconds: number }>;
  /** `changed`: settings from now on. `port`: one that open pages know. */
  start(changed?: Record<string, string>, port?: string): Promise<void>;
  /** Starts it and kills it when `moment` resolves, even if it is not ready by then. Returns the result of `moment`. */
  startAndKill<T>(moment: (ended: Promise<unknown>) => Promise<T>): Promise<T>;
  /** Queries the database, once the server has stopped. */
  query<T>(sql: string, ...values: string[]): Promise<T[]>;
};

/** Runs an administration command and returns the object that it prints. */
export async function admin<T>(folder: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runOffcut([...args, "--json"], { folder, stdin: `${PASSWORD}\n` });
  if (code !== 0) throw new Error(`offcut ${args.join(" ")}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Sends an administrator's command to the running server, as the command line does. Throws when it is refused. */
export async function askServer<T>(data: string, command: string, args: Record<string, unknown>): Promise<T> {
  const answer = await fetch("http://offcut/", {
    unix: getControlSocketPath(data),
    method: "POST",
    body: JSON.stringify({ command, args }),
  });
  if (!answer.ok) throw new Error(`${command}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Creates an account without a key on a running server. */
export const createAccount = (data: string, email: string, credits: number): Promise<{ id: string }> =>
  askServer<{ id: string }>(data, "user create", { email, password: PASSWORD, credits });

/** Creates an account and a key of it on a running server; the command line would take two processes for that. */
export async function createUser(data: string, email: string, credits: number): Promise<{ id: string; key: string }> {
  const { id } = await createAccount(data, email, credits);
  const { key } = await askServer<{ key: string }>(data, "key create", { email, name: "test" });
  return { id, key };
}

/** Creates a join token of a worker on a running server. */
export const createJoinToken = async (data: string, name: string): Promise<string> =>
  (await askServer<{ token: string }>(data, "worker token create", { name })).token;

export const revokeJoinToken = (data: string, name: string): Promise<unknown> =>
  askServer(data, "worker token revoke", { name });

const addPrefix = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`OFFCUT_${name}`, value]));

/**
 * Starts it in a fresh folder. `settings` are as in the environment, without the prefix; `variables` are other
 * variables.
 */
export async function startServer(
  settings: Record<string, string> = {},
  variables: Record<string, string> = {},
): Promise<Server> {
  const folder = await temporaryFolder();
  const data = join(folder.path, "data");
  // Without the rate limit: the tests ask often.
  const env = { ...addPrefix({ RATE_LIMIT: "0", ...settings }), ...variables };
  await linkExtractedAssets(folder.path);
  let users = 0;
  let running: RunningOffcut = await startOffcut({ folder: folder.path, env });
  const url = () => running.url;
  const untilChildrenEnd = () => until("the end of all children", async () => (await processesOf(data)).length === 0);

  return {
    folder: folder.path,
    data,
    url,
    pid: () => running.pid,
    log: () => running.log,
    user: async (credits = 1_000, patienceSeconds = PATIENCE_SECONDS) => {
      users++;
      const { id, key } = await createUser(data, `user${users}@example.test`, credits);
      return createClient(url, key, id, patienceSeconds);
    },
    kill: async () => {
      await running.stop("SIGKILL");
      await untilChildrenEnd();
    },
    terminate: async () => {
      const started = performance.now();
      const code = await running.stop();
      return { code, seconds: (performance.now() - started) / 1000 };
    },
    start: async (changed = {}, port = "0") => {
      Object.assign(env, addPrefix(changed));
      running = await startOffcut({ folder: folder.path, env }, port);
    },
    startAndKill: async (moment) => {
      const starting = startProcess(["serve", "--port", "0"], { folder: folder.path, env });
      const result = await moment(starting.exited);
      await starting.stop("SIGKILL");
      await untilChildrenEnd();
      return result;
    },
    query: async <T>(sql: string, ...values: string[]) => {
      await running.stop();
      using database = new Database(join(data, "offcut.db"));
      return database.query(sql).all(...values) as T[];
    },
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The processes whose command line names something below this folder. */
export async function processesOf(folder: string): Promise<string[]> {
  const commands = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return commands.filter((command) => command.includes(folder));
}

/** A figure of `/proc/<pid>/status` in megabytes: `VmRSS`, or `VmHWM`, the most it ever was. */
export async function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kilobytes = new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  if (!kilobytes) throw new Error(`no ${what} of process ${pid}`);
  return (Number(kilobytes) * 1024) / 1e6;
}
