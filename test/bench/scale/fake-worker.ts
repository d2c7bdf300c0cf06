/** A worker that takes tickets as a real one does, and immediately reports a permanent failure of each execution. */
import { AppError } from "../../../src/domain/errors";
import { createLog } from "../../../src/lib/log";
import { openTicketQueue } from "../../../src/queue/bullmq-worker";
import { jobErrorCodec } from "../../../src/work/job-child/error-codec";
import { createJoinToken, type Server } from "../../e2e/server";
import type { TestRedis } from "../../redis";
import { callWorkers, executionPath, joinAsWorker } from "../../worker-client";

export type FakeWorker = AsyncDisposable & {
  /**
   * When each execution was started, and when the one before it on the same slot was reported, in milliseconds of
   * `performance.now()`.
   */
  starts: { at: number; freeSince: number | null }[];
  /** Why calls of the head failed. */
  refused: string[];
};

const HEARTBEAT_MS = 1_000;

/** Joins and takes tickets until it is disposed. */
export async function startFakeWorker(
  head: Server,
  redis: TestRedis,
  { name, jobs, slots }: { name: string; jobs: string[]; slots: number },
): Promise<FakeWorker> {
  const token = await createJoinToken(head.data, name);
  const worker = await joinAsWorker(head.url, token, { jobs, slots });
  const running = new Set<string>();
  // The head ends an execution that two heartbeats in a row do not name.
  const heartbeats = setInterval(() => void worker.heartbeat([...running]).catch(() => {}), HEARTBEAT_MS);
  const starts: FakeWorker["starts"] = [];
  const refused: string[] = [];
  const free: number[] = [];
  const code = jobs.includes("cut") ? "no_speech" : "processing_failed";
  const error = jobErrorCodec.encode(
    new AppError(code, "The worker of the benchmark does nothing.", { isPermanent: true }),
  );
  const queue = openTicketQueue(
    { url: redis.url, ca: null },
    { queue: worker.queue, slots, log: createLog(() => {}, false) },
    async (ticket) => {
      running.add(ticket.execution);
      try {
        await worker.start(ticket);
        starts.push({ at: performance.now(), freeSince: free.shift() ?? null });
        const json = { status: "failed", error };
        await callWorkers(head.url(), "POST", executionPath(ticket, "result"), { json });
        free.push(performance.now());
      } catch (refusal) {
        // A ticket that is delivered twice names an execution that has ended.
        refused.push(String(refusal));
      } finally {
        running.delete(ticket.execution);
      }
    },
  );
  return {
    starts,
    refused,
    [Symbol.asyncDispose]: async () => {
      clearInterval(heartbeats);
      await queue.close();
    },
  };
}
