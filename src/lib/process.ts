/** Child processes. This is the only file that spawns them. Each leads a process group, which is killed as a whole. */
import { closeSync, writeFileSync, writeSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import type { Sandbox, SandboxView } from "./sandbox";

/** Limits of a child, set before its program starts. The kernel enforces them, except for `wallSeconds`. */
export type ChildLimits = {
  memoryBytes?: number;
  cpuSeconds?: number;
  fileSizeBytes?: number | null;
  wallSeconds?: number;
};

export type SpawnOptions = {
  /** The program (an absolute path) and its arguments. No shell parses them. */
  command: string[];
  /** The complete environment of the child. Default: empty. */
  env?: Record<string, string>;
  cwd?: string | undefined;
  stdin?: "pipe" | "ignore" | undefined;
  stdout?: "pipe" | "ignore" | undefined;
  /** Gives the child a second output, on descriptor `SECOND_OUTPUT`. */
  hasSecondOutput?: boolean | undefined;
  limits?: ChildLimits;
  /** `lowest` runs after everything else. `interactive` is for children that a request waits for. */
  priority?: "lowest" | "interactive" | undefined;
  /** Runs the program and its descendants in the sandbox, with this view of the file system. */
  sandbox?: { sandbox: Sandbox; view: SandboxView } | undefined;
  /** Kills the child when aborted. */
  signal?: AbortSignal | undefined;
  /** Receives each line of standard error, including lines that end with only a carriage return. */
  onStderrLine?: (line: string) => void;
};

/** `write` resolves when the child accepts more data, and rejects with `EPIPE` if it no longer reads. */
export type ChildStdin = { write(chunk: Uint8Array | string): Promise<void>; end(): Promise<void> };

export type ChildExit = { code: number | null; signal: string | null };

export type ChildProcess = {
  /** The first process of the group; in a `bwrap` sandbox that is `bwrap`, and the program is among its descendants. */
  pid: number;
  /** Throws on use unless spawned with `stdin: "pipe"`. */
  stdin: ChildStdin;
  /** Applies backpressure. Empty unless spawned with `stdout: "pipe"`. */
  stdout: ReadableStream<Uint8Array>;
  /** Applies backpressure. Read once. Empty unless spawned with `hasSecondOutput`. */
  secondOutput: AsyncIterable<Uint8Array>;
  /** Resolves when the child has ended and its standard error has been read. Never rejects. */
  exited: Promise<ChildExit>;
  /** The last lines of standard error, at most 8 KiB. */
  stderrTail(): string;
  /** Why this process ended the child: the wall time limit, or `kill` or the signal. Null if it ended by itself. */
  endedBy(): "wall" | "kill" | null;
  /** Ends the group: SIGTERM, then SIGKILL after two seconds. Resolves when the child has ended. */
  kill(): Promise<void>;
  /** Sends SIGKILL to the whole group. */
  killNow(): void;
};

export const SECOND_OUTPUT = 4;

const TERM_GRACE_MS = 2_000;
const MAX_TAIL_CHARACTERS = 8_192;
const MAX_LINE_CHARACTERS = 4_096;

const children = new Set<ChildProcess>();

/** The argument with which a child of this program keeps the priority for its own children. */
export const KEEP_PRIORITY = "keep-priority";

/**
 * The environment of job processes and of the speech process. Most of them live for seconds, in which code that runs a
 * thousand times is not worth compiling again. Hot loops of long jobs are still optimized, a little later. One thread
 * collects garbage, in turn with the program. Servers, also that of a drill, run without it.
 */
export const PROGRAM_ENV: Record<string, string> = {
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "20000",
  BUN_JSC_thresholdForOptimizeSoon: "4000",
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1000000",
  BUN_JSC_thresholdForFTLOptimizeSoon: "100000",
  BUN_JSC_numberOfGCMarkers: "1",
  BUN_JSC_useConcurrentGC: "0",
};

let keepsPriority = false;

/** Starts children at the priority of this process from now on, for a command that somebody waits for. */
export function keepChildPriority(): void {
  keepsPriority = true;
}

/**
 * Starts a program. If the program cannot be started, it exits with code 126 or 127. Throws only if the shell itself
 * cannot be started, or the signal's reason if it is already aborted.
 */
export function spawnChild(options: SpawnOptions): ChildProcess {
  options.signal?.throwIfAborted();
  const command = options.sandbox?.sandbox.wrap(options.command, options.sandbox.view) ?? options.command;
  const isLowered = options.priority !== "interactive" && !keepsPriority;
  const launcher = buildLauncher(options.limits ?? {}, isLowered);
  const process_ = Bun.spawn(["/bin/sh", "-c", launcher, "sh", ...command], {
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    stdio: [
      ...([options.stdin ?? "ignore", options.stdout ?? "ignore", "pipe", "pipe"] as const),
      options.hasSecondOutput === true ? "pipe" : "ignore",
    ],
    detached: true,
  });
  const lifeline = process_.stdio[3] as number;
  const second = openSecondOutput(options.hasSecondOutput === true ? (process_.stdio[SECOND_OUTPUT] as number) : null);
  if (isLowered) {
    lowerPriority(process_.pid, options.priority === "lowest" ? LOWEST_NICENESS : NICENESS);
    releaseLauncher(lifeline);
  }
  const stderr = followStderr(process_.stderr as ReadableStream<Uint8Array>, options.onStderrLine);
  let endedBy: "wall" | "kill" | null = null;
  let ended = false;
  const left = process_.exited.then(() => {
    ended = true;
    closeSync(lifeline);
    second.keepUnread();
    // A SIGTERM ends the launcher's second shell when it comes before that shell ignores it.
    signalGroup(process_.pid, "SIGKILL");
  });

  const end = async (reason: "wall" | "kill"): Promise<void> => {
    if (ended) return;
    endedBy ??= reason;
    signalGroup(process_.pid, "SIGTERM");
    const timer = setTimeout(() => signalGroup(process_.pid, "SIGKILL"), TERM_GRACE_MS);
    await left;
    clearTimeout(timer);
  };
  const wallSeconds = options.limits?.wallSeconds;
  const wallMs = wallSeconds === undefined ? undefined : stretchLimit(wallSeconds * 1000);
  const wall = wallMs === undefined ? undefined : setTimeout(() => void end("wall"), wallMs);
  const onAbort = () => void end("kill");
  options.signal?.addEventListener("abort", onAbort, { once: true });

  const child: ChildProcess = {
    pid: process_.pid,
    stdin: createChildStdin(process_.stdin, () => ended),
    stdout: (process_.stdout as ReadableStream<Uint8Array> | undefined) ?? new Blob([]).stream(),
    secondOutput: second.read(),
    exited: left.then(async (): Promise<ChildExit> => {
      clearTimeout(wall);
      options.signal?.removeEventListener("abort", onAbort);
      await stderr.ended;
      children.delete(child);
      const signal = process_.signalCode === null ? null : String(process_.signalCode);
      const isReported = options.sandbox?.sandbox.mode === "bwrap" && signal === null;
      return isReported ? parseBwrapExit(process_.exitCode) : { code: process_.exitCode, signal };
    }),
    stderrTail: stderr.tail,
    endedBy: () => endedBy,
    kill: () => end("kill"),
    killNow: () => {
      if (ended) return;
      endedBy ??= "kill";
      signalGroup(process_.pid, "SIGKILL");
    },
  };
  children.add(child);
  return child;
}

/** Parses the exit code of `bwrap`, which is 128 plus the signal's number when a signal ended the program. */
function parseBwrapExit(code: number | null): ChildExit {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}

/** Added to a child's OOM score (0 to 1000), so that the kernel kills children before the server. */
const OOM_SCORE_ADJUSTMENT = 500;

/** The time between SIGXCPU and SIGKILL. */
const CPU_GRACE_SECONDS = 3;

/** Added to this process's niceness, so that children have a lower priority than requests. */
const NICENESS = 5;

const LOWEST_NICENESS = 19;
/** Guarantees a thirtieth of a core when others need all of it, so that a busy machine does not stop the child. */
const SESSION_NICENESS = 15;
const SLOWDOWN = 30;
/** A hung command still ends within minutes. */
const MAX_ADDED_MS = 5 * 60_000;

let stretchesLimits = false;

/**
 * Lengthens the time limits of this process from now on, for a command of the lowest priority: on a busy machine all
 * that it does takes longer.
 */
export function stretchLimits(): void {
  stretchesLimits = true;
}

/** Returns a time limit for this process. */
export const stretchLimit = (ms: number): number => (stretchesLimits ? Math.min(ms * SLOWDOWN, ms + MAX_ADDED_MS) : ms);

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, Math.min(LOWEST_NICENESS, getPriority() + niceness));
    // On a desktop, Linux first shares the processor between sessions, and each child leads its own.
    if (niceness === LOWEST_NICENESS) writeFileSync(`/proc/${pid}/autogroup`, String(SESSION_NICENESS));
  } catch {
    // The child has already ended, or the system does not allow it.
  }
}

