/** Both ends of the protocol, connected by pipes in this process. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createIpcCaller, type ErrorCodec, type Operations, serveCalls } from "../../../src/lib/ipc-calls";
import { decodeFrames, encodeFrame } from "../../../src/lib/ipc-framing";

const errors: ErrorCodec = {
  encode: (error) => ({ kind: "error", message: (error as Error).message }),
  decode: ({ message }) => new Error(message),
};

/** A stream and its writer. */
function pipe() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    {},
    { highWaterMark: 1e6 },
    { highWaterMark: 1e6 },
  );
  const writer = writable.getWriter();
  return { readable, write: (frame: Uint8Array) => writer.write(frame), end: () => writer.close() };
}

/** Returns a caller whose worker serves these operations. */
function connect(operations: Operations) {
  const down = pipe();
  const up = pipe();
  const served = serveCalls({ input: down.readable, send: (frame) => void up.write(frame), operations, errors });
  const caller = createIpcCaller({ output: up.readable, send: (frame) => down.write(frame), errors });
  return { ...caller, hangUp: () => down.end(), served };
}

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

describe("a call", () => {
  test("carries input, result, progress and log lines", async () => {
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

  test("passes on few and short log lines of a worker", async () => {
    const worker = connect({
      flood: async (_, { log }) => {
        log("x".repeat(1_000), {});
        log(["list"] as never, {});
        log("long", { text: "x".repeat(1_000_000) });
        log("odd", null as never);
        for (let n = 0; n < 1_000; n++) log("line.written", { n });
      },
    });
    const seen: [string, object][] = [];
    await worker.call("flood", null, { onLog: (...line) => seen.push(line) });
    expect(seen).toHaveLength(100);
    expect(seen.slice(0, 3)).toEqual([
      ["long", {}],
      ["odd", {}],
      ["line.written", { n: 0 }],
    ]);
  });

  test("rejects with the operation's error, and with one for an unknown operation", async () => {
    const worker = connect({ fail: () => Promise.reject(new Error("broken")) });
    await expect(worker.call("fail", null)).rejects.toThrow("broken");
    await expect(worker.call("other", null)).rejects.toThrow("unknown operation other");
  });

  test("runs concurrently with others", async () => {
    const gate = Promise.withResolvers<void>();
    const worker = connect({ wait: () => gate.promise, open: async () => gate.resolve() });
    await Promise.all([worker.call("wait", null), worker.call("open", null)]);
  });

  test("ends in the worker when aborted, and then rejects with the signal's reason", async () => {
    let hasEnded = false;
    const started = Promise.withResolvers<void>();
    const worker = connect({
      wait: (_, { signal }) => {
        started.resolve();
        return forever(signal).finally(() => {
          hasEnded = true;
        });
      },
    });
    const stop = new AbortController();
    const call = worker.call("wait", null, { signal: stop.signal });
    await started.promise;
    stop.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow("cancelled");
    await call.catch(() => {});
    expect(hasEnded).toBe(true);
    await expect(worker.call("wait", null, { signal: stop.signal })).rejects.toThrow("cancelled");
  });

  test("is notified when the caller wants it to yield, and when it no longer does", async () => {
    const worker = connect({
      watch: async (_, { shouldYield, progress }) => {
        while (!shouldYield()) await Bun.sleep(1);
        progress(1);
        while (shouldYield()) await Bun.sleep(1);
        return "continued";
      },
    });
    let isWanted = true;
    const onProgress = () => {
      isWanted = false;
    };
    expect(await worker.call("watch", null, { shouldYield: () => isWanted, onProgress })).toBe("continued");
  });

  test("rejects when the caller fails all calls", async () => {
    const worker = connect({ wait: (_, { signal }) => forever(signal) });
    const call = worker.call("wait", null);
    worker.fail(new Error("gone"));
    await expect(call).rejects.toThrow("gone");
    await worker.hangUp();
    await worker.served;
  });
});

describe("a callback", () => {
  test("returns the result or the error of the caller", async () => {
    const worker = connect({
      work: async (input: number, { callBack }) => [
        await callBack("square", input),
        await callBack("refuse", null).catch((error) => error.message),
        await callBack("other", null).catch((error) => error.message),
      ],
    });
    const callbacks = {
      square: async (value: number) => value * value,
      refuse: () => Promise.reject(new Error("no")),
    };
    expect(await worker.call("work", 3, { callbacks })).toEqual([9, "no", "unknown callback other"]);
  });

  test("can be cancelled", async () => {
    const stop = new AbortController();
    const worker = connect({
      work: (_, { callBack }) => callBack("wait", null, stop.signal).catch((error) => `ended: ${error.message}`),
    });
    const callbacks = {
      wait: (_: null, signal: AbortSignal) => {
        stop.abort();
        return forever(signal);
      },
    };
    expect(await worker.call("work", null, { callbacks })).toBe("ended: aborted");
  });

  test("is cancelled when the call ends", async () => {
    const received = Promise.withResolvers<AbortSignal>();
    const worker = connect({ work: (_, { callBack }) => Promise.race([callBack("wait", null), Bun.sleep(5)]) });
    const wait = (_: null, signal: AbortSignal) => {
      received.resolve(signal);
      return forever(signal);
    };
    await worker.call("work", null, { callbacks: { wait } });
    expect((await received.promise).aborted).toBe(true);
  });
});

describe("a hijacked worker", () => {
  const receive = (frames: unknown[]) => {
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

  test("ends its call when it opens too many callbacks", async () => {
    const frames = Array.from({ length: 1_001 }, (_, n) => ({ type: "callback", id: 1, callback: n, name: "wait" }));
    const { call } = receive(frames);
    await expect(call).rejects.toThrow("too many open callbacks");
  });

  test("cannot call the properties that every object has", async () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    const { replies } = receive(names.map((name, n) => ({ type: "callback", id: 1, callback: n, name, value: "x" })));
    await replies.next();
    for (const name of names) {
      expect((await replies.next()).value).toMatchObject({
        type: "callback_result",
        error: { message: `unknown callback ${name}` },
      });
    }
  });
});

describe("frames", () => {
  test("are decoded as they were encoded, however the stream is chunked", async () => {
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

  test("that are too long or malformed are an error", async () => {
    const read = (bytes: Uint8Array) => Array.fromAsync(decodeFrames(new Blob([Uint8Array.from(bytes)]).stream(), 100));
    await expect(read(encodeFrame("x".repeat(101)))).rejects.toThrow("exceeds");
    await expect(read(Uint8Array.of(3, 0, 0, 0, 1, 2, 3))).rejects.toThrow();
    expect(await read(encodeFrame(1).subarray(0, 4))).toEqual([]);
  });

  test("carry infinite numbers as the largest finite ones", async () => {
    const bytes = Uint8Array.from(encodeFrame([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]));
    expect(await Array.fromAsync(decodeFrames(new Blob([bytes]).stream()))).toEqual([
      [-Number.MAX_VALUE, Number.MAX_VALUE],
    ]);
  });
});
