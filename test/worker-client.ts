/** A worker for attacks and benchmarks. It speaks the protocol, but its caller decides what it sends. */
import { version } from "../package.json";
import { WORKER_PROTOCOL } from "../src/domain/workers";
import { newId } from "../src/lib/ids";
import type { TestRedis } from "./redis";
import { until } from "./until";

export type WorkerReply = { status: number; headers: Headers; body: unknown };
export type WorkerTicket = { execution: string; url: string };

/** Manifest that the head sends at the start of an execution. */
export type WireManifest = {
  execution: string;
  kind: string;
  owner: string;
  input: Record<string, unknown>;
  files: { name: string; role: string; bytes: number; key: string; modifiedAt: number }[];
};

export type WorkerClient = {
  workerId: string;
  bootId: string;
  queue: string;
  /** Sends a heartbeat that names these executions. */
  heartbeat(running?: string[]): Promise<WorkerReply>;
  /** Joins again, with the same start. */
  join(): Promise<WorkerReply>;
  /** Waits for a ticket in Redis that is not in `known`. */
  ticket(redis: TestRedis, known?: string[]): Promise<WorkerTicket>;
  /** Starts the execution of a ticket. Throws when it is refused. */
  start(ticket: WorkerTicket): Promise<WireManifest>;
};

/** Calls a route of workers. `headers` and `json` as needed. */
export async function callWorkers(
  url: string,
  method: string,
  path: string,
  { json, body, headers = {} }: { json?: unknown; body?: BodyInit; headers?: Record<string, string> } = {},
): Promise<WorkerReply> {
  const response = await fetch(new URL(path, url), {
    method,
    body: json === undefined ? (body ?? null) : JSON.stringify(json),
    headers: { ...(json === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Returns the address of a route of the execution. */
export const executionPath = ({ url }: WorkerTicket, ...parts: string[]): string => {
  const { pathname, search } = new URL(url);
  return `${pathname}/${parts.map(encodeURIComponent).join("/")}${search}`;
};

export type ClientOptions = { jobs?: string[]; slots?: number; announcement?: Record<string, unknown> };

/** Joins with a token. Throws when it is refused. `url` is read at each call. */
export async function joinAsWorker(
  url: () => string,
  token: string,
  { jobs = ["render"], slots = 4, announcement = {} }: ClientOptions = {},
): Promise<WorkerClient> {
  const bootId = newId();
  const headers = { Authorization: `Bearer ${token}` };
  const join = () =>
    callWorkers(url(), "POST", "/workers/join", {
      headers,
      json: {
        protocol: WORKER_PROTOCOL,
        version,
        bootId,
        jobs,
        slots,
        encoding: { ffmpeg: "attacker", libavutil: 58, encoder: "libx264", hasZscale: true },
        sandbox: { mode: "bwrap", reason: null },
        languages: ["en"],
        freeBytes: 1e12,
        ...announcement,
      },
    });
  const joined = await join();
  if (joined.status !== 200) throw new Error(`join: ${joined.status} ${JSON.stringify(joined.body)}`);
  const { workerId, queue } = joined.body as { workerId: string; queue: string };
  return {
    workerId,
    bootId,
    queue,
    join,
    heartbeat: (running = []) =>
      callWorkers(url(), "POST", "/workers/heartbeat", {
        headers,
        json: {
          workerId,
          bootId,
          freeBytes: 1e12,
          running: running.map((execution) => ({ execution, progress: null })),
        },
      }),
    ticket: (redis, known = []) =>
      until("a ticket", async () => {
        const prefix = `bull:${queue}:`;
        const keys = await redis.client.keys(`${prefix}????????-*`);
        const ids = keys.map((key) => key.slice(prefix.length)).filter((id) => /^[0-9a-f-]{36}$/.test(id));
        const found = ids.find((id) => !known.includes(id));
        if (found === undefined) return null;
        const data = await redis.client.hget(`${prefix}${found}`, "data");
        return data === null ? null : (JSON.parse(data) as WorkerTicket);
      }),
    start: async (ticket) => {
      const json = { workerId, bootId };
      const reply = await callWorkers(url(), "POST", executionPath(ticket, "start"), { json });
      if (reply.status !== 200) throw new Error(`start: ${reply.status} ${JSON.stringify(reply.body)}`);
      return reply.body as WireManifest;
    },
  };
}
