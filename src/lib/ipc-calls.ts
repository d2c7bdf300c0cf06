/**
 * Calls between a program and a worker process over pipes: typed requests with a result or an error, progress, log lines, questions of the
 * worker that the caller answers, abort and pause. Everything that travels is plain JSON. It knows nothing of what the calls do.
 */
import { decodeFrames, encodeFrame } from "./ipc-framing";

/** An error as it travels. What its kinds mean is agreed between `encodeError` and `decodeError`. */
export type WireError = { kind: string; message: string; [field: string]: unknown };

/** How an error crosses the pipe, both ways. */
export type ErrorCodec = { encode(error: unknown): WireError; decode(error: WireError): unknown };

/** Caller to worker. */
type CallerMessage =
  | { type: "call"; id: number; operation: string; input: unknown }
  | { type: "abort"; id: number }
  | { type: "pause"; id: number; isWanted: boolean }
  | { type: "answer"; question: number; value?: unknown; error?: WireError };

/** Worker to caller. */
type WorkerMessage =
  | { type: "result"; id: number; value: unknown }
  | { type: "error"; id: number; error: WireError }
  | { type: "progress"; id: number; share: number }
  | { type: "log"; id: number; event: string; fields: object }
  | { type: "ask"; id: number; question: number; name: string; value: unknown }
  | { type: "withdraw"; id: number; question: number };

/** What an operation in the worker is given beside its input. */
export type WorkerCall = {
  /** Aborted when the caller aborts. */
  signal: AbortSignal;
  progress(share: number): void;
  log(event: string, fields: object): void;
  /** Whether the caller wants the operation to stop at its next good moment. */
  shouldYield(): boolean;
  /**
   * Asks the caller. `signal` withdraws the question; the promise settles all the same, with the caller's answer. Errors: those of the caller.
   */
  callBack(name: string, value: unknown, signal?: AbortSignal): Promise<unknown>;
};

// biome-ignore lint/suspicious/noExplicitAny: each operation has an input of its own, which the table of its owner types.
export type Operations = Record<string, (input: any, call: WorkerCall) => Promise<unknown>>;

