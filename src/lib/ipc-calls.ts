/**
 * Remote calls between a program and a worker process over pipes. A call has an input, a result or an error, progress,
 * log lines and callbacks to the caller; the caller can abort it or ask it to yield. All values are plain JSON.
 */
import { decodeFrames, encodeFrame } from "./ipc-framing";
import { createIncreasingProgress } from "./progress";

/** An error as JSON. An `ErrorCodec` defines the kinds. */
export type WireError = { kind: string; message: string; [field: string]: unknown };

/** Converts errors to JSON and back. */
export type ErrorCodec = { encode(error: unknown): WireError; decode(error: WireError): unknown };

type CallerMessage =
  | { type: "call"; id: number; operation: string; input: unknown }
  | { type: "abort"; id: number }
  | { type: "yield"; id: number; isRequested: boolean }
  | { type: "callback_result"; callback: number; value?: unknown; error?: WireError };

type WorkerMessage =
  | { type: "result"; id: number; value: unknown }
  | { type: "error"; id: number; error: WireError }
  | { type: "progress"; id: number; share: number }
  | { type: "log"; id: number; event: string; fields: object }
  | { type: "callback"; id: number; callback: number; name: string; value: unknown }
  | { type: "cancel_callback"; id: number; callback: number };

/** The context that an operation in the worker receives besides its input. */
export type WorkerCall = {
  /** Aborted when the caller aborts. */
  signal: AbortSignal;
  progress(share: number): void;
  log(event: string, fields: object): void;
  /** Returns whether the caller asks the operation to stop at its next safe point. */
  shouldYield(): boolean;
  /**
   * Calls a function of the caller. `signal` asks the caller to cancel it, but the promise settles only when the caller
   * responds. Throws the caller's errors.
   */
  callBack(name: string, value: unknown, signal?: AbortSignal): Promise<unknown>;
};

// biome-ignore lint/suspicious/noExplicitAny: each operation has its own input type, which the owner of the table checks.
export type Operations = Record<string, (input: any, call: WorkerCall) => Promise<unknown>>;

/** Serves calls, concurrently, until the input ends. */
export async function serveCalls(options: {
  input: ReadableStream<Uint8Array>;
  send: (frame: Uint8Array) => void;
  operations: Operations;
  errors: ErrorCodec;
}): Promise<void> {
  const { operations, errors } = options;
  const send = (message: WorkerMessage) => options.send(encodeFrame(message));
  const running = new Map<number, { abort: AbortController; isYieldRequested: boolean }>();
  const callbacks = new Map<number, PromiseWithResolvers<unknown>>();
  let nextCallback = 1;

  const callBack = (id: number, name: string, value: unknown, signal?: AbortSignal): Promise<unknown> => {
    const callback = nextCallback++;
    const result = Promise.withResolvers<unknown>();
    const cancel = () => send({ type: "cancel_callback", id, callback });
    callbacks.set(callback, result);
    send({ type: "callback", id, callback, name, value });
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    return result.promise.finally(() => {
      signal?.removeEventListener("abort", cancel);
      callbacks.delete(callback);
    });
  };

  const run = async ({ id, operation, input }: Extract<CallerMessage, { type: "call" }>) => {
    const state = { abort: new AbortController(), isYieldRequested: false };
    running.set(id, state);
    try {
      const implementation = operations[operation];
      if (implementation === undefined) throw new Error(`unknown operation ${operation}`);
      const value = await implementation(input, {
        signal: state.abort.signal,
        progress: createIncreasingProgress((share) => send({ type: "progress", id, share }), PROGRESS_INTERVAL_MS),
        log: (event, fields) => send({ type: "log", id, event, fields }),
        shouldYield: () => state.isYieldRequested,
        callBack: (name, argument, signal) => callBack(id, name, argument, signal),
      });
      send({ type: "result", id, value: value ?? null });
    } catch (error) {
      send({ type: "error", id, error: errors.encode(error) });
    } finally {
      running.delete(id);
    }
  };

  for await (const frame of decodeFrames(options.input)) {
    const message = frame as CallerMessage;
    switch (message.type) {
      case "call":
        void run(message);
        break;
      case "abort":
        running.get(message.id)?.abort.abort(new Error("aborted by the caller"));
        break;
      case "yield": {
        const state = running.get(message.id);
        if (state !== undefined) state.isYieldRequested = message.isRequested;
        break;
      }
      case "callback_result":
        if (message.error === undefined) callbacks.get(message.callback)?.resolve(message.value);
        else callbacks.get(message.callback)?.reject(errors.decode(message.error));
    }
  }
  for (const { abort } of running.values()) abort.abort(new Error("the caller closed the connection"));
}

const PROGRESS_INTERVAL_MS = 100;

export type CallOptions = {
  signal?: AbortSignal;
  onProgress?: (share: number) => void;
  onLog?: (event: string, fields: object) => void;
  /** Polled every `YIELD_POLL_MS`. */
  shouldYield?: () => boolean;
  /** Functions that the worker may call. The signal aborts when the worker cancels the callback or the call ends. */
  callbacks?: Record<string, (value: never, signal: AbortSignal) => Promise<unknown>>;
};

