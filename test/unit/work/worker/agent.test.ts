/** A worker's membership at a head over real HTTP. The test controls its executions. */
import { expect, test } from "bun:test";
import type { JobAborted } from "../../../../src/domain/jobs";
import type { Ticket, WorkerAnnouncement } from "../../../../src/domain/worker-messages";
import { WORKER_PROTOCOL } from "../../../../src/domain/workers";
import { newId } from "../../../../src/lib/ids";
import { createLog } from "../../../../src/lib/log";
import { createHead } from "../../../../src/outbound/head";
import { type Agent, startAgent } from "../../../../src/work/worker/agent";
import type { ExecutionControl } from "../../../../src/work/worker/executor";
import { fullOr } from "../../../full-size";
import { startTcpProxy } from "../../../tcp-proxy";
import { until } from "../../../until";
import { type FakeHead, startFakeHead } from "./fake-head";

type Started = { ticket: Ticket; control: ExecutionControl; end(): void };

type TestedAgent = {
  agent: Agent;
  /** Started executions, oldest first. */
  started: Started[];
  queues: { name: string; isClosed: boolean; isPaused: boolean; isReachable: boolean }[];
  announcement: WorkerAnnouncement;
  log: string[];
  /** Returns how often it asked for deleted recordings. */
  looked(): number;
  give(ticket: Ticket): void;
};

const toTicket = (): Ticket => ({ execution: newId(), url: "http://head.example/" });

/** Starts an agent whose executions last until the test ends them, or they are aborted. */
function startTested(url: string, options: { token?: string; drainMs?: number } = {}): TestedAgent {
  const bootId = newId();
  const announcement: WorkerAnnouncement = {
    protocol: WORKER_PROTOCOL,
    version: "1.0.0",
    bootId,
    jobs: ["cut"],
    slots: 2,
    encoding: { ffmpeg: "7.1", libavutil: 59, encoder: "libx264", hasZscale: true },
    sandbox: { mode: "bwrap", reason: null },
    languages: ["en"],
    freeBytes: 1_000,
  };
  const started: Started[] = [];
  const queues: TestedAgent["queues"] = [];
  const log: string[] = [];
  let looked = 0;
  let onTicket: (ticket: Ticket) => Promise<void> = async () => {};
  const agent = startAgent({
    head: createHead({ url, token: options.token ?? "wt_secret", ca: null }),
    announce: () => announcement,
    openQueue: (name, take) => {
      const queue = { name, isClosed: false, isPaused: false, isReachable: true };
      queues.push(queue);
      onTicket = take;
      return {
        isReachable: () => queue.isReachable,
        pause: async () => {
          queue.isPaused = true;
        },
        close: async () => {
          queue.isClosed = true;
        },
      };
    },
    execute: (ticket, control) =>
      new Promise((resolve, reject) => {
        started.push({ ticket, control, end: resolve });
        control.signal.addEventListener("abort", () => reject(control.signal.reason));
      }),
    copies: {
      removeUnneeded: async () => {
        looked++;
        if (looked === 1) throw new Error("the head is away");
      },
    },
    log: createLog((line) => log.push(line), false),
    drainMs: options.drainMs ?? 200,
  });
  return { agent, started, queues, announcement, log, looked: () => looked, give: (ticket) => void onTicket(ticket) };
}

const joined = (head: FakeHead) => until("the worker joins", () => head.heartbeats.length > 0);
const abortedWith = async ({ control: { signal } }: Started, seconds?: number) => {
  await until("the execution is aborted", () => signal.aborted, seconds);
  return (signal.reason as JobAborted).reason;
};

async function runningOne(tested: TestedAgent, head: FakeHead): Promise<Started> {
  await joined(head);
  const before = tested.started.length;
  tested.give(toTicket());
  return until("the execution starts", () => tested.started[before]);
}

test("a worker announces what it can do, and heartbeats carry the progress", async () => {
  await using head = startFakeHead();
  const tested = startTested(head.url);
  const { ticket, control, end } = await runningOne(tested, head);
  expect(head.announcements).toMatchObject([
    {
      protocol: WORKER_PROTOCOL,
      jobs: ["cut"],
      slots: 2,
      freeBytes: 1_000,
      encoding: { encoder: "libx264", hasZscale: true },
    },
  ]);
  control.progress(0.5);
  control.progress(0.25);
  await until("the progress arrives", () =>
    head.heartbeats
      .at(-1)
      ?.running.some(({ execution, progress }) => execution === ticket.execution && progress === 0.5),
  );
  // The ticket was added again: the execution is known.
  tested.give(ticket);
  end();
  await until("the end arrives", () => head.heartbeats.at(-1)?.running.length === 0);
  expect(tested.started.length).toBe(1);
  tested.agent.drain();
  expect(await tested.agent.ended).toEqual({ kind: "drained" });
  expect(head.left).toBe(1);
  expect(tested.queues).toMatchObject([{ isClosed: true }]);
  expect(tested.log.join("\n")).not.toContain("wt_secret");
});

test("another protocol is refused with a message that names both versions", async () => {
  await using head = startFakeHead();
  const message =
    "Worker has job protocol 1 (Offcut 0.1.0), this server has 2 (Offcut 0.2.0): install the same version.";
  head.settings.refusal = { status: 409, code: "conflict", message };
  expect(await startTested(head.url).agent.ended).toEqual({ kind: "refused", message, isFinal: false });
});