/** Serves calls until the input ends. Calls run side by side. */
export async function serveCalls(options: {
  input: ReadableStream<Uint8Array>;
  send: (frame: Uint8Array) => void;
  operations: Operations;
  errors: ErrorCodec;
}): Promise<void> {
  const { operations, errors } = options;
  const send = (message: WorkerMessage) => options.send(encodeFrame(message));
  const running = new Map<number, { abort: AbortController; isPauseWanted: boolean }>();
  const questions = new Map<number, PromiseWithResolvers<unknown>>();
  let nextQuestion = 1;

  const ask = (id: number, name: string, value: unknown, signal?: AbortSignal): Promise<unknown> => {
    const question = nextQuestion++;
    const answer = Promise.withResolvers<unknown>();
    const withdraw = () => send({ type: "withdraw", id, question });
    questions.set(question, answer);
    send({ type: "ask", id, question, name, value });
    if (signal?.aborted) withdraw();
    else signal?.addEventListener("abort", withdraw, { once: true });
    return answer.promise.finally(() => {
      signal?.removeEventListener("abort", withdraw);
      questions.delete(question);
    });
  };

  const run = async ({ id, operation, input }: Extract<CallerMessage, { type: "call" }>) => {
    const state = { abort: new AbortController(), isPauseWanted: false };
    running.set(id, state);
    try {
      const work = operations[operation];
      if (work === undefined) throw new Error(`unknown operation ${operation}`);
      const value = await work(input, {
        signal: state.abort.signal,
        progress: throttled((share) => send({ type: "progress", id, share })),
        log: (event, fields) => send({ type: "log", id, event, fields }),
        shouldYield: () => state.isPauseWanted,
        callBack: (name, asked, signal) => ask(id, name, asked, signal),
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
      case "pause": {
        const state = running.get(message.id);
        if (state !== undefined) state.isPauseWanted = message.isWanted;
        break;
      }
      case "answer":
        if (message.error === undefined) questions.get(message.question)?.resolve(message.value);
        else questions.get(message.question)?.reject(errors.decode(message.error));
    }
  }
  for (const { abort } of running.values()) abort.abort(new Error("the caller has gone"));
}

const PROGRESS_MS = 100;

/** Passes shares on, the last one always, others not more often than they are looked at. */
function throttled(report: (share: number) => void): (share: number) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (share) => {
    const now = performance.now();
    if (share < 1 && now - last < PROGRESS_MS) return;
    last = now;
    report(share);
  };
}

/** What a caller gives along with a call. */
export type CallOptions = {
  signal?: AbortSignal;
  onProgress?: (share: number) => void;
  onLog?: (event: string, fields: object) => void;
  /** Asked every `PAUSE_POLL_MS`. */
  shouldYield?: () => boolean;
  /** Answers of the caller to the worker's questions; the signal is aborted when the question is withdrawn or the call has ended. */
  callbacks?: Record<string, (value: never, signal: AbortSignal) => Promise<unknown>>;
};

/** The caller's end. */
export type IpcCaller = {
  /** Calls an operation. Errors: the operation's; the signal's reason when aborted, once the worker has ended the operation. */
  call(operation: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** Ends all calls with this error. */
  fail(error: unknown): void;
};

const PAUSE_POLL_MS = 50;
/** Of one call: no operation has as many. What they wait for is the memory of the caller. */
const MAX_OPEN_QUESTIONS = 1_000;

type PendingCall = CallOptions & {
  settle: PromiseWithResolvers<unknown>;
  questions: Map<number, AbortController>;
};

/** Makes the caller's end of a worker. The promise `ended` resolves when the worker's output ends and rejects when it is not of this protocol. */
export function createIpcCaller(options: {
  output: ReadableStream<Uint8Array>;
  send: (frame: Uint8Array) => Promise<void>;
  errors: ErrorCodec;
}): IpcCaller & { ended: Promise<void> } {
  const { errors } = options;
  const pending = new Map<number, PendingCall>();
  let nextId = 1;
  // A worker that has gone is noticed by the end of its output.
  const send = (message: CallerMessage) => void options.send(encodeFrame(message)).catch(() => {});

  const answer = async (call: PendingCall, message: Extract<WorkerMessage, { type: "ask" }>) => {
    const withdrawn = new AbortController();
    const { question } = message;
    call.questions.set(question, withdrawn);
    try {
      const ask = Object.hasOwn(call.callbacks ?? {}, message.name) ? call.callbacks?.[message.name] : undefined;
      if (ask === undefined) throw new Error(`unknown question ${message.name}`);
      send({ type: "answer", question, value: (await ask(message.value as never, withdrawn.signal)) ?? null });
    } catch (error) {
      send({ type: "answer", question, error: errors.encode(error) });
    } finally {
      call.questions.delete(question);
    }
  };

  const take = (message: WorkerMessage) => {
    const call = pending.get(message.id);
    if (call === undefined) return;
    switch (message.type) {
      case "progress":
        return call.onProgress?.(message.share);
      case "log":
        return call.onLog?.(message.event, message.fields);
      case "ask":
        if (call.questions.size >= MAX_OPEN_QUESTIONS) throw new Error("the worker asks too much at a time");
        return void answer(call, message);
      case "withdraw":
        return call.questions.get(message.question)?.abort(new Error("the question was withdrawn"));
      case "result":
        return call.settle.resolve(message.value);
      case "error":
        return call.settle.reject(errors.decode(message.error));
    }
  };

  const ended = (async () => {
    for await (const frame of decodeFrames(options.output)) take(frame as WorkerMessage);
  })();

  return {
    ended,
    fail: (error) => {
      for (const call of pending.values()) call.settle.reject(error);
    },
    async call(operation, input, callOptions = {}) {
      const { signal, shouldYield: shouldPause } = callOptions;
      signal?.throwIfAborted();
      const id = nextId++;
      const call: PendingCall = { ...callOptions, settle: Promise.withResolvers(), questions: new Map() };
      pending.set(id, call);
      const abort = () => send({ type: "abort", id });
      signal?.addEventListener("abort", abort, { once: true });
      let isWanted = false;
      const look = () => {
        if (shouldPause === undefined || shouldPause() === isWanted) return;
        isWanted = !isWanted;
        send({ type: "pause", id, isWanted });
      };
      const polling = shouldPause === undefined ? undefined : setInterval(look, PAUSE_POLL_MS);
      send({ type: "call", id, operation, input });
      look();
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
        for (const question of call.questions.values()) question.abort(new Error("the call has ended"));
      }
    },
  };
}
