/** Redis as the README sets it up: a user with few rights, and TLS with a certificate authority of its own. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Ticket } from "../../../src/domain/worker-messages";
import { getQueueName } from "../../../src/domain/workers";
import { newId } from "../../../src/lib/ids";
import { createLog } from "../../../src/lib/log";
import { openTicketQueues } from "../../../src/queue/bullmq";
import { probeRedis } from "../../../src/queue/bullmq-connection";
import { openTicketQueue } from "../../../src/queue/bullmq-worker";
import { openRedis, REDIS_SERVER, type TestRedis } from "../../redis";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

setDefaultTimeout(60_000);

/** Sends one ticket from a head to a worker, removes another and the queue, and reads the information about Redis. */
async function useRedis(address: { url: string; ca: string | null }): Promise<string[]> {
  const log: string[] = [];
  const taken: Ticket[] = [];
  const workerId = newId();
  const keep = createLog((line) => log.push(line), false);
  const queues = openTicketQueues(address, keep);
  const worker = openTicketQueue(address, { queue: getQueueName(workerId), slots: 1, log: keep }, async (ticket) => {
    taken.push(ticket);
  });
  try {
    await until("a connection", () => queues.isReachable());
    const ticket = { execution: newId(), url: "http://head.example/workers/executions/x" };
    await queues.add(workerId, ticket);
    await until("the ticket", () => taken.length === 1);
    const other = { ...ticket, execution: newId() };
    await worker.pause();
    await queues.add(workerId, other);
    await queues.remove(workerId, other.execution);
    await queues.add(workerId, { ...other, execution: newId() });
    await worker.close();
    await queues.removeQueue(workerId);
    expect((await probeRedis(address)).policy).toBe("noeviction");
    return log.filter((line) => /"level":"(warn|error)"/.test(line));
  } finally {
    await worker.close();
    await queues.close();
  }
}

test.skipIf(REDIS_SERVER === null)("the user of the README has all rights that are needed, and no others", async () => {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const [, rules = ""] = / \| redis-cli -x ACL SETUSER offcut (.+)$/m.exec(readme) ?? [];
  await using redis = await openRedis();
  const words = rules.split(" ").map((word) => word.replace(/^'(.*)'$/, "$1"));
  await redis.client.call("ACL", "SETUSER", "offcut", ...words, ">PASSWORD");
  await redis.client.call("ACL", "SETUSER", "default", "off");
  const url = `redis://offcut:PASSWORD@127.0.0.1:${redis.port}`;
  expect(await useRedis({ url, ca: null })).toEqual([]);
  expect(await redis.client.call("ACL", "LOG")).toEqual([]);
  for (const [command, ...args] of [["FLUSHALL"], ["CONFIG", "GET", "*"], ["KEYS", "*"], ["GET", "other"]])
    expect(await redis.client.call("ACL", "DRYRUN", "offcut", command!, ...args)).toMatch(/no permissions/);
  await expect(probeRedis({ url: url.replace("PASSWORD", "wrong"), ca: null })).rejects.toThrow("WRONGPASS");
});

/** Restrictions of a Redis that accepts connections, with the beginning of the reported reason. */
const REFUSALS: [string, (redis: TestRedis) => Promise<unknown>, string][] = [
  [
    "scripts",
    ({ client }) => client.call("ACL", "SETUSER", "default", "-@scripting"),
    "NOPERM: The Redis user may not",
  ],
  [
    "names",
    ({ client }) => client.call("ACL", "SETUSER", "default", "resetkeys", "~other:*"),
    "NOPERM: The Redis user",
  ],
  ["INFO", ({ client }) => client.call("ACL", "SETUSER", "default", "-info"), "NOPERM: The Redis user may not"],
  ["PING", ({ client }) => client.call("ACL", "SETUSER", "default", "-ping"), "NOPERM: The Redis user may not"],
  ["more memory", ({ client }) => client.config("SET", "maxmemory", "1"), "OOM: Redis has no memory left"],
  ["writes to a replica", ({ client }) => client.call("REPLICAOF", "127.0.0.1", "1"), "READONLY: This Redis is a"],
];

test.skipIf(REDIS_SERVER === null).each(REFUSALS)(
  "a Redis that refuses %s is not used, and log and probe say why",
  async (_, refuse, reason) => {
    await using redis = await openRedis();
    await refuse(redis);
    const log: string[] = [];
    const address = { url: redis.url, ca: null };
    const keep = createLog((line) => log.push(line), false);
    const queues = openTicketQueues(address, keep);
    const worker = openTicketQueue(address, { queue: getQueueName("a"), slots: 1, log: keep }, async () => {});
    try {
      const isUnreachable = (line: string) => line.includes('"redis.unreachable"');
      await until("both know it", () => log.filter(isUnreachable).length >= 2);
      expect([queues.isReachable(), worker.isReachable()]).toEqual([false, false]);
      const [code, advice] = reason.split(": ");
      for (const line of log.filter(isUnreachable)) {
        expect(JSON.parse(line)).toMatchObject({ level: "warn", code, advice: expect.stringContaining(advice!) });
      }
      await expect(probeRedis(address)).rejects.toThrow(reason);
    } finally {
      await worker.close();
      await queues.close();
    }
  },
);

test.skipIf(REDIS_SERVER === null)(
  "a Redis that refuses a ticket is not used until it accepts work again",
  async () => {
    await using redis = await openRedis();
    const log: string[] = [];
    const queues = openTicketQueues(
      { url: redis.url, ca: null },
      createLog((line) => log.push(line), false),
    );
    try {
      await until("a connection", () => queues.isReachable());
      await redis.client.config("SET", "maxmemory", "1");
      const ticket = { execution: newId(), url: "http://head.example/workers/executions/x" };
      await expect(queues.add(newId(), ticket)).rejects.toThrow("OOM");
      await until("the refusal", () => !queues.isReachable());
      await redis.client.config("SET", "maxmemory", "0", "maxmemory-policy", "allkeys-lru");
      await until("a Redis that is used", () => queues.isReachable());
      await queues.add(newId(), ticket);
      expect(log.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
        "redis.connected",
        "redis.unreachable",
        "redis.connected",
        "redis.may_drop_work",
      ]);
    } finally {
      await queues.close();
    }
  },
);

/** Redis has no setting for "any free port". */
async function openTlsPort({ client, port: taken }: TestRedis): Promise<number> {
  for (const offset of Array(50).keys()) {
    const port = 20_000 + ((taken + offset * 997) % 40_000);
    const isOpen = await client.config("SET", "tls-port", String(port)).then(
      () => true,
      () => false,
    );
    if (isOpen) return port;
  }
  throw new Error("no free port");
}

test.skipIf(REDIS_SERVER === null)("rediss:// needs a certificate of a known authority", async () => {
  await using folder = await temporaryFolder();
  const [key, certificate] = [join(folder.path, "key.pem"), join(folder.path, "certificate.pem")];
  const made = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
  ]);
  expect(made.exitCode).toBe(0);
  await using redis = await openRedis();
  await redis.client.config("SET", "tls-cert-file", certificate, "tls-key-file", key, "tls-ca-cert-file", certificate);
  await redis.client.config("SET", "tls-auth-clients", "no");
  const url = `rediss://127.0.0.1:${await openTlsPort(redis)}`;
  expect(await useRedis({ url, ca: await Bun.file(certificate).text() })).toEqual([]);
  await expect(probeRedis({ url, ca: null })).rejects.toThrow("does not trust the certificate");
});