test("a revoked worker aborts everything and ends", async () => {
  await using head = startFakeHead();
  const tested = startTested(head.url);
  const execution = await runningOne(tested, head);
  head.settings.token = "wt_another";
  expect(await tested.agent.ended).toEqual({
    kind: "refused",
    message: expect.stringContaining("revoked"),
    isFinal: true,
  });
  expect(await abortedWith(execution)).toBe("lost");
  expect(tested.queues).toMatchObject([{ isClosed: true }]);
});

test("a worker waits for a head that is away, and joins again after it was restarted", async () => {
  await using head = startFakeHead();
  await head.stop();
  const tested = startTested(head.url);
  const failures = () => tested.log.filter((line) => line.includes("head.unreachable"));
  await until("the first attempt fails", () => failures().length === 1);
  head.settings.refusal = { status: 404, code: "not_found", message: "Path not found." };
  head.start();
  await until("another reason", () => failures().length === 2);
  expect(failures()[1]).toContain("no redis_url");
  head.settings.refusal = null;
  const execution = await runningOne(tested, head);
  await head.stop();
  head.settings.isKnown = false;
  head.start();
  expect(await abortedWith(execution)).toBe("lost");
  await until("the worker joins again", () => head.announcements.length === 2);
  expect(head.announcements[1]!.bootId).toBe(head.announcements[0]!.bootId);
  const next = await runningOne(tested, head);
  expect(tested.queues.length).toBe(1);
  next.end();
  tested.agent.drain();
  await tested.agent.ended;
});

test("a worker reports that Redis does not answer, and announces itself again when its models have changed", async () => {
  await using head = startFakeHead();
  const tested = startTested(head.url);
  const execution = await runningOne(tested, head);
  tested.queues[0]!.isReachable = false;
  await until("a heartbeat without Redis", () => head.heartbeats.at(-1)?.hasRedis === false);
  tested.announcement.languages = ["de", "en"];
  await until("another announcement", () => head.announcements.length === 2);
  expect(head.announcements[1]).toMatchObject({ languages: ["de", "en"], bootId: head.announcements[0]!.bootId });
  const before = head.heartbeats.length;
  await until("further heartbeats", () => head.heartbeats.length > before + 2);
  expect([head.announcements.length, execution.control.signal.aborted, tested.queues.length]).toEqual([2, false, 1]);
  execution.end();
  tested.agent.drain();
  await tested.agent.ended;
});

test("executions that the head cancels are aborted with the next heartbeat, and those that should yield are asked to", async () => {
  await using head = startFakeHead();
  head.settings.heartbeatMs = 1_000;
  const tested = startTested(head.url);
  const cancelled = await runningOne(tested, head);
  const yielding = await runningOne(tested, head);
  const started = performance.now();
  head.settings.yield = [yielding.ticket.execution];
  head.settings.abort = [cancelled.ticket.execution];
  expect(await abortedWith(cancelled)).toBe("cancelled");
  // A heartbeat each second, plus the delay of a busy machine.
  expect(performance.now() - started).toBeLessThan(fullOr(3_000, 10_000));
  expect(yielding.control.shouldYield()).toBe(true);
  expect(yielding.control.signal.aborted).toBe(false);
  tested.agent.drain();
  await tested.agent.ended;
});

test("a worker looks for deleted recordings when it has joined, and after something was aborted", async () => {
  await using head = startFakeHead();
  const tested = startTested(head.url);
  await until("the first look", () => tested.looked() === 1);
  const execution = await runningOne(tested, head);
  expect(tested.looked()).toBe(1);
  head.settings.abort = [execution.ticket.execution];
  await until("the second look", () => tested.looked() === 2);
  expect(tested.log.join("\n")).toContain("the head is away");
  tested.agent.drain();
  await tested.agent.ended;
});

test("a worker that cannot reach the head aborts its work when the head assigns it to others", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  head.settings.lostAfterMs = 600;
  const tested = startTested(`http://127.0.0.1:${network.port}`);
  const execution = await runningOne(tested, head);
  network.partition();
  const started = performance.now();
  expect(await abortedWith(execution)).toBe("lost");
  expect(performance.now() - started).toBeGreaterThan(200);
  await network.heal();
  const next = await runningOne(tested, head);
  next.end();
  tested.agent.drain();
  await tested.agent.ended;
});

test("while a worker drains, current work is asked to yield, and is returned when the time is over", async () => {
  await using head = startFakeHead();
  const tested = startTested(head.url, { drainMs: 400 });
  const quick = await runningOne(tested, head);
  const slow = await runningOne(tested, head);
  tested.agent.drain();
  expect(quick.control.shouldYield()).toBe(true);
  // The heartbeats do not take it back.
  const before = head.heartbeats.length;
  await until("a heartbeat", () => head.heartbeats.length > before + 1);
  expect(slow.control.shouldYield()).toBe(true);
  expect(slow.control.isDraining()).toBe(true);
  quick.end();
  expect(await abortedWith(slow)).toBe("shutdown");
  expect(await tested.agent.ended).toEqual({ kind: "drained" });
  expect(head.left).toBe(1);
});

test("a worker that has not joined yet ends at once", async () => {
  await using head = startFakeHead();
  await head.stop();
  const tested = startTested(head.url);
  tested.agent.drain();
  expect(await tested.agent.ended).toEqual({ kind: "drained" });
});
