/** Redis problems for logs: codes only, because error texts contain addresses and arguments of commands. */

/** The connection ended for an unknown reason. */
export const CLOSED = "closed";
/** Redis accepts connections or commands, but does not respond. */
export const TIMED_OUT = "ETIMEDOUT";

/** Unsolicited data arrived. */
export const UNASKED_REPLY = "unasked_reply";
/** A reply is too long. */
export const ENDLESS_REPLY = "endless_reply";

const REPLY_CODE = /\b(NOAUTH|WRONGPASS|NOPERM|OOM|READONLY|MISCONF|LOADING|MASTERDOWN|MOVED|CLUSTERDOWN)\b/;

const UNTRUSTED =
  "This machine does not trust the certificate of Redis: set ca to the PEM file of its certificate authority.";

const CLUSTER = "This is a Redis Cluster: use a single Redis.";

const RESET = "The address closes the connection: check that Redis runs there, and use rediss:// if it requires TLS.";

const NO_REDIS = "The address does not speak the protocol of Redis: check what runs there.";

const ADVICE: Record<string, string> = {
  NOAUTH: "Redis requires a password: add it to the address.",
  WRONGPASS: "Redis does not accept the user name or the password of the address.",
  NOPERM:
    "The Redis user may not use a command or a key that the queue needs: compare its ACL with that in the README.",
  OOM: "Redis has no memory left: raise maxmemory and set maxmemory-policy noeviction.",
  READONLY: "This Redis is a read-only replica: use the address of the primary.",
  MISCONF: "Redis cannot save to its disk, and refuses writes.",
  LOADING: "Redis has started and still reads its data.",
  MASTERDOWN: "This Redis is a replica without its primary: use the address of the primary.",
  MOVED: CLUSTER,
  CLUSTERDOWN: CLUSTER,
  [TIMED_OUT]: "Redis does not respond.",
  ECONNREFUSED: "Nothing listens at the address of Redis.",
  ECONNRESET: RESET,
  EPIPE: RESET,
  [UNASKED_REPLY]: NO_REDIS,
  [ENDLESS_REPLY]: NO_REDIS,
  ENOTFOUND: "The host name of the address of Redis is unknown.",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate of Redis is for another name than that of its address.",
};

/** Returns the code of an error of a connection or a command, such as `ECONNREFUSED` or `NOPERM`. */
export function findRedisProblem(error: unknown): string {
  const { code, name, message } = (error ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  if (typeof message === "string" && name === "ReplyError") {
    const [found] = REPLY_CODE.exec(message) ?? /^[A-Z]+\b/.exec(message) ?? [];
    if (found) return found;
  }
  // More replies than commands, in the words of ioredis.
  if (typeof message === "string" && message.startsWith("Command queue state error")) return UNASKED_REPLY;
  return typeof code === "string" ? code : CLOSED;
}

export const findRedisAdvice = (problem: string): string | undefined => ADVICE[problem];

/** Returns one line without a final period: the code, and advice if known. */
export function describeRedisProblem(error: unknown): string {
  const problem = findRedisProblem(error);
  const advice = findRedisAdvice(problem);
  if (advice !== undefined) return `${problem}: ${advice.replace(/\.$/, "")}`;
  const [message = ""] = error instanceof Error ? error.message.split("\n") : [];
  return problem === CLOSED && message !== "" ? message : problem;
}
