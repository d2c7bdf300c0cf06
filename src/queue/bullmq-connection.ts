/** Connections to Redis that close when the peer violates the protocol. */
import { Redis, type RedisOptions } from "ioredis";
import { ENDLESS_REPLY, findRedisProblem, UNASKED_REPLY } from "./bullmq-problems";

/** Larger than any reply to the queues. Nothing else limits the buffer for incomplete replies. */
const MAX_REPLY_BYTES = 1024 ** 2;

/** `url` is `redis://` or `rediss://`. `ca`: PEM text of a certificate authority, null for those of the system. */
export type RedisAddress = { url: string; ca: string | null };

/**
 * Opens a connection that closes, and reconnects according to the options, on unsolicited data or a reply that does not
 * end. BullMQ duplicates it.
 */
export function openRedis({ url, ca }: RedisAddress, options: Omit<RedisOptions, "replyMapping">): Redis {
  // TLS options would turn it on.
  const tls = ca !== null && url.startsWith("rediss:") ? { tls: { ca } } : {};
  return watchReplies(new Redis(url, { ...options, ...tls }));
}

function watchReplies(redis: Redis): Redis {
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = ((override?: RedisOptions) => watchReplies(duplicate(override) as Redis)) as Redis["duplicate"];
  const close = (code: string) =>
    redis.stream.destroy(Object.assign(new Error("Redis does not keep to its protocol"), { code }));
  redis.on("error", (error: Error) => {
    if (findRedisProblem(error) === UNASKED_REPLY && !redis.stream.destroyed) close(UNASKED_REPLY);
  });
  redis.on("connect", () => {
    const { stream } = redis;
    let waiting = 0;
    let bytes = 0;
    // Checked before and after the client reads the data.
    stream.prependListener("data", () => {
      waiting = redis.commandQueue.length;
      if (waiting === 0) close(UNASKED_REPLY);
    });
    stream.on("data", (data: Uint8Array) => {
      bytes = redis.commandQueue.length < waiting ? 0 : bytes + data.length;
      if (bytes > MAX_REPLY_BYTES) close(ENDLESS_REPLY);
    });
  });
  return redis;
}
