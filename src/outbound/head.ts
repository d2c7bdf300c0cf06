/**
 * The client of the head on a worker: calls with the join token, and calls that the signed link of an execution allows.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { parseByteCount } from "../domain/bytes";
import {
  deletedMessage,
  type ExecutionResult,
  endedMessage,
  heartbeatAnswerMessage,
  membershipMessage,
  parseMessage,
  type SentFile,
  tokenCheckMessage,
  type WorkerAnnouncement,
  type WorkerBoot,
  type WorkerHeartbeat,
  type WorkerProgram,
} from "../domain/worker-messages";
import {
  createSender,
  type HeadAddress,
  HeadError,
  HeadUnreachableError,
  type SendRequest,
  toUnreachable,
  waitBeforeRetry,
  withRetries,
} from "./head-requests";

const NOT_FOUND = 404;
const CALL_TIMEOUT_MS = 10_000;
/** A heartbeat that takes longer is repeated before the head misses the worker. */
const HEARTBEAT_TIMEOUT_MS = 4_000;
/** For a result: the head reads all files of it before it answers. */
const RESULT_TIMEOUT_MS = 120_000;
/** For a part of a file, which is a few megabytes. */
const PART_TIMEOUT_MS = 60_000;

/** Creates the client. Sends nothing. */
export function createHead(address: HeadAddress) {
  const send = createSender(address);
  const call = async (name: string, body: object, signal: AbortSignal, timeoutMs = CALL_TIMEOUT_MS) => {
    const headers = { Authorization: `Bearer ${address.token}`, "Content-Type": "application/json" };
    const text = JSON.stringify(body);
    return readJson(await send({ method: "POST", path: `/workers/${name}`, headers, body: text, signal, timeoutMs }));
  };
  return {
    /** Asks whether the head accepts the token and the version, without joining. */
    check: async (program: WorkerProgram, signal: AbortSignal) =>
      requireMessage(tokenCheckMessage, await call("check", program, signal)),
    join: async (announcement: WorkerAnnouncement, signal: AbortSignal) => {
      try {
        return requireMessage(membershipMessage, await call("join", announcement, signal));
      } catch (error) {
        throw error instanceof HeadError && error.status === NOT_FOUND ? noRoutesError() : error;
      }
    },
    heartbeat: async (heartbeat: WorkerHeartbeat, signal: AbortSignal) =>
      requireMessage(heartbeatAnswerMessage, await call("heartbeat", heartbeat, signal, HEARTBEAT_TIMEOUT_MS)),
    /** Returns those of at most `MAX_COPIED_ASSETS` assets that were deleted. */
    findDeleted: async (assets: string[], signal: AbortSignal) =>
      requireMessage(deletedMessage, await call("copies", { assets }, signal)).deleted,
    /** Returns those of at most `MAX_COPIED_ASSETS` executions of this worker whose steps have ended. */
    findEnded: async (executions: string[], signal: AbortSignal) =>
      requireMessage(endedMessage, await call("ended", { executions }, signal)).ended,
    leave: async (boot: WorkerBoot, signal: AbortSignal) => {
      await call("leave", boot, signal);
    },
    /** `url` is that of a ticket. Throws an `Error` when it is not the link of an execution. */
    openExecution: (url: string) => createExecution(send, parseExecutionUrl(url)),
  };
}

/** Errors of all calls: `HeadError`; `HeadUnreachableError`; the signal's reason. */
export type Head = ReturnType<typeof createHead>;

const EXECUTION_PATH = /\/workers\/executions\/[0-9a-f-]{36}$/i;

/**
 * Returns the path and the query of a ticket's link. The host is not used: the link comes through Redis and may name
 * another address of the head, or that of somebody who can write to Redis.
 */
function parseExecutionUrl(url: string): { path: string; query: string } {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const path = parsed === null ? undefined : EXECUTION_PATH.exec(parsed.pathname)?.[0];
  if (parsed === null || path === undefined) throw new Error("Ticket has no link of an execution.");
  return { path, query: parsed.search };
}

