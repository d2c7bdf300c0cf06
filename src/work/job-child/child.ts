/** Starts the child process of a job, enforces its limits, and reports why it ended. No other file starts one. */
import { AppError } from "../../domain/errors";
import { JobKilled } from "../../domain/jobs";
import { type CallOptions, createIpcCaller } from "../../lib/ipc-calls";
import { type ChildExit, PROGRAM_ENV, type SpawnOptions, spawnChild } from "../../lib/process";
import { findProcessRunning, readProcessUsage } from "../../lib/process-usage";
import type { Sandbox, SandboxView } from "../../lib/sandbox";
import { jobErrorCodec } from "./error-codec";
import { getTimeLimits, type TimeLimits } from "./limits";
import type { JobOperations } from "./operations";

export type JobChildOptions = {
  /** Program and arguments of the child, which must call `runJobWorker`. */
  command: string[];
  /** Runs the child, and the programs that it starts, with this view of the file system. */
  sandbox: Sandbox;
  view: SandboxView;
  /** The error code of a job whose child reaches a limit. */
  limitCode: LimitCode;
  /** Limit of the resident memory of the child's own process. */
  maxMemoryBytes: number;
  /** Maximum size of a file of the child and of the programs that it starts; null without a limit. */
  maxFileBytes: number | null;
  /** Default: after requests. */
  priority?: SpawnOptions["priority"];
};

export type RunOptions = CallOptions & {
  /** Duration of the recording. The time limits grow with it. */
  recordingSeconds?: number;
  /** Replaces the time limits of the operation. */
  limits?: TimeLimits;
};

export type JobChild = AsyncDisposable & {
  /**
   * Runs an operation. Errors: those of the operation; the signal's reason; a permanent `AppError` with `limitCode`
   * when the child reached a limit; `JobKilled` when the kernel killed it; an `Error` when it crashed.
   */
  run<Name extends keyof JobOperations>(
    operation: Name,
    input: JobOperations[Name]["input"],
    options?: RunOptions,
  ): Promise<JobOperations[Name]["result"]>;
  /** Ends the child. Resolves when it has exited. */
  end(): Promise<void>;
};

/** A child that several runs on the same recording share. */
export type SharedJobChild = JobChild & {
  /** Returns the child for one run, which cannot end it, and whose operations fail with `limitCode` at a limit. */
  lend(limitCode: LimitCode): JobChild;
  /** Returns the processor seconds of the child's own process up to the last sample. */
  readCpuSeconds(): number;
};

type LimitCode = "corrupt_media" | "unsupported_media" | "processing_failed";

/** Returns the shared child for one run. Starts a child if none is shared. */
export const openRunChild = (
  shared: Pick<SharedJobChild, "lend"> | null | undefined,
  options: JobChildOptions,
): JobChild => shared?.lend(options.limitCode) ?? openJobChild(options);

const SAMPLE_MS = 50;
/** A child that is still in an aborted operation after this time is killed. */
const ABORT_GRACE_MS = 2_500;

type RunningOperation = TimeLimits & { limitCode: LimitCode; startedMs: number; cpuAtStart: number };

export function openJobChild(options: JobChildOptions): SharedJobChild {
  const { command, sandbox, view } = options;
  const limits = { fileSizeBytes: options.maxFileBytes };
  const { priority } = options;
  const child = spawnChild({
    command,
    env: PROGRAM_ENV,
    sandbox: { sandbox, view },
    stdin: "pipe",
    stdout: "pipe",
    limits,
    priority,
  });
  const caller = createIpcCaller({
    output: child.stdout,
    send: (frame) => child.stdin.write(frame),
    errors: jobErrorCodec,
  });
  const running = new Set<RunningOperation>();
  const program = command[0]!;
  let watched: number | null = null;
  let cpuSeconds = 0;
  let limitReached: { what: string; code: LimitCode } | null = null;
  let isEnding = false;
  let exitError: unknown = null;

  const sample = () => {
    watched ??= findProcessRunning(child.pid, program);
    const usage = watched === null ? null : readProcessUsage(watched);
    cpuSeconds = usage?.cpuSeconds ?? cpuSeconds;
    const lastCode = [...running].at(-1)?.limitCode ?? options.limitCode;
    if (usage !== null && usage.memoryBytes > options.maxMemoryBytes) return stop("memory", lastCode);
    const now = performance.now();
    for (const { limitCode, startedMs, cpuAtStart, ...limits } of running) {
      if (cpuSeconds - cpuAtStart > limits.cpuSeconds) return stop("CPU time", limitCode);
      if (now - startedMs > limits.wallSeconds * 1000) return stop("time", limitCode);
    }
  };
  const stop = (what: string, code: LimitCode) => {
    limitReached ??= { what, code };
    child.killNow();
  };
  const sampling = setInterval(sample, SAMPLE_MS);

  const toExitError = (exit: ChildExit): unknown => {
    if (limitReached !== null) return limitError(limitReached.code, limitReached.what);
    if (exit.signal === "SIGKILL" && child.endedBy() === null && !isEnding) return new JobKilled();
    const tail = child.stderrTail().slice(-1_000);
    return new Error(`job child ended with code ${exit.code}, signal ${exit.signal}: ${tail}`);
  };
  // Output that violates the protocol also ends the child.
  const reading = caller.ended.catch(() => child.killNow());
  const ended = Promise.all([child.exited, reading]).then(([exit]) => {
    clearInterval(sampling);
    exitError = toExitError(exit);
    caller.fail(exitError);
  });

  const runAs = async (
    limitCode: LimitCode,
    operation: keyof JobOperations,
    input: unknown,
    runOptions: RunOptions = {},
  ): Promise<unknown> => {
    const { recordingSeconds = 0, signal } = runOptions;
    signal?.throwIfAborted();
    if (exitError !== null) throw exitError;
    const limits = runOptions.limits ?? getTimeLimits(operation, recordingSeconds);
    const entry = { ...limits, limitCode, startedMs: performance.now(), cpuAtStart: cpuSeconds };
    running.add(entry);
    let grace: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => {
      grace = setTimeout(() => child.killNow(), ABORT_GRACE_MS);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await caller.call(operation, input, runOptions);
    } finally {
      clearTimeout(grace);
      signal?.removeEventListener("abort", onAbort);
      running.delete(entry);
    }
  };
  const end = async () => {
    isEnding = true;
    child.killNow();
    await ended;
  };
  const toChild = (limitCode: LimitCode, endRun: () => Promise<void>): JobChild => ({
    run: ((...call: [keyof JobOperations, unknown, RunOptions?]) => runAs(limitCode, ...call)) as JobChild["run"],
    end: endRun,
    [Symbol.asyncDispose]: endRun,
  });
  return {
    ...toChild(options.limitCode, end),
    lend: (limitCode) => toChild(limitCode, async () => {}),
    readCpuSeconds: () => cpuSeconds,
  };
}

const LIMIT_MESSAGES = {
  unsupported_media: (what: string) =>
    `Cut file is not the plan of a cut: reading it takes more ${what} than any plan.`,
  corrupt_media: (what: string) => `File is damaged: reading it takes more ${what} than any valid recording.`,
  processing_failed: (what: string) => `Processing was stopped because it reached its limit of ${what}.`,
};

const limitError = (code: LimitCode, what: string): AppError =>
  new AppError(code, LIMIT_MESSAGES[code](what), { isPermanent: true });
