/** The state of Redis, as checks report it. */
import { readFile } from "node:fs/promises";
import { type Config, isLoopback } from "../../config";

/** `host`: name and port. `problem`: why it cannot be used, or null. `isExposed`: another machine, without TLS. */
export type RedisState = { host: string; isExposed: boolean } & (
  | { problem: string; version: null; policy: null }
  | { problem: null; version: string; policy: string }
);

const DEFAULT_PORT = "6379";

/** Checks Redis; null: none is configured, and its client is not loaded. Never throws. */
export async function readRedisState({ redisUrl, ca }: Pick<Config, "ca" | "redisUrl">): Promise<RedisState | null> {
  if (redisUrl === null) return null;
  const { protocol, hostname, port } = new URL(redisUrl);
  const place = {
    host: `${hostname}:${port || DEFAULT_PORT}`,
    isExposed: protocol === "redis:" && !isLoopback(hostname),
  };
  try {
    const { probeRedis } = await import("../../queue/bullmq-connection");
    const facts = await probeRedis({ url: redisUrl, ca: ca === null ? null : await readFile(ca, "utf8") });
    return { ...place, problem: null, ...facts };
  } catch (error) {
    const [problem = "unknown error"] = (error as Error).message.split("\n");
    return { ...place, problem: problem.replace(/\.$/, ""), version: null, policy: null };
  }
}
