/** Both ends of the protocol, joined by pipes in this process. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createIpcCaller, type ErrorCodec, type Operations, serveCalls } from "../../../src/lib/ipc-calls";
import { decodeFrames, encodeFrame } from "../../../src/lib/ipc-framing";

const errors: ErrorCodec = {
  encode: (error) => ({ kind: "error", message: (error as Error).message }),
  decode: ({ message }) => new Error(message),
};

/** A stream that is written to from here. */
function pipe() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    {},
    { highWaterMark: 1e6 },
    { highWaterMark: 1e6 },
  );
  const writer = writable.getWriter();
  return { readable, write: (frame: Uint8Array) => writer.write(frame), end: () => writer.close() };
}

/** A caller whose worker serves these operations. */
function connect(operations: Operations) {
  const down = pipe();
  const up = pipe();
  const served = serveCalls({ input: down.readable, send: (frame) => void up.write(frame), operations, errors });
  const caller = createIpcCaller({ output: up.readable, send: (frame) => down.write(frame), errors });
  return { ...caller, hangUp: () => down.end(), served };
}

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("left"))));

describe("a call", () => {
  test("hands over input, result, progress and log lines", async () => {
    const worker = connect({
      double: async (input: { n: number }, { progress, log }) => {
        progress(0.5);
        log("half.done", { n: input.n });
        progress(1);
        return { n: input.n * 2 };
      },
    });
    const seen: unknown[] = [];
    const onProgress = (share: number) => seen.push(share);
    const onLog = (event: string, fields: object) => seen.push([event, fields]);
    expect(await worker.call("double", { n: 21 }, { onProgress, onLog })).toEqual({ n: 42 });
    expect(seen).toEqual([0.5, ["half.done", { n: 21 }], 1]);
  });

  test("rejects with the operation's error, and with one for an unknown operation", async () => {
    const worker = connect({ fail: () => Promise.reject(new Error("broken")) });
    expect(worker.call("fail", null)).rejects.toThrow("broken");
    expect(worker.call("other", null)).rejects.toThrow("unknown operation other");
  });

  test("runs beside others", async () => {
    const gate = Promise.withResolvers<void>();
    const worker = connect({ wait: () => gate.promise, open: async () => gate.resolve() });
    await Promise.all([worker.call("wait", null), worker.call("open", null)]);
  });

  test("is left when aborted, and then rejects with the signal's reason", async () => {
    let isLeft = false;
    const started = Promise.withResolvers<void>();
    const worker = connect({
      wait: (_, { signal }) => {
        started.resolve();
        return forever(signal).finally(() => {
          isLeft = true;
        });
      },
    });
    const stop = new AbortController();
    const call = worker.call("wait", null, { signal: stop.signal });
    await started.promise;
    stop.abort(new Error("cancelled"));
    expect(call).rejects.toThrow("cancelled");
    await call.catch(() => {});
    expect(isLeft).toBe(true);
    expect(worker.call("wait", null, { signal: stop.signal })).rejects.toThrow("cancelled");
  });

  test("learns that a pause is wanted, and that it no longer is", async () => {
    const worker = connect({
      watch: async (_, { shouldYield: shouldPause, progress }) => {
        while (!shouldPause()) await Bun.sleep(1);
        progress(1);
        while (shouldPause()) await Bun.sleep(1);
        return "resumed";
      },
    });
    let isWanted = true;
    const onProgress = () => {
      isWanted = false;
    };
    expect(await worker.call("watch", null, { shouldYield: () => isWanted, onProgress })).toBe("resumed");
  });

  test("rejects when the caller gives the worker up", async () => {
    const worker = connect({ wait: (_, { signal }) => forever(signal) });
    const call = worker.call("wait", null);
    worker.fail(new Error("gone"));
    expect(call).rejects.toThrow("gone");
    await worker.hangUp();
    await worker.served;
  });
});

