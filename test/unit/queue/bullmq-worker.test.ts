/** The queue of a worker at a real Redis, which is killed, emptied and frozen. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Queue } from "bullmq";
import type { Ticket } from "../../../src/domain/worker-messages";
import { newId } from "../../../src/lib/ids";
import { createLog } from "../../../src/lib/log";
import { openTicketQueue } from "../../../src/queue/bullmq-worker";
import { openRedis, REDIS_SERVER, type TestRedis } from "../../redis";
import { until } from "../../until";

setDefaultTimeout(60_000);

const QUEUE = "offcut-worker-test";
const PATIENCE_SECONDS = 30;

/** A worker's queue, and the tickets that it takes from it. Each ticket stays in use until `end` is called. */
function openTested(redis: TestRedis, slots = 2) {
  const taken: Ticket[] = [];
  const open: (() => void)[] = [];
  const log: string[] = [];
  const tickets = openTicketQueue(
    { url: redis.url, ca: null },
    { queue: QUEUE, slots, log: createLog((line) => log.push(line), false) },
    (ticket) => {
      taken.push(ticket);
      return new Promise((resolve) => open.push(resolve));
    },
  );
  const head = new Queue(QUEUE, {
    connection: { port: redis.port, host: "127.0.0.1" },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  head.on("error", () => {});
  return {
    tickets,
    taken,
    log,
    end: () => open.shift()?.(),
    add: (ticket: object, id = newId()) => head.add("execution", ticket, { jobId: id }),
    takes: (count: number) => until(`ticket ${count}`, () => taken.length >= count && taken.slice(), PATIENCE_SECONDS),
    [Symbol.asyncDispose]: async () => {
      await tickets.close();
      await head.close().catch(() => {});
    },
  };
}

const toTicket = (): Ticket => ({ execution: newId(), url: "http://head.example/workers/executions/x" });

test.skipIf(REDIS_SERVER === null)(
  "tickets are taken at once, as many as there are slots, and leave nothing in Redis",
  async () => {
    await using redis = await openRedis();
    await using queue = openTested(redis);
    const tickets = [toTicket(), toTicket(), toTicket()];
    await queue.add({ execution: "no UUID", url: 1 });
    for (const ticket of tickets) await queue.add(ticket, ticket.execution);
    expect(await queue.takes(2)).toEqual(tickets.slice(0, 2));
    // The same ticket again changes nothing while it is in use.
    await queue.add(tickets[0]!, tickets[0]!.execution);
    queue.end();
    expect(await queue.takes(3)).toEqual(tickets);
    queue.end();
    queue.end();
    await until("Redis is empty", async () =>
      (await redis.client.keys("*")).every((key) => !tickets.some(({ execution }) => key.includes(execution))),
    );
    expect(queue.log.join("\n")).toContain("ticket.invalid");
  },
);

test.skipIf(REDIS_SERVER === null)(
  "tickets are taken after Redis was killed and is empty, and after it was frozen",
  async () => {
    await using redis = await openRedis();
    await using queue = openTested(redis);
    await queue.add(toTicket());
    await queue.takes(1);
    await redis.restart();
    const second = toTicket();
    await queue.add(second);
    expect((await queue.takes(2))[1]).toEqual(second);
    // Its ticket is no longer in Redis.
    queue.end();
    await redis.client.flushall();
    const third = toTicket();
    await queue.add(third);
    expect((await queue.takes(3))[2]).toEqual(third);
    queue.end();
    queue.end();
    redis.freeze();
    const adding = queue.add(toTicket());
    redis.thaw();
    await adding;
    await queue.takes(4);
    queue.end();
    expect(queue.log.filter((line) => line.includes("redis.connected")).length).toBe(2);
  },
);

test.skipIf(REDIS_SERVER === null)("a worker waits for a Redis that is away at its start", async () => {
  await using redis = await openRedis();
  await redis.kill();
  await using queue = openTested(redis);
  await until("the failure", () => queue.log.some((line) => line.includes("redis.unreachable")));
  await redis.restart();
  await queue.add(toTicket());
  await queue.takes(1);
  queue.end();
});

test.skipIf(REDIS_SERVER === null)("a queue closes while Redis does not answer", async () => {
  await using redis = await openRedis();
  const queue = openTested(redis);
  await queue.add(toTicket());
  await queue.takes(1);
  redis.freeze();
  await queue.tickets.pause();
  await queue.tickets.close();
  redis.thaw();
  await queue[Symbol.asyncDispose]();
});