const YIELD_POLL_MS = 50;
/**
 * Maximum number of open callbacks of one call. It is far above what any operation needs, and bounds the memory that a
 * hijacked worker can use in the caller.
 */
const MAX_OPEN_CALLBACKS = 1_000;

/** Limits of the log lines of one call, so that a hijacked worker cannot fill the disk with them. */
const MAX_LOG_LINES = 100;
const MAX_EVENT_CHARACTERS = 100;
const MAX_LOG_CHARACTERS = 16_000;

type PendingCall = CallOptions & {
  settle: PromiseWithResolvers<unknown>;
  logLines: number;
  openCallbacks: Map<number, AbortController>;
};

/** Forwards a log line, without its fields if they are too long. Lines above the limit are dropped. */
function passOnLog(call: PendingCall, { event, fields }: Extract<WorkerMessage, { type: "log" }>): void {
  if (typeof event !== "string" || event.length > MAX_EVENT_CHARACTERS || call.logLines >= MAX_LOG_LINES) return;
  call.logLines++;
  const isShort = typeof fields === "object" && JSON.stringify(fields).length <= MAX_LOG_CHARACTERS;
  call.onLog?.(event, isShort ? { ...fields } : {});
}

/** Creates the caller's end. `ended` resolves when the worker's output ends, and rejects on a protocol violation. */
export function createIpcCaller(options: {
  output: ReadableStream<Uint8Array>;
  send: (frame: Uint8Array) => Promise<void>;
  errors: ErrorCodec;
}) {
  const { errors } = options;
  const pending = new Map<number, PendingCall>();
  let nextId = 1;
  // A failed write is ignored: a worker that has exited is detected by the end of its output.
  const send = (message: CallerMessage) => void options.send(encodeFrame(message)).catch(() => {});

  const runCallback = async (call: PendingCall, message: Extract<WorkerMessage, { type: "callback" }>) => {
    const cancelled = new AbortController();
    const { callback } = message;
    call.openCallbacks.set(callback, cancelled);
    try {
      const run = Object.hasOwn(call.callbacks ?? {}, message.name) ? call.callbacks?.[message.name] : undefined;
      if (run === undefined) throw new Error(`unknown callback ${message.name}`);
      const value = (await run(message.value as never, cancelled.signal)) ?? null;
      send({ type: "callback_result", callback, value });
    } catch (error) {
      send({ type: "callback_result", callback, error: errors.encode(error) });
    } finally {
      call.openCallbacks.delete(callback);
    }
  };

  const receive = (message: WorkerMessage) => {
    const call = pending.get(message.id);
    if (call === undefined) return;
    switch (message.type) {
      case "progress":
        return call.onProgress?.(message.share);
      case "log":
        return passOnLog(call, message);
      case "callback":
        if (call.openCallbacks.size >= MAX_OPEN_CALLBACKS) throw new Error("too many open callbacks");
        return void runCallback(call, message);
      case "cancel_callback":
        return call.openCallbacks.get(message.callback)?.abort(new Error("callback cancelled"));
      case "result":
        return call.settle.resolve(message.value);
      case "error":
        return call.settle.reject(errors.decode(message.error));
    }
  };

  const ended = (async () => {
    for await (const frame of decodeFrames(options.output)) receive(frame as WorkerMessage);
  })();

  return {
    ended,
    /** Rejects all open calls with this error. */
    fail: (error: unknown): void => {
      for (const call of pending.values()) call.settle.reject(error);
    },
    /**
     * Calls an operation. Throws its errors; if aborted, the signal's reason once the worker has ended the operation.
     */
    async call(operation: string, input: unknown, callOptions: CallOptions = {}): Promise<unknown> {
      const { signal, shouldYield } = callOptions;
      signal?.throwIfAborted();
      const id = nextId++;
      const call: PendingCall = {
        ...callOptions,
        settle: Promise.withResolvers(),
        logLines: 0,
        openCallbacks: new Map(),
      };
      pending.set(id, call);
      const abort = () => send({ type: "abort", id });
      signal?.addEventListener("abort", abort, { once: true });
      let isRequested = false;
      const checkYield = () => {
        if (shouldYield === undefined || shouldYield() === isRequested) return;
        isRequested = !isRequested;
        send({ type: "yield", id, isRequested });
      };
      const polling = shouldYield === undefined ? undefined : setInterval(checkYield, YIELD_POLL_MS);
      send({ type: "call", id, operation, input });
      checkYield();
      try {
        const value = await call.settle.promise;
        signal?.throwIfAborted();
        return value;
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        clearInterval(polling);
        signal?.removeEventListener("abort", abort);
        pending.delete(id);
        for (const callback of call.openCallbacks.values()) callback.abort(new Error("call ended"));
      }
    },
  };
}