describe("a question of the worker", () => {
  test("is answered by the caller, also with an error", async () => {
    const worker = connect({
      ask: async (input: number, { callBack: ask }) => [
        await ask("square", input),
        await ask("refuse", null).catch((error) => error.message),
        await ask("other", null).catch((error) => error.message),
      ],
    });
    const answers = {
      square: async (value: number) => value * value,
      refuse: () => Promise.reject(new Error("no")),
    };
    expect(await worker.call("ask", 3, { callbacks: answers })).toEqual([9, "no", "unknown question other"]);
  });

  test("can be withdrawn", async () => {
    const stop = new AbortController();
    const worker = connect({
      ask: (_, { callBack: ask }) => ask("wait", null, stop.signal).catch((error) => `ended: ${error.message}`),
    });
    const answers = {
      wait: (_: null, signal: AbortSignal) => {
        stop.abort();
        return forever(signal);
      },
    };
    expect(await worker.call("ask", null, { callbacks: answers })).toBe("ended: left");
  });

  test("is ended with the call", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const worker = connect({ ask: (_, { callBack: ask }) => Promise.race([ask("wait", null), Bun.sleep(5)]) });
    const wait = (_: null, signal: AbortSignal) => {
      asked.resolve(signal);
      return forever(signal);
    };
    await worker.call("ask", null, { callbacks: { wait } });
    expect((await asked.promise).aborted).toBe(true);
  });
});

describe("a worker that was taken over", () => {
  const asking = (frames: unknown[]) => {
    const down = pipe();
    const up = pipe();
    const caller = createIpcCaller({ output: up.readable, send: (frame) => down.write(frame), errors });
    const replies = decodeFrames(down.readable);
    const ended = caller.ended.catch((error) => caller.fail(error));
    const call = caller.call("work", null, { callbacks: { wait: () => new Promise(() => {}) } });
    call.catch(() => {});
    for (const frame of frames) void up.write(encodeFrame(frame));
    return { call, replies, ended };
  };

  test("ends its call when it asks without end", async () => {
    const questions = Array.from({ length: 1_001 }, (_, question) => ({ type: "ask", id: 1, question, name: "wait" }));
    const { call } = asking(questions);
    await expect(call).rejects.toThrow("asks too much");
  });

  test("cannot ask for what every object has", async () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    const { replies } = asking(names.map((name, question) => ({ type: "ask", id: 1, question, name, value: "x" })));
    await replies.next();
    for (const name of names) {
      expect((await replies.next()).value).toMatchObject({
        type: "answer",
        error: { message: `unknown question ${name}` },
      });
    }
  });
});

describe("frames", () => {
  test("arrive as they were sent, however the stream is chunked", async () => {
    const message = fc.record({ text: fc.string(), numbers: fc.array(fc.integer()), nothing: fc.constant(null) });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 5 }), fc.integer({ min: 1, max: 20 }), async (messages, size) => {
        const bytes = Buffer.concat(messages.map(encodeFrame));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          Uint8Array.from(bytes.subarray(n * size, (n + 1) * size)),
        );
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
          },
        });
        expect(await Array.fromAsync(decodeFrames(stream))).toEqual(messages);
      }),
      { numRuns: 100 },
    );
  });

  test("that are too long, or none, are an error", async () => {
    const read = (bytes: Uint8Array) => Array.fromAsync(decodeFrames(new Blob([Uint8Array.from(bytes)]).stream(), 100));
    expect(read(encodeFrame("x".repeat(101)))).rejects.toThrow("exceeds");
    expect(read(Uint8Array.of(3, 0, 0, 0, 1, 2, 3))).rejects.toThrow();
    expect(await read(encodeFrame(1).subarray(0, 4))).toEqual([]);
  });

  test("carry infinite numbers as the largest", async () => {
    const bytes = Uint8Array.from(encodeFrame([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]));
    expect(await Array.fromAsync(decodeFrames(new Blob([bytes]).stream()))).toEqual([
      [-Number.MAX_VALUE, Number.MAX_VALUE],
    ]);
  });
});