/**
 * Makes the launcher start its program: processes that it started before would have kept the priority of this process.
 */
function releaseLauncher(lifeline: number): void {
  try {
    writeSync(lifeline, "\n");
  } catch {
    // The child has already ended.
  }
}

/** Ends all running children. Resolves when they have ended. */
export async function killAllChildren(): Promise<void> {
  await Promise.all([...children].map((child) => child.kill()));
}

/**
 * Builds the script that sets the limits and then becomes the program. User text appears only in its arguments. A
 * second shell waits on descriptor 3, whose other end this process holds: when this process ends, even by SIGKILL, or
 * closes it, that shell kills the whole group, so that no orphan continues to write. The shell ignores the group's
 * SIGTERM, as does the inner process of a `bwrap` that is still starting. If a limit cannot be set, it was already
 * tighter. With `waits`, the program starts after a line on descriptor 3.
 */
function buildLauncher(limits: ChildLimits, waits: boolean): string {
  const set = (flag: string, value: number | null | undefined, unit: number) =>
    value == null ? "" : `ulimit -${flag} ${Math.max(1, Math.ceil(value / unit))} 2>/dev/null; `;
  return (
    set("v", limits.memoryBytes, 1024) +
    // The soft limit sends its own signal, which distinguishes it from an out-of-memory kill.
    set("St", limits.cpuSeconds, 1) +
    set("Ht", limits.cpuSeconds === undefined ? undefined : limits.cpuSeconds + CPU_GRACE_SECONDS, 1) +
    set("f", limits.fileSizeBytes, 512) +
    `{ echo ${OOM_SCORE_ADJUSTMENT} >/proc/self/oom_score_adj; } 2>/dev/null; ` +
    (waits ? "read -r start <&3 || exit 126; " : "") +
    "(trap '' TERM; read -r closed <&3; kill -9 0) </dev/null >/dev/null 2>&1 4>&- & " +
    'exec "$@" 3<&-'
  );
}

