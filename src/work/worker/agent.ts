/**
 * A worker's side of its membership: joins the head, sends heartbeats, runs the executions of tickets, and ends. The
 * head decides: after a while without heartbeats it assigns the work to others, so a worker that cannot reach the head
 * aborts its work after the same time.
 */
import { JobAborted } from "../../domain/jobs";
import type { HeartbeatAnswer, Membership, Ticket, WorkerAnnouncement } from "../../domain/worker-messages";
import type { Log } from "../../lib/log";
import { sleep } from "../../lib/sleep";
import { withTimeLimit } from "../../lib/time-limit";
import type { Head } from "../../outbound/head";
import { describeHeadError, HeadError, waitBeforeRetry } from "../../outbound/head-requests";
import type { TicketQueue } from "../../queue/bullmq-worker";
import type { Execute } from "./executor";
import type { Copies } from "./work-folders";

/**
 * `refused`: the head does not accept this worker, for the reason in `message`. `isFinal`: nor will it later, with the
 * same token.
 */
export type AgentEnd = { kind: "drained" } | { kind: "refused"; message: string; isFinal: boolean };

export type AgentParts = {
  head: Pick<Head, "join" | "heartbeat" | "leave">;
  announce(): WorkerAnnouncement;
  openQueue(name: string, onTicket: (ticket: Ticket) => Promise<void>): TicketQueue;
  execute: Execute;
  copies: Copies;
  log: Log;
  /** Maximum time for current work to end after `drain`. */
  drainMs?: number;
};

type RunningExecution = {
  abort: AbortController;
  progress: number | null;
  shouldYield: boolean;
  ended: Promise<void>;
};

/**
 * Interval at which the head is asked for deleted recordings and ended steps. After an aborted execution, it is asked
 * immediately.
 */
const COPIES_INTERVAL_MS = 60_000;
/** With `ABORT_MS` and `LEAVE_MS` below 30 s, after which supervisors kill. */
const DRAIN_MS = 24_000;
const ABORT_MS = 4_000;
const LEAVE_MS = 1_000;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

