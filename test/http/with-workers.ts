/** A server with Redis whose work is done by workers in this process, each with a data folder of its own. */
import { join } from "node:path";
import { type RunningWorker, startWorker } from "../../src/boot-worker";
import { loadConfig } from "../../src/config";
import { createLog } from "../../src/lib/log";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import { createWorkerToken } from "../../src/work/cluster/worker-tokens";
import { openRedis, type TestRedis } from "../redis";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { type Harness, harness } from "./harness";
import { BUNDLED_FFMPEG } from "./media";

export type TestWorker = AsyncDisposable & { worker: RunningWorker; name: string; log: string[]; dataDir: string };

export type HarnessWithWorkers = AsyncDisposable & {
  server: Harness;
  redis: TestRedis;
  /**
   * Starts a worker and waits until the server can assign it work. `settings` are environment variables without the
   * prefix.
   */
  addWorker(name: string, settings?: Record<string, string>): Promise<TestWorker>;
  /** Creates a join token. */
  createToken(name: string): Promise<string>;
};

/** Starts the server: `await using cluster = await withWorkers()`. */
export async function withWorkers(
  settings: Record<string, string> = {},
  options: Parameters<typeof harness>[1] = {},
): Promise<HarnessWithWorkers> {
  const redis = await openRedis();
  const server = await harness({ REDIS_URL: redis.url, ...settings }, options);
  const workers: TestWorker[] = [];
  const createToken = async (name: string) => {
    const { store, now } = server.services();
    return (await store.write((tx) => createWorkerToken(tx, COMMAND_ACTOR, name, now()))).secret;
  };
  return {
    server,
    redis,
    createToken,
    addWorker: async (name, own = {}) => {
      const worker = await openWorker(server, redis, name, await createToken(name), own);
      workers.push(worker);
      return worker;
    },
    [Symbol.asyncDispose]: async () => {
      for (const worker of workers) await worker[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

async function openWorker(
  server: Harness,
  redis: TestRedis,
  name: string,
  token: string,
  settings: Record<string, string>,
): Promise<TestWorker> {
  const folder = await temporaryFolder();
  const log: string[] = [];
  const env = { DATA_DIR: folder.path, FFMPEG: BUNDLED_FFMPEG, SLOTS: "1", ...settings };
  const file = join(folder.path, "settings.toml");
  await Bun.write(file, "");
  const config = await loadConfig({
    file,
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [`OFFCUT_${key}`, value])),
    flags: {},
  });
  const worker = await startWorker(
    config,
    { head: server.url(), token, redis: redis.url },
    createLog((line) => log.push(line), false),
  );
  await until(`worker ${name}`, () =>
    server
      .services()
      .workerList.listOnline()
      .some((one) => one.name === name),
  );
  return {
    worker,
    name,
    log,
    dataDir: folder.path,
    [Symbol.asyncDispose]: async () => {
      worker.drain();
      await worker.ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}
