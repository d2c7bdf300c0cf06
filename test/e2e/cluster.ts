/**
 * A head without local slots, Redis, and workers with separate data folders, between which proxies make the network
 * fail.
 */
import { join } from "node:path";
import { openRedis, type TestRedis } from "../redis";
import { startTcpProxy, type TcpProxy } from "../tcp-proxy";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { linkExtractedAssets } from "./extracted-assets";
import { type RunningProcess, startProcess } from "./offcut";
import { createJoinToken, processesOf, type Server, startServer } from "./server";

/** A network whose connections are interrupted on request. A proxy can do more. */
export type Link = Pick<TcpProxy, "heal" | "partition"> & { proxy: TcpProxy | null };

/** The URLs with which a worker reaches the head and Redis. `launcher` starts it where it can. */
export type WorkerNetwork = AsyncDisposable & {
  toHead: Link;
  toRedis: Link;
  head: string;
  redis: string;
  launcher: string[];
};

export type ClusterWorker = AsyncDisposable & {
  name: string;
  data: string;
  toHead: Link;
  toRedis: Link;
  pid(): number;
  /** Every line of the log of all starts. */
  log(): Record<string, unknown>[];
  /** Starts it and waits until it has joined. */
  start(): Promise<void>;
  /** `kill -9`; resolves when it and everything that it had started have ended. */
  kill(): Promise<void>;
  /** Stops the process, not its children, until it is continued. */
  freeze(): void;
  thaw(): void;
};

export type Cluster = AsyncDisposable & {
  head: Server;
  redis: TestRedis;
  /** Between the head and Redis. */
  headToRedis: TcpProxy;
  workers: ClusterWorker[];
  /**
   * `kill -9` and a start on the same folder, from then on with these settings too. Workers reach it at the same
   * address as before.
   */
  restartHead(settings?: Record<string, string>): Promise<void>;
};

export type ClusterOptions = {
  workers: number;
  /** Settings of the head and of the workers as in the environment, without the prefix. */
  head?: Record<string, string>;
  worker?: Record<string, string>;
  /** Settings of `redis-server`. */
  redis?: string[];
  /** Opens the network of a worker. Default: proxies. */
  openNetwork?: typeof openProxies;
};

const NO_LOCAL_SLOTS = { RENDER_JOBS: "0", PREPARE_JOBS: "0", CUT_JOBS: "0" };

/** Starts everything, and waits until all workers have joined. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { workers: count, head: headSettings, worker: settings, openNetwork } = options;
  const started = new AsyncDisposableStack();
  try {
    const redis = started.use(await openRedis(...(options.redis ?? [])));
    const headToRedis = started.use(await startTcpProxy(redis.port));
    const url = `redis://127.0.0.1:${headToRedis.port}`;
    const head = started.use(await startServer({ REDIS_URL: url, ...NO_LOCAL_SLOTS, ...headSettings }));
    const workers = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        startWorker(head, redis, { name: `worker-${n + 1}`, settings, openNetwork }),
      ),
    );
    for (const each of workers) started.use(each);
    return {
      head,
      redis,
      headToRedis,
      workers,
      restartHead: async (changed) => {
        await head.kill();
        await head.start(changed);
        for (const { toHead } of workers) toHead.proxy?.retarget(getPort(head));
      },
      [Symbol.asyncDispose]: () => started.disposeAsync(),
    };
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

const getPort = (head: Server) => Number(new URL(head.url()).port);

/** Opens proxies of a worker. */
async function openProxies(head: Server, redis: TestRedis): Promise<WorkerNetwork> {
  const [toHead, toRedis] = [await startTcpProxy(getPort(head)), await startTcpProxy(redis.port)];
  return {
    toHead: { ...toHead, proxy: toHead },
    toRedis: { ...toRedis, proxy: toRedis },
    head: `http://127.0.0.1:${toHead.port}`,
    redis: `redis://127.0.0.1:${toRedis.port}`,
    launcher: [],
    [Symbol.asyncDispose]: async () => {
      for (const each of [toHead, toRedis]) await each[Symbol.asyncDispose]();
    },
  };
}

type WorkerOptions = {
  name: string;
  settings?: Record<string, string> | undefined;
  openNetwork?: typeof openProxies | undefined;
};

/** Starts a worker with a token, a data folder and a network of its own, and waits until it has joined. */
export async function startWorker(
  head: Server,
  redis: TestRedis,
  { name, settings = {}, openNetwork = openProxies }: WorkerOptions,
): Promise<ClusterWorker> {
  const folder = await temporaryFolder();
  const data = join(folder.path, "data");
  await linkExtractedAssets(folder.path);
  const network = await openNetwork(head, redis);
  const { toHead, toRedis, launcher } = network;
  const all = {
    HEAD: network.head,
    REDIS: network.redis,
    TOKEN: await createJoinToken(head.data, name),
    SLOTS: "1",
    ...settings,
  };
  const env = Object.fromEntries(Object.entries(all).map(([key, value]) => [`OFFCUT_${key}`, value]));
  const starts: RunningProcess[] = [];
  const running = () => starts.at(-1)!;
  const worker: ClusterWorker = {
    name,
    data,
    toHead,
    toRedis,
    pid: () => running().pid,
    log: () => starts.flatMap(({ log }) => log),
    start: async () => {
      starts.push(startProcess(["worker"], { folder: folder.path, env, launcher }));
      await running().logged("worker.joined");
    },
    kill: async () => {
      await running().stop("SIGKILL");
      await until("the end of all children", async () => (await processesOf(data)).length === 0);
    },
    freeze: () => running().kill("SIGSTOP"),
    thaw: () => running().kill("SIGCONT"),
    [Symbol.asyncDispose]: async () => {
      await running()[Symbol.asyncDispose]();
      for (const each of [network, folder]) await each[Symbol.asyncDispose]();
    },
  };
  await worker.start();
  return worker;
}
