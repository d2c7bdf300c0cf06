import { expect, test } from "bun:test";
import { runTogether } from "../../../src/lib/run-together";

const FIRST = new Error("first");
const REASON = new Error("stopped");
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("returns the results in the order of the tasks", async () => {
  const later = Promise.withResolvers<string>();
  const running = runTogether<string>(undefined, [() => later.promise, async () => "second"]);
  later.resolve("first");
  expect(await running).toEqual(["first", "second"]);
});

test("the first error aborts the others, and is thrown when none runs", async () => {
  const cleaned = Promise.withResolvers<void>();
  let hasEnded = false;
  const slow = async (signal: AbortSignal) => {
    try {
      await untilAborted(signal);
    } catch {
      await cleaned.promise;
      hasEnded = true;
      throw new Error("second");
    }
  };
  const running = runTogether(new AbortController().signal, [slow, () => Promise.reject(FIRST)]);
  cleaned.resolve();
  await expect(running).rejects.toBe(FIRST);
  expect(hasEnded).toBe(true);
});

test.each([
  ["before", (outer: AbortController) => outer.abort(REASON)],
  ["while they run", (outer: AbortController) => queueMicrotask(() => outer.abort(REASON))],
])("the reason of the signal is thrown if it is aborted %s", async (_, abort) => {
  const outer = new AbortController();
  abort(outer);
  await expect(runTogether(outer.signal, [untilAborted, async () => "done"])).rejects.toBe(REASON);
});

test("a task that throws at once counts, and later ones are not started", async () => {
  let isStarted = false;
  const tasks = [
    () => {
      throw FIRST;
    },
    async () => {
      isStarted = true;
    },
  ];
  await expect(runTogether(undefined, tasks)).rejects.toBe(FIRST);
  expect(isStarted).toBe(false);
});
