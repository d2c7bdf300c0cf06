/**
 * Measures the queue: the delay until a step starts on a worker while many wait, and the memory of waiting steps in
 * Redis.
 */
import { newId } from "../../../src/lib/ids";
import { createLog } from "../../../src/lib/log";
import { openTicketQueues } from "../../../src/queue/bullmq";
import { startServer } from "../../e2e/server";
import type { Client } from "../../http/client";
import { video } from "../../http/media";
import { openRedis, type TestRedis } from "../../redis";
import { until } from "../../until";
import { startFakeWorker } from "./fake-worker";

const WAITING = 1_000;
const TICKETS = 10_000;
const NEW_STEPS = 200;
const DRAINED = 300;
const AT_A_TIME = 20;
const SLOTS = 4;

export type QueueFigures = {
  waiting: number;
  /** From the response to `POST /v1/cuts` to the start on a worker with room, in milliseconds. */
  newStepMs: { p50: number; p99: number };
  /** From the report of an execution to the start of the next one on the same worker. */
  nextStepMs: { p50: number; p99: number };
  stepsPerSecond: number;
  tickets: number;
  /** Growth of Redis with the waiting steps, and with as many tickets in one queue. */
  waitingBytes: number;
  ticketBytes: number;
};

export async function measureQueue(): Promise<QueueFigures> {
  await using redis = await openRedis();
  await using head = await startServer({
    REDIS_URL: redis.url,
    ...{ RENDER_JOBS: "0", CUT_JOBS: "0", PREVIEWS: "on_opening" },
  });
  const [anna, bert] = [await head.user(100_000), await head.user(100_000)];
  const film = await anna.ready(await video(4), { filename: "film.mp4" });
  const other = await bert.ready(await video(4), { filename: "other.mp4" });
  const before = await readMemory(redis);
  await addRenders(anna, film.id, { from: 0, to: WAITING });
  const waitingBytes = (await readMemory(redis)) - before;

  const newSteps: number[] = [];
  {
    await using fake = await startFakeWorker(head, redis, { name: "cutter", jobs: ["cut"], slots: 1 });
    for (let n = 0; n < NEW_STEPS; n++) {
      // The same request again would return the first cut.
      await bert.startCut({ asset_id: other.id, options: { min_silence_seconds: 0.5 + n / 1000 } });
      const sent = performance.now();
      const start = await until("the start", () => fake.starts[n]);
      // It may start before the response has arrived.
      newSteps.push(Math.max(0, start.at - sent));
    }
  }
  const gaps: number[] = [];
  let stepsPerSecond = 0;
  {
    await using fake = await startFakeWorker(head, redis, { name: "renderer", jobs: ["render"], slots: SLOTS });
    await until(`${DRAINED} starts`, () => fake.starts.length >= DRAINED, 120).catch((error: Error) => {
      throw new Error(
        `${error.message}, ${fake.starts.length} so far, refused: ${fake.refused.slice(0, 3).join("; ")}`,
      );
    });
    const { starts } = fake;
    for (const { at, freeSince } of starts) if (freeSince !== null) gaps.push(at - freeSince);
    stepsPerSecond = ((DRAINED - 1) * 1000) / (starts[DRAINED - 1]!.at - starts[0]!.at);
  }
  return {
    waiting: WAITING,
    newStepMs: toPercentiles(newSteps),
    nextStepMs: toPercentiles(gaps),
    stepsPerSecond,
    tickets: TICKETS,
    waitingBytes,
    ticketBytes: await measureTickets(redis),
  };
}

/** Each has an output of its own: the same request again would return the first render. */
async function addRenders(user: Client, assetId: string, { from, to }: { from: number; to: number }): Promise<void> {
  const start = (n: number) =>
    user.startRender({
      asset_id: assetId,
      output: { video_bitrate: 50_000 + (n % 1_000), resolution: `${144 + 2 * Math.floor(n / 1_000)}p` },
    });
  for (let at = from; at < to; at += AT_A_TIME)
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, to - at) }, (_, n) => start(at + n)));
}

/** Adds tickets for a worker that takes none. Returns the growth in bytes. */
async function measureTickets(redis: TestRedis): Promise<number> {
  const queues = openTicketQueues(
    { url: redis.url, ca: null },
    createLog(() => {}, false),
  );
  await until("Redis", () => queues.isReachable());
  const before = await readMemory(redis);
  const worker = newId();
  for (let at = 0; at < TICKETS; at += AT_A_TIME)
    await Promise.all(
      Array.from({ length: AT_A_TIME }, () => {
        const execution = newId();
        return queues.add(worker, {
          execution,
          url: `https://head.example.org/workers/executions/${execution}?signature=${"s".repeat(43)}`,
        });
      }),
    );
  const growth = (await readMemory(redis)) - before;
  await queues.close();
  return growth;
}

async function readMemory({ client }: TestRedis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info("memory"))![1]);
}

function toPercentiles(values: number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p99: at(0.99) };
}