function createExecution(send: SendRequest, link: { path: string; query: string }) {
  const toPath = (...parts: string[]) =>
    `${link.path}/${parts.map((part) => encodeURIComponent(part)).join("/")}${link.query}`;
  const post = (name: string, body: object, signal: AbortSignal, timeoutMs = CALL_TIMEOUT_MS) =>
    withRetries(signal, async () => {
      const headers = { "Content-Type": "application/json" };
      return readJson(
        await send({ method: "POST", path: toPath(name), headers, body: JSON.stringify(body), signal, timeoutMs }),
      );
    });
  return {
    start: (boot: WorkerBoot, signal: AbortSignal) => post("start", boot, signal),
    /** Reads the bytes of a file from `from` up to `to`, and continues where a broken connection ended. */
    read: (name: string, range: { from: number; to: number; total: number }, signal: AbortSignal) =>
      readRange(send, toPath("files", name), range, signal),
    /** Returns how many bytes of an output the head has. */
    getOutputOffset: (name: string, signal: AbortSignal) =>
      withRetries(signal, async () => {
        const path = toPath("outputs", name);
        return readOffset(await send({ method: "HEAD", path, signal, timeoutMs: CALL_TIMEOUT_MS }));
      }),
    /** Sends a part of an output once. Returns how many bytes the head has then. */
    writeOutput: async (
      name: string,
      { offset, total, body }: { offset: number; total: number; body: Blob },
      signal: AbortSignal,
    ) => {
      const headers = {
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(offset),
        "Upload-Length": String(total),
      };
      const path = toPath("outputs", name);
      return readOffset(await send({ method: "PATCH", path, headers, body, signal, timeoutMs: PART_TIMEOUT_MS }));
    },
    sendCheckpoint: async (checkpoint: unknown, files: SentFile[], signal: AbortSignal) => {
      await post("checkpoint", { checkpoint, files }, signal, RESULT_TIMEOUT_MS);
    },
    sendResult: async (result: ExecutionResult, signal: AbortSignal) => {
      await post("result", result, signal, RESULT_TIMEOUT_MS);
    },
  };
}

/**
 * The head's side of one execution. Calls are repeated while the head is unreachable, until their signal is aborted.
 */
export type RemoteExecution = ReturnType<typeof createExecution>;

/** Reads a range of a file, and the rest of it again after a broken connection. */
async function* readRange(
  send: SendRequest,
  path: string,
  { from, to, total }: { from: number; to: number; total: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let position = from;
  let failures = 0;
  while (position < to) {
    try {
      const headers = { Range: `bytes=${position}-${to - 1}` };
      const response = await send({ method: "GET", path, headers, signal, timeoutMs: PART_TIMEOUT_MS });
      requireRange(response, { from: position, to, total });
      for await (const bytes of response.body ?? []) {
        if (position + bytes.byteLength > to) throw new HeadError(200, "", "The head sent more bytes than requested.");
        position += bytes.byteLength;
        failures = 0;
        yield bytes;
      }
      if (position < to) throw new HeadUnreachableError("The response ended before all bytes were received.");
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HeadError) throw error;
      // An error from a broken body is not one of the request.
      toUnreachable(error);
      await waitBeforeRetry(failures++, signal);
    }
  }
}

/** Throws `HeadError` when the response is not the range of a file of `total` bytes. */
function requireRange({ status, headers }: Response, { from, to, total }: { from: number; to: number; total: number }) {
  const isWhole = status === 200 && from === 0 && headers.get("Content-Length") === String(total) && to === total;
  const range = `bytes ${from}-${to - 1}/${total}`;
  if (isWhole || (status === 206 && headers.get("Content-Range") === range)) return;
  throw new HeadError(status, "", "The head sent another range than requested: the file has another size.");
}

function readOffset({ headers }: Response): number {
  const offset = parseByteCount(headers.get("Upload-Offset"));
  if (offset === null) throw new HeadError(200, "", "The head sent no valid Upload-Offset.");
  return offset;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new HeadError(response.status, "", "The address does not respond like a head, in JSON: check head.");
    throw toUnreachable(error);
  }
}

/** Returns the answer if it is this message. Throws `HeadError`. */
function requireMessage<S extends TSchema>(schema: S, body: unknown): Static<S> {
  const message = parseMessage(schema, body);
  if (message === null) throw new HeadError(200, "", "The address does not respond like a head: check head.");
  return message;
}

const noRoutesError = () =>
  new HeadError(NOT_FOUND, "", "The address accepts no workers: it is not a head, or the head has no redis_url.");
