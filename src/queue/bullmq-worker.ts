/** The queue of a worker: takes tickets from Redis with BullMQ. If Redis loses tickets, the head adds them again. */
import { Worker } from "bullmq";
import { parseMessage, type Ticket, ticketMessage } from "../domain/worker-messages";
import type { Log } from "../lib/log";
import { withTimeLimit } from "../lib/time-limit";
import { openRedis, type RedisAddress, watchRedis } from "./bullmq-connection";
import { findRedisAdvice, findRedisProblem } from "./bullmq-problems";

const CONNECT_TIMEOUT_MS = 5_000;
/** Time for which a worker keeps a ticket without renewing it. The head notices a lost worker sooner. */
const LOCK_MS = 60_000;
/** A ticket is not an attempt: it can be taken any number of times. */
const MAX_STALLED_COUNT = 1_000_000;
const RETRY_DELAY_MS = 1_000;
const CLOSING_MS = 1_000;

/**
 * Takes tickets of the queue, at most `slots` at a time. A ticket is in use until `onTicket` has ended, which must not
 * throw. Connects in the background, and again after each loss of the connection.
 */
export function openTicketQueue(
  address: RedisAddress,
  { queue, slots, log }: { queue: string; slots: number; log: Log },
  onTicket: (ticket: Ticket) => Promise<void>,
) {
  const redis = openRedis(address, { connectTimeout: CONNECT_TIMEOUT_MS });
  let refusal: string | null = null;
  let worker: Worker | null = null;
  const onChange = () => {
    // Only once all commands are allowed: without INFO, BullMQ retries its first ones without a pause.
    if (pulse.isReachable()) worker ??= openWorker();
  };
  const pulse = watchRedis(redis, log, onChange, { queue });

  function openWorker(): Worker {
    const options = {
      connection: redis,
      concurrency: slots,
      lockDuration: LOCK_MS,
      maxStalledCount: MAX_STALLED_COUNT,
      runRetryDelay: RETRY_DELAY_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    };
    const opened = new Worker(queue, take, options);
    opened.on("error", (error) => {
      const found = findRedisProblem(error);
      // The pulse reports errors of the connection.
      if (found === refusal || findRedisAdvice(found) === undefined || pulse.isReachable() !== true) return;
      refusal = found;
      log.warn("redis.command_refused", { code: found, advice: findRedisAdvice(found) });
    });
    return opened;
  }

  async function take({ data }: { data: unknown }): Promise<void> {
    refusal = null;
    const ticket = parseMessage(ticketMessage, data);
    if (ticket === null) log.warn("ticket.invalid", { queue });
    else await onTicket(ticket);
  }

  return {
    /** Returns false when Redis does not respond. */
    isReachable: () => pulse.isReachable() !== false,
    /** Takes no more tickets. */
    pause: () => withinClosingTime(worker?.pause(true)),
    /** Closes the connections. Does not wait for the executions. */
    close: async () => {
      pulse.stop();
      await withinClosingTime(worker?.close(true));
      redis.disconnect();
    },
  };
}

export type TicketQueue = ReturnType<typeof openTicketQueue>;

/** Waits briefly for a call that may be waiting for Redis: the process is ending. */
const withinClosingTime = (running: Promise<void> = Promise.resolve()): Promise<void> =>
  withTimeLimit(
    running.catch(() => {}),
    CLOSING_MS,
    () => {},
  );
