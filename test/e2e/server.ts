/** A compiled server with accounts, that can be killed and started again on its folder, and looked into afterwards. */
import { Database } from "bun:sqlite";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "../http/client";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { type RunningOffcut, runOffcut, startOffcut } from "./offcut";

/** Real speech recognition on a busy machine takes its time. */
const PATIENCE_SECONDS = 90;

export type Server = AsyncDisposable & {
  folder: string;
  data: string;
  url(): string;
  pid(): number;
  log(): Record<string, unknown>[];
  /** `patienceSeconds`: how long their jobs may take. */
  user(credits?: number, patienceSeconds?: number): Promise<Client>;
  /** `kill -9`; resolves when the server and everything that it had started have gone. */
  kill(): Promise<void>;
  /** SIGTERM; gives the exit code and how long it took. */
  terminate(): Promise<{ code: number | null; seconds: number }>;
  start(): Promise<void>;
  /** What the database holds, once the server has stopped. */
  query<T>(sql: string, ...values: string[]): Promise<T[]>;
};

/** Runs an administrator's command and gives the object that it prints. */
export async function admin<T>(folder: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runOffcut([...args, "--json"], { folder, stdin: "correct horse battery\n" });
  if (code !== 0) throw new Error(`offcut ${args.join(" ")}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Starts it in a fresh folder. `settings` are as in the environment, without the prefix. */
export async function startServer(settings: Record<string, string> = {}): Promise<Server> {
  const folder = await temporaryFolder();
  const data = join(folder.path, "data");
  // Without the rate limit: the tests ask often.
  const all = { RATE_LIMIT: "0", ...settings };
  const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [`OFFCUT_${name}`, value]));
  let users = 0;
  let running: RunningOffcut = await startOffcut({ folder: folder.path, env });
  const url = () => running.url;

  return {
    folder: folder.path,
    data,
    url,
    pid: () => running.pid,
    log: () => running.log,
    user: async (credits = 1_000, patienceSeconds = PATIENCE_SECONDS) => {
      users++;
      const email = `user${users}@example.test`;
      const account = ["user", "create", "--email", email, "--password", "-", "--credits", String(credits)];
      const { id } = await admin<{ id: string }>(folder.path, ...account);
      const { key } = await admin<{ key: string }>(folder.path, "key", "create", "--email", email);
      return createClient(url, key, id, patienceSeconds);
    },
    kill: async () => {
      await running.stop("SIGKILL");
      await until("the end of all children", async () => (await processesOf(data)).length === 0);
    },
    terminate: async () => {
      const started = performance.now();
      const code = await running.stop();
      return { code, seconds: (performance.now() - started) / 1000 };
    },
    start: async () => {
      running = await startOffcut({ folder: folder.path, env });
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
async function processesOf(folder: string): Promise<string[]> {
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
