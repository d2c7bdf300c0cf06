/** The runner with a worker that gets its tickets from Redis through BullMQ, and the queues themselves. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { noFolderGuard } from "../../../src/blobs/folder-guard";
import { AppError } from "../../../src/domain/errors";
import { type Job, type JobContext, type JobHandler, JobYielded } from "../../../src/domain/jobs";
import type { ExecutionResult, Ticket } from "../../../src/domain/worker-messages";
import { getQueueName } from "../../../src/domain/workers";
import { newId } from "../../../src/lib/ids";
import { silentLog } from "../../../src/lib/log";
import { openTicketQueues, type TicketQueues } from "../../../src/queue/bullmq";
import { createExecutions, type Executions } from "../../../src/work/cluster/executions";
import { createWorkerContact } from "../../../src/work/cluster/worker-list";
import { jobErrorCodec } from "../../../src/work/job-child/error-codec";
import type { CoreNeeds } from "../../../src/work/needs";
import { openRedis, REDIS_SERVER, type TestRedis } from "../../redis";
import { until } from "../../until";
import { type OpenRunner, openRunner } from "./open-runner";
import { describeRunner } from "./runner-contract";

const SLOTS = 8;
let redis: TestRedis;
let tickets: TicketQueues;

describe.skipIf(REDIS_SERVER === null)("with Redis", () => {
  beforeAll(async () => {
    redis = await openRedis();
    tickets = openTicketQueues({ url: redis.url, ca: null }, silentLog());
    await until("a connection", () => tickets.isReachable());
  });
  afterAll(async () => {
    await tickets?.close();
    await redis?.[Symbol.asyncDispose]();
  });

  describeRunner("a runner whose jobs run on a worker", true, openRemoteRunner);

  test("a ticket is there once, however often it is added, until it is removed", async () => {
    const worker = newId();
    const ticket = { execution: newId(), url: "http://head/" };
    for (let n = 0; n < 3; n++) await tickets.add(worker, ticket);
    const waiting = () => redis.client.lrange(`bull:${getQueueName(worker)}:wait`, 0, -1);
    expect(await waiting()).toEqual([ticket.execution]);
    await tickets.remove(worker, ticket.execution);
    expect(await waiting()).toEqual([]);
    await tickets.remove(worker, ticket.execution);
  });

  test("Redis holds nothing but the ID and the link", async () => {
    const worker = newId();
    const ticket = { execution: newId(), url: "http://head/workers/executions/x?signature=y" };
    await tickets.add(worker, ticket);
    const stored = await redis.client.hgetall(`bull:${getQueueName(worker)}:${ticket.execution}`);
    expect(JSON.parse(stored.data!)).toEqual(ticket);
    expect(stored.name).toBe("execution");
  });

  test("a queue is removed with its tickets, also one that another start of the head has made", async () => {
    const [worker, unused] = [newId(), newId()];
    for (let n = 0; n < 3; n++) await tickets.add(worker, { execution: newId(), url: "http://head/" });
    const keys = () => redis.client.keys(`bull:${getQueueName(worker)}:*`);
    expect((await keys()).length).toBeGreaterThan(3);
    const later = openTicketQueues({ url: redis.url, ca: null }, silentLog());
    await until("a connection", () => later.isReachable());
    await later.removeQueue(worker);
    await later.removeQueue(unused);
    await later.close();
    expect(await keys()).toEqual([]);
    expect(await redis.client.keys(`bull:${getQueueName(unused)}:*`)).toEqual([]);
    const ticket = { execution: newId(), url: "http://head/" };
    await tickets.add(worker, ticket);
    expect(await redis.client.lrange(`bull:${getQueueName(worker)}:wait`, 0, -1)).toEqual([ticket.execution]);
    await tickets.removeQueue(worker);
    expect(await keys()).toEqual([]);
  });

  test("a Redis that was emptied takes tickets again", async () => {
    const worker = newId();
    const ticket = { execution: newId(), url: "http://head/" };
    await tickets.add(worker, ticket);
    await redis.client.flushall();
    await tickets.add(worker, ticket);
    expect(await redis.client.lrange(`bull:${getQueueName(worker)}:wait`, 0, -1)).toEqual([ticket.execution]);
  });

  test("a Redis that stops answering is not reachable, and a ticket is refused instead of waiting", async () => {
    const changes: boolean[] = [];
    tickets.onChange(() => changes.push(tickets.isReachable()));
    redis.freeze();
    const refused = await tickets.add(newId(), { execution: newId(), url: "x" }).catch((error: Error) => error.message);
    await until("a Redis that is not reachable", () => !tickets.isReachable());
    redis.thaw();
    await until("a Redis that is reachable", () => tickets.isReachable());
    expect([refused, changes]).toEqual(["Redis did not respond in time", [false, true]]);
  });

  test("a Redis that ends is noticed at once, and one that starts again is used", async () => {
    await redis.kill();
    await until("a Redis that is not reachable", () => !tickets.isReachable());
    await expect(tickets.add(newId(), { execution: newId(), url: "x" })).rejects.toThrow("Redis is not reachable");
    await redis.restart();
    await until("a Redis that is reachable", () => tickets.isReachable());
    await tickets.add(newId(), { execution: newId(), url: "x" });
  });
});

/** Opens a runner whose handlers run in a worker of its own. */
async function openRemoteRunner(options: Parameters<OpenRunner>[0] = {}): ReturnType<OpenRunner> {
  const workerId = newId();
  const boot = { workerId, bootId: newId() };
  const jobs = new Map<string, { job: Job; context: JobContext; handler: JobHandler }>();
  const executions = createExecutions({
    tickets,
    services: {
      ...({ disk: { claim: () => true }, folders: { guard: noFolderGuard }, now: Date.now } as unknown as CoreNeeds),
      log: silentLog(),
      workerList: {
        contact: createWorkerContact(() => performance.now()),
        findBoot: () => boot.bootId,
        startRun: () => {},
        endRun: () => {},
      },
    },
    signExecution: (id) => `http://head/workers/executions/${id}`,
    onRoom: () => {},
    clock: () => performance.now(),
  });

  const run = async ({ execution }: Ticket): Promise<void> => {
    const { input } = executions.start(execution, boot);
    const { job, context, handler } = jobs.get((input as { run: string }).run)!;
    await executions.finish(
      execution,
      await report(() => handler(job, toRemote(executions, boot, execution, context))),
    );
  };
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  const worker = new Worker<Ticket>(getQueueName(workerId), ({ data }) => run(data).catch(() => {}), {
    connection,
    concurrency: SLOTS,
  });
  await worker.waitUntilReady();

  const carry =
    (handler: JobHandler): JobHandler =>
    async (job, context) => {
      const id = newId();
      jobs.set(id, { job, context, handler });
      await executions.run(workerId, {
        kind: "render",
        stepId: job.stepId,
        subjectId: job.subjectId,
        assetId: "asset",
        owner: "owner",
        input: { run: id },
        files: [],
        outputs: [],
        mediaSeconds: null,
        incomingDir: "/nonexistent/incoming",
        signal: context.signal,
        shouldYield: context.shouldYield,
        progress: context.progress,
        checkpoint: async () => {},
        check: async () => {},
      });
    };
  const bench = openRunner({ ...options, carry });
  return {
    ...bench,
    [Symbol.asyncDispose]: async () => {
      await bench[Symbol.asyncDispose]();
      await worker.close(true);
      connection.disconnect();
    },
  };
}

/** The context on a worker, which knows of the server only the responses to its heartbeats. */
function toRemote(
  executions: Executions,
  boot: { workerId: string; bootId: string },
  id: string,
  context: JobContext,
): JobContext {
  const beat = (progress: number | null) => executions.heartbeat(boot, [{ execution: id, progress }]);
  return {
    ...context,
    shouldYield: () => beat(null).yield.includes(id),
    progress: (share) => void beat(share),
  };
}

async function report(work: () => Promise<void>): Promise<ExecutionResult> {
  try {
    await work();
    return { status: "completed", output: {}, files: [] };
  } catch (error) {
    if (error instanceof JobYielded) return { status: "yielded" };
    const { message } = error as Error;
    return { status: "failed", error: jobErrorCodec.encode(new AppError("processing_failed", message)) };
  }
}
