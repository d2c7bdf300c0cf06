/** Selects an ffmpeg and runs it as a child process: with limits, without the environment, and in a process group. */
import { cpus } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { AppError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import { createStorageFullError } from "../domain/storage-full";
import type { ProgramOutput } from "../lib/find-sandbox";
import { type ChildLimits, type ChildProcess, type SpawnOptions, spawnChild } from "../lib/process";
import { findInstallCommand, isExecutableFile } from "../lib/programs";

/**
 * An ffmpeg that runs on this machine. `libavutil` is the library's major version: 56 is ffmpeg 4, 57 is 5, 58 is 6.
 * `hasZscale` is the result of another process's query; if it is missing, `hasZscaleFilter` queries ffmpeg.
 */
export type Ffmpeg = { path: string; version: string; bundled: boolean; libavutil: number; hasZscale?: boolean };

/** A probed recording, and the ffmpeg that reads it. */
export type RecordingFile = { ffmpeg: Ffmpeg; path: string; probed: ProbedMedia; signal?: AbortSignal | undefined };

const MAX_QUERY_SECONDS = 20;
const GIB = 1024 ** 3;

/**
 * Returns the forced ffmpeg, or the first one on the PATH that is newer than the bundled one and has libx264, or the
 * bundled one. `query` replaces running a program with `FFMPEG_QUERY`. Errors: a plain `Error` with one line if the
 * forced or the bundled one does not run.
 */
export async function selectFfmpeg(options: {
  forced: string | null;
  bundled: string;
  path: string | undefined;
  query?: (path: string) => Promise<ProgramOutput>;
}): Promise<Ffmpeg> {
  const { query = queryFfmpeg } = options;
  const inspectFfmpeg = async (path: string, bundled: boolean) => parseQuery(await query(path), path, bundled);
  if (options.forced !== null) {
    const forced = await inspectFfmpeg(options.forced, false);
    if (forced === null) throw new Error(`ffmpeg does not run: ${options.forced}`);
    return forced.ffmpeg;
  }
  const inspectBundled = inspectFfmpeg(options.bundled, true);
  for (const candidate of listCandidates(options.path)) {
    const [bundled, found] = await Promise.all([inspectBundled, inspectFfmpeg(candidate, false)]);
    // Some distributions build ffmpeg without x264.
    if (found?.hasX264 && found.ffmpeg.libavutil > (bundled?.ffmpeg.libavutil ?? 0)) return found.ffmpeg;
  }
  const bundled = await inspectBundled;
  if (bundled === null) throw new Error(`No working ffmpeg found, on the PATH or at ${options.bundled}`);
  return bundled.ffmpeg;
}

/** Returns the programs on the PATH that are called ffmpeg. */
export const listCandidates = (path = ""): string[] =>
  path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, "ffmpeg"))
    .filter(isExecutableFile);

/** Returns a warning with the command that installs a maintained ffmpeg if the bundled one (2018) is used, or null. */
export function findFfmpegWarning(ffmpeg: Ffmpeg, path: string | undefined): string | null {
  if (!ffmpeg.bundled) return null;
  const command = findInstallCommand("ffmpeg", path);
  const remedy = command === null ? "put a maintained one on the PATH" : `install a maintained one: ${command}`;
  return `The bundled ffmpeg is from 2018 and gets no security fixes: ${remedy}.`;
}

/**
 * One run prints the version, to standard error, and the encoders: starting an ffmpeg with many libraries takes a tenth
 * of a second.
 */
export const FFMPEG_QUERY = ["-encoders"] as const;

export async function queryFfmpeg(path: string): Promise<ProgramOutput> {
  const banner: string[] = [];
  const stdout = await readOutput([path, ...FFMPEG_QUERY], (line) => banner.push(line));
  return { stdout, stderr: banner.join("\n") };
}

function parseQuery(
  { stdout, stderr }: ProgramOutput,
  path: string,
  bundled: boolean,
): { ffmpeg: Ffmpeg; hasX264: boolean } | null {
  const version = /^ffmpeg version (\S+)/m.exec(stderr)?.[1];
  const libavutil = /libavutil\s+(\d+)\./.exec(stderr)?.[1];
  if (version === undefined || libavutil === undefined) return null;
  const ffmpeg = { path, version, bundled, libavutil: Number(libavutil) };
  return { ffmpeg, hasX264: /\slibx264\s/.test(stdout) };
}

/** Returns the names of the filters that this ffmpeg was built with; empty if the query fails. */
export async function listFilters(ffmpeg: Ffmpeg): Promise<Set<string>> {
  const text = await readOutput([ffmpeg.path, "-hide_banner", "-filters"]);
  const names = text.split("\n").map((line) => /^ *[TSC.|]{2,3} +(\S+) +\S+->\S+/.exec(line)?.[1]);
  return new Set(names.filter((name) => name !== undefined));
}