export function startAgent({ head, announce, openQueue, execute, copies, log, drainMs = DRAIN_MS }: AgentParts) {
  const { bootId } = announce();
  const running = new Map<string, RunningExecution>();
  const stop = new AbortController();
  const draining = Promise.withResolvers<void>();
  let isDraining = false;
  let isPausedByHead = false;
  /** The last one. */
  let membership: Membership | null = null;
  let tickets: TicketQueue | null = null;
  let copiesDueAt = Number.NEGATIVE_INFINITY;
  let isRemovingCopies = false;
  /** The languages that were announced to the head. */
  let joinedLanguages = "";

  async function onTicket(workerId: string, ticket: Ticket): Promise<void> {
    // A ticket is repeated when Redis was emptied or a lock has expired.
    if (running.has(ticket.execution) || stop.signal.aborted) return;
    const abort = new AbortController();
    const entry: RunningExecution = { abort, progress: null, shouldYield: false, ended: Promise.resolve() };
    running.set(ticket.execution, entry);
    entry.ended = execute(ticket, {
      boot: { workerId, bootId },
      signal: abort.signal,
      isDraining: () => isDraining,
      shouldYield: () => entry.shouldYield,
      progress: (share) => {
        if (share > (entry.progress ?? -1)) entry.progress = Math.min(1, share);
      },
    })
      .catch((error) => {
        const reason = abort.signal.reason instanceof JobAborted ? abort.signal.reason.reason : null;
        log.info("execution.dropped", { execution: ticket.execution, reason: reason ?? describeHeadError(error) });
        copiesDueAt = Number.NEGATIVE_INFINITY;
      })
      .finally(() => running.delete(ticket.execution));
    await entry.ended;
  }

  function abortAll(reason: "lost" | "shutdown"): void {
    for (const { abort } of running.values()) abort.abort(new JobAborted(reason));
  }

  /** Joins, retrying for as long as the head is unreachable. Errors: `HeadError`; the signal's reason. */
  async function join(): Promise<Membership> {
    let reported = "";
    const since = performance.now();
    for (let failures = 0; ; failures++) {
      try {
        const announcement = announce();
        const joined = await head.join(announcement, stop.signal);
        const { languages, jobs, slots } = announcement;
        joinedLanguages = languages.join();
        log.info("worker.joined", { worker: joined.workerId, jobs, slots, languages });
        return joined;
      } catch (error) {
        stop.signal.throwIfAborted();
        if (isRefusal(error)) throw error;
        const reason = describeHeadError(error);
        if (reason !== reported) log.warn("head.unreachable", { reason });
        reported = reason;
        // The head may have joined this worker and sent tickets, although no answer arrives.
        if (membership && performance.now() - since > membership.lostAfterMs) abortAll("lost");
        await waitBeforeRetry(failures, stop.signal);
      }
    }
  }

  async function follow(joined: Membership): Promise<void> {
    const isOther = membership?.queue !== joined.queue;
    membership = joined;
    if (isOther) {
      await tickets?.close();
      tickets = openQueue(joined.queue, (ticket) => onTicket(joined.workerId, ticket));
    }
    await sendHeartbeats(joined);
  }

  /**
   * Sends heartbeats until the head does not know this start of the worker. Errors: `HeadError`; the signal's reason.
   */
  async function sendHeartbeats({ workerId, heartbeatMs, lostAfterMs }: Membership): Promise<void> {
    let answeredAt = performance.now();
    let isReachable = true;
    for (;;) {
      const sentAt = performance.now();
      // The process may have been suspended.
      if (sentAt - answeredAt > lostAfterMs) abortAll("lost");
      // A heartbeat that takes too long must not delay the abort.
      const late = setTimeout(() => abortAll("lost"), Math.max(0, answeredAt + lostAfterMs - sentAt));
      try {
        const list = [...running].map(([execution, { progress }]) => ({ execution, progress }));
        const { freeBytes, languages } = announce();
        const hasRedis = tickets?.isReachable() ?? true;
        const heartbeat = { workerId, bootId, freeBytes, hasRedis, running: list };
        const answer = await head.heartbeat(heartbeat, stop.signal);
        // The head may have received it as early as it was sent.
        answeredAt = sentAt;
        if (!isReachable) log.info("head.reachable");
        isReachable = true;
        obey(answer);
        removeCopies();
        if (languages.join() !== joinedLanguages) {
          await head.join(announce(), stop.signal);
          joinedLanguages = languages.join();
          log.info("worker.models_changed", { languages });
        }
      } catch (error) {
        stop.signal.throwIfAborted();
        if (error instanceof HeadError && error.status === NOT_FOUND) {
          log.warn("worker.forgotten", { running: running.size });
          abortAll("lost");
          return;
        }
        if (isRefusal(error)) throw error;
        if (isReachable) log.warn("head.unreachable", { reason: describeHeadError(error) });
        isReachable = false;
      } finally {
        clearTimeout(late);
      }
      await sleep(sentAt + heartbeatMs - performance.now(), stop.signal);
    }
  }

  /** Removes copies in the background if due. */
  function removeCopies(): void {
    if (isRemovingCopies || performance.now() < copiesDueAt) return;
    copiesDueAt = performance.now() + COPIES_INTERVAL_MS;
    isRemovingCopies = true;
    void copies
      .removeUnneeded(stop.signal)
      .catch((error) => {
        if (!stop.signal.aborted) log.warn("copies.not_removed", { reason: describeHeadError(error) });
      })
      .finally(() => {
        isRemovingCopies = false;
      });
  }

  function obey(answer: HeartbeatAnswer): void {
    for (const execution of answer.abort) running.get(execution)?.abort.abort(new JobAborted("cancelled"));
    for (const [execution, entry] of running) entry.shouldYield = isDraining || answer.yield.includes(execution);
    if (answer.isDraining === isPausedByHead) return;
    isPausedByHead = answer.isDraining;
    log.info(isPausedByHead ? "worker.drain_requested" : "worker.resumed");
  }

  /** Stays a member until the head refuses the worker. Throws the refusal, or the signal's reason. */
  async function work(): Promise<never> {
    for (;;) await follow(await join());
  }

  async function endRunning(): Promise<void> {
    const waitForEnd = async (maxMs: number) =>
      withTimeLimit<unknown>(Promise.all([...running.values()].map((entry) => entry.ended)), maxMs, () => {});
    await waitForEnd(drainMs);
    abortAll("shutdown");
    await waitForEnd(ABORT_MS);
  }

  async function leave(): Promise<void> {
    if (membership === null) return;
    const { workerId } = membership;
    await head.leave({ workerId, bootId }, AbortSignal.timeout(LEAVE_MS)).catch(() => {});
  }

  async function run(): Promise<AgentEnd> {
    const refused = Promise.withResolvers<AgentEnd>();
    const working = work().catch((error) => {
      if (!stop.signal.aborted)
        refused.resolve({ kind: "refused", message: describeHeadError(error), isFinal: isFinal(error) });
    });
    const refusal = await Promise.race([refused.promise, draining.promise]);
    if (refusal) {
      abortAll("lost");
      await endRunning();
    } else {
      // Heartbeats continue in the meantime, and the head may reject one. Returning tickets is faster than letting the
      // head miss them.
      await Promise.race([endRunning(), refused.promise]);
      abortAll("lost");
      await tickets?.pause().catch(() => {});
      await leave();
    }
    stop.abort(new JobAborted("shutdown"));
    await working;
    await tickets?.close();
    return refusal ?? { kind: "drained" };
  }

  return {
    ended: run(),
    /** Takes no more tickets, ends the current work or returns it to the head, and leaves the head. */
    drain: () => {
      if (isDraining) return;
      isDraining = true;
      log.info("worker.draining", { running: running.size });
      for (const entry of running.values()) entry.shouldYield = true;
      draining.resolve();
    },
  };
}

export type Agent = ReturnType<typeof startAgent>;

/**
 * The token is revoked or used by another worker, or the protocol is another one. Other statuses may come from a proxy
 * before the head.
 */
const REFUSAL_STATUSES = [400, UNAUTHORIZED, FORBIDDEN, 409, 422];

const isRefusal = (error: unknown): error is HeadError =>
  error instanceof HeadError && REFUSAL_STATUSES.includes(error.status);

/** The token is revoked, or another worker uses it. A head of another version may be replaced. */
const isFinal = (error: unknown): boolean =>
  error instanceof HeadError &&
  (error.status === UNAUTHORIZED || (error.status === FORBIDDEN && error.code === "forbidden"));
