/** A Redis of its own for a test: Debian's `redis-server` on a free port of this machine, without persistence. */
import { createServer } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { temporaryFolder } from "./temporary-folder";
import { until } from "./until";

/** The reason why Redis is unavailable on this machine, or null. Tests that need one are skipped without it. */
export const REDIS_SERVER = Bun.which("redis-server");

export type TestRedis = AsyncDisposable & {
  url: string;
  port: number;
  /** A connection for inspecting the stored data. */
  client: Redis;
  /** Ends the server as a power failure would. */
  kill(): Promise<void>;
  /** Starts the server again on the same port, empty. */
  restart(): Promise<void>;
  /** The server stops answering, or continues. */
  freeze(): void;
  thaw(): void;
};

/** Starts a server: `await using redis = await openRedis()`. `settings` are arguments of `redis-server`. */
export async function openRedis(...settings: string[]): Promise<TestRedis> {
  const folder = await temporaryFolder();
  const log = join(folder.path, "log");
  /** Starts it and waits until it answers the client. Throws with its log when it ends before. */
  const start = async (client: Redis, port: number) => {
    const server = Bun.spawn(
      [
        REDIS_SERVER ?? "redis-server",
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder.path, "--logfile", log],
        ...["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", ...settings],
      ],
      { stdin: "ignore", stdout: "ignore", stderr: "inherit" },
    );
    const ended = server.exited.then(async (code) => {
      throw new Error(`redis-server ended with ${code}: ${await Bun.file(log).text()}`);
    });
    await Promise.race([answers(client), ended]);
    return server;
  };
  const tryPort = async () => {
    const port = await findFreePort();
    const client = new Redis({ host: "127.0.0.1", port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
    client.on("error", () => {});
    try {
      return { port, client, server: await start(client, port) };
    } catch (error) {
      client.disconnect();
      throw error;
    }
  };
  // Once more, because another process may have taken the port.
  const opened = await tryPort().catch(tryPort);
  const { port, client } = opened;
  let { server } = opened;
  const kill = async () => {
    server.kill("SIGKILL");
    await server.exited;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    kill,
    restart: async () => {
      await kill();
      server = await start(client, port);
    },
    freeze: () => server.kill("SIGSTOP"),
    thaw: () => server.kill("SIGCONT"),
    [Symbol.asyncDispose]: async () => {
      client.disconnect();
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const answers = (client: Redis) => until("an answer of Redis", async () => (await client.ping()) === "PONG", 30);

/** Returns a port that nothing listens on. Another process may take it in the meantime. */
const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