function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

function createChildStdin(sink: unknown, hasEnded: () => boolean): ChildStdin {
  if (sink === null || typeof sink !== "object") {
    const closed = () => Promise.reject(new Error("the child has no standard input"));
    return { write: closed, end: closed };
  }
  const pipe = sink as import("bun").FileSink;
  return {
    async write(chunk) {
      // The sink silently discards data for a child that has ended.
      if (hasEnded()) throw new Error("EPIPE: the child has ended");
      await pipe.write(chunk);
      await pipe.flush();
    },
    async end() {
      await pipe.end();
    },
  };
}

/**
 * Bun leaves the descriptor open. It is closed when it has been read. When the child ends before anybody reads, the
 * rest is read at once and kept: that is at most what the pipe holds.
 */
function openSecondOutput(descriptor: number | null) {
  let isRead = descriptor === null;
  let kept: Promise<Uint8Array[]> | null = null;
  const readPipe = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* Bun.file(descriptor!).stream();
    } finally {
      closeSync(descriptor!);
    }
  };
  return {
    read: async function* (): AsyncGenerator<Uint8Array> {
      if (isRead) return;
      isRead = true;
      yield* kept === null ? readPipe() : await kept;
    },
    keepUnread: () => {
      if (isRead) return;
      kept = Array.fromAsync(readPipe());
      // Only a reader receives the error.
      kept.catch(() => {});
    },
  };
}

/** Reads standard error to its end, forwards each line and keeps the tail. */
function followStderr(stream: ReadableStream<Uint8Array>, onLine: ((line: string) => void) | undefined) {
  let tail = "";
  let line = "";
  const emit = (text: string) => {
    if (text !== "") onLine?.(text);
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true });
      tail = (tail + text).slice(-MAX_TAIL_CHARACTERS);
      const parts = (line + text).split(/[\r\n]+/);
      line = (parts.pop() ?? "").slice(0, MAX_LINE_CHARACTERS);
      for (const part of parts) emit(part);
    }
    emit(line);
  };
  return { ended: read().catch(() => {}), tail: () => tail.trim() };
}
