/** A runner on a source in memory, with jobs that the test ends. */
import type { Job, JobAborted, JobContext, JobHandler, Runner } from "../../../src/domain/jobs";
import { type Log, silentLog } from "../../../src/lib/log";
import { createRunner, type OtherPlaces } from "../../../src/queue/runner";
import { type FakeSource, fakeSource } from "./fake-source";

export type Running = { job: Job; context: JobContext; finish(): void; break(error: Error): void };

/** A handler whose jobs run until the test ends them, or until they are aborted. */
function heldHandler() {
  const started: Running[] = [];
  const watchers: (() => void)[] = [];
  const handler: JobHandler = (job, context) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
    started.push({ job, context, finish: resolve, break: reject });
    for (const notify of watchers.splice(0)) notify();
    return promise;
  };
  const nth = async (n: number): Promise<Running> => {
    while (started.length < n) await new Promise<void>((resolve) => watchers.push(resolve));
    return started[n - 1]!;
  };
  return { handler, started, nth };
}

type RunnerBench = AsyncDisposable & {
  source: FakeSource;
  runner: Runner;
  work: ReturnType<typeof heldHandler>;
};

export type RunnerBenchOptions = {
  slots?: number;
  heartbeatMs?: number;
  timeSliceMs?: number;
  maxDrainMs?: number;
  cuts?: JobHandler;
  otherPlaces?: OtherPlaces;
  /** Returns a handler that makes another machine run the given one. */
  carry?: (handler: JobHandler) => JobHandler;
  log?: Log;
};

export type OpenRunner = (options?: RunnerBenchOptions) => Promise<RunnerBench>;

export function openRunner(options: RunnerBenchOptions = {}): RunnerBench {
  const { carry = (handler) => handler } = options;
  const source = fakeSource();
  const work = heldHandler();
  const runner = createRunner({
    source,
    handlers: {
      prepare: carry(work.handler),
      cut: carry(options.cuts ?? work.handler),
      render: carry(work.handler),
      preview: work.handler,
    },
    slots: { prepare: 1, cut: 1, render: options.slots ?? 1, preview: 1 },
    log: options.log ?? silentLog(),
    leaseMs: 1_000,
    heartbeatMs: options.heartbeatMs ?? 1,
    timeSliceMs: options.timeSliceMs ?? 1,
    maxDrainMs: options.maxDrainMs ?? 60_000,
    otherPlaces: options.otherPlaces,
  });
  return { source, runner, work, [Symbol.asyncDispose]: () => runner.stop() };
}

export const reasonOf = (running: Running) => (running.context.signal.reason as JobAborted | undefined)?.reason;