async function readOutput(command: string[], onStderrLine?: (line: string) => void): Promise<string> {
  const limits = { wallSeconds: MAX_QUERY_SECONDS };
  const child = spawnChild({ command, stdout: "pipe", limits, ...(onStderrLine && { onStderrLine }) });
  const [text] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return text;
}

/** Returns the limits for probing. Threads reserve address space, so the memory limit grows with the CPU cores. */
export const createProbeLimits = (wallSeconds: number): ChildLimits => ({
  memoryBytes: 3 * GIB + cpus().length * 0.15 * GIB,
  cpuSeconds: wallSeconds * 2,
  wallSeconds,
});

/** Returns the limits for decoding and encoding. */
export const createWorkLimits = (wallSeconds: number): ChildLimits => ({
  memoryBytes: 10 * GIB + cpus().length * 0.2 * GIB,
  wallSeconds,
});

export type FfmpegOptions = {
  ffmpeg: Ffmpeg;
  arguments: string[];
  limits: ChildLimits;
  cwd?: string | undefined;
  sandbox?: SpawnOptions["sandbox"] | undefined;
  priority?: SpawnOptions["priority"] | undefined;
  stdin?: "pipe" | undefined;
  stdout?: "pipe" | undefined;
  hasSecondOutput?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called for each line of standard error that is not progress. */
  onLine?: ((line: string) => void) | undefined;
  /** Called with the frames and the microseconds of output written so far. Requires `PROGRESS_ARGUMENTS`. */
  onProgress?: ((done: { frames: number; outTime: number }) => void) | undefined;
};

/** Makes ffmpeg report its progress on standard error, where `startFfmpeg` reads it. */
export const PROGRESS_ARGUMENTS = ["-nostats", "-progress", "pipe:2"] as const;

/** Outcome of an ffmpeg process. `message` contains the last lines of standard error, for the log. */
export type FfmpegOutcome = { ok: boolean; timedOut: boolean; noSpace: boolean; message: string };

export type FfmpegChild = ChildProcess & { outcome: Promise<FfmpegOutcome> };

let kernelKills = 0;

/** Returns how many ffmpeg processes ended by a SIGKILL from elsewhere: the kernel's, when memory runs out. */
export const countKernelKills = (): number => kernelKills;

/** Starts ffmpeg. The `outcome` promise never rejects. */
export function startFfmpeg(options: FfmpegOptions): FfmpegChild {
  const errors: string[] = [];
  let frames = 0;
  let noSpace = false;
  const onStderrLine = (line: string) => {
    const progress = /^(frame|out_time_ms|[a-z_0-9]+)=\s*(\S*)$/.exec(line);
    if (progress !== null) {
      if (progress[1] === "frame") frames = Number(progress[2]) || 0;
      if (progress[1] === "out_time_ms")
        options.onProgress?.({ frames, outTime: Math.max(0, Number(progress[2]) || 0) });
      return;
    }
    noSpace ||= line.includes("No space left on device");
    errors.push(line);
    if (errors.length > 20) errors.shift();
    options.onLine?.(line);
  };
  const command = [options.ffmpeg.path, ...options.arguments];
  const child = spawnChild({ ...options, command, onStderrLine });
  const outcome = child.exited.then(({ code, signal }) => {
    if (signal === "SIGKILL" && child.endedBy() === null) kernelKills++;
    return {
      ok: code === 0,
      timedOut: child.endedBy() === "wall",
      noSpace,
      message: errors.join(" | ").slice(-1_000) || `ffmpeg exited with ${signal ?? `code ${code}`}`,
    };
  });
  return Object.assign(child, { outcome });
}

/** Runs ffmpeg and waits for it to exit. Errors: the signal's reason if aborted. */
export async function tryFfmpeg(options: FfmpegOptions): Promise<FfmpegOutcome> {
  const outcome = await startFfmpeg(options).outcome;
  options.signal?.throwIfAborted();
  return outcome;
}

/** Runs ffmpeg. Errors: those of `tryFfmpeg`, and `AppError` `storage_full` or `processing_failed` if ffmpeg fails. */
export async function runFfmpeg(options: FfmpegOptions): Promise<void> {
  const outcome = await tryFfmpeg(options);
  // Old versions exit with 0 when the disk is full while they write the trailer.
  if (!outcome.ok || outcome.noSpace) throw toFfmpegError(outcome);
}

/** Returns the error of a failed run. The `cause` contains ffmpeg's own message, for the log. */
export function toFfmpegError(outcome: FfmpegOutcome): AppError<"storage_full" | "processing_failed"> {
  const cause = new Error(outcome.message);
  if (outcome.noSpace) return createStorageFullError(cause);
  if (outcome.timedOut) return new AppError("processing_failed", "Processing the media took too long.", { cause });
  return new AppError("processing_failed", "The media could not be processed.", { cause });
}
