/**
 * Runs executions on a worker: fetches the files, runs the same code as the head, and sends back the files and the
 * result.
 */
import { join } from "node:path";
import type { BlobCache } from "../../blobs/blob-cache";
import { AppError } from "../../domain/errors";
import { JobAborted, JobYielded } from "../../domain/jobs";
import { getChecker } from "../../domain/schema-parts";
import { isStorageFull } from "../../domain/storage-full";
import {
  type ExecutionFile,
  type ExecutionManifest,
  type ExecutionResult,
  FILE_NAME,
  manifestMessage,
  type SentFile,
  type Ticket,
  type WorkerBoot,
} from "../../domain/worker-messages";
import { EXECUTIONS } from "../../domain/workers";
import { createFileKey } from "../../lib/hash";
import type { Log } from "../../lib/log";
import { createSemaphore } from "../../lib/semaphore";
import type { Head, RemoteExecution } from "../../outbound/head";
import { HeadError } from "../../outbound/head-requests";
import { jobErrorCodec } from "../job-child/error-codec";
import type { BlobRef, JobOutput, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { type ExecutionFiles, fetchFiles, findPartialInput, sendFile } from "./execution-files";
import { EXECUTION_RUNS } from "./runs";
import type { WorkFolder, WorkFolders } from "./work-folders";

/** The agent's decisions about a running execution. The signal's reason is a `JobAborted`. */
export type ExecutionControl = Pick<RunContext, "signal" | "shouldYield"> & {
  boot: WorkerBoot;
  /** Returns whether new executions are returned to the head. */
  isDraining(): boolean;
  /** 0 to 1. */
  progress(share: number): void;
};

type ExecutorParts = {
  tools: MediaTools;
  head: Pick<Head, "openExecution">;
  cache: BlobCache;
  workFolders: WorkFolders;
  /** Smaller sources are fetched completely. Default: `MIN_PARTIAL_BYTES`. */
  minPartialBytes?: number;
  log: Log;
};

/** Maximum time to report returned executions to the head while the worker stops. */
const RELEASE_TIMEOUT_MS = 3_000;
const UNPROCESSABLE = 422;
/** The execution is not current, or is that of another start of this worker. */
const GONE_STATUSES = [401, 404, 409, 410];

/**
 * Returns the function that runs the execution of a ticket and reports its result. Its errors: `HeadError` and the
 * signal's reason, after which no result is expected.
 */
export function createExecutor(parts: ExecutorParts) {
  return async (ticket: Ticket, control: ExecutionControl): Promise<void> => {
    const remote = parts.head.openExecution(ticket.url);
    const manifest = await start(remote, ticket, control);
    const log = parts.log.with({ execution: manifest.execution, kind: manifest.kind });
    if (control.isDraining()) return remote.sendResult({ status: "released" }, control.signal);
    log.info("execution.started", { files: manifest.files.length, bytes: countBytes(manifest.files) });
    const started = performance.now();
    const status = await runManifest({ ...parts, log }, { manifest, remote, control });
    log.info("execution.ended", { status, duration_ms: Math.round(performance.now() - started) });
  };
}

export type Execute = ReturnType<typeof createExecutor>;

/**
 * Returns the manifest. Reports an invalid one to the head as a failure, because the head waits for a result. Throws an
 * `Error`.
 */
async function start(remote: RemoteExecution, { execution }: Ticket, control: ExecutionControl) {
  const sent = await remote.start(control.boot, control.signal);
  try {
    return parseManifest(sent, execution);
  } catch (error) {
    await remote.sendResult({ status: "failed", error: jobErrorCodec.encode(error) }, control.signal);
    throw error;
  }
}

type Running = { manifest: ExecutionManifest; remote: RemoteExecution; control: ExecutionControl };

async function runManifest(parts: ExecutorParts, running: Running): Promise<ExecutionResult["status"]> {
  const { manifest, remote, control } = running;
  const { cache, workFolders } = parts;
  const { signal } = control;
  let folder: WorkFolder | null = null;
  let result: ExecutionResult = { status: "released" };
  let keep = true;
  try {
    folder = await workFolders.acquire({ ...manifest, key: toWorkKey(manifest) });
    // Both are kept for a later attempt: complete files in the output folder are not created again.
    const places = { outputDir: join(folder.path, "output"), workDir: join(folder.path, "work") };
    const partialInput = findPartialInput(manifest, parts.minPartialBytes);
    const needed = countBytes(manifest.files.filter(({ name }) => name !== partialInput));
    if (!cache.makeRoom(needed)) await workFolders.removeUnused();
    const files = await fetchFiles(manifest, { cache, remote, partialInput, ...places }, signal);
    try {
      result = await runKind(parts, running, { ...places, files });
    } finally {
      files.release();
    }
  } catch (error) {
    // A long execution may be aborted because it runs again: the head is asked whether its step has ended.
    if (isStorageFull(error) || (isCancelled(signal) && !EXECUTIONS[manifest.kind].isLong)) keep = false;
    result = toResult(error, parts.log, signal);
    const closing = signal.aborted ? AbortSignal.timeout(RELEASE_TIMEOUT_MS) : signal;
    await remote.sendResult(result, closing);
  } finally {
    await folder?.release(keep && result.status !== "completed");
    if (!keep && !isCancelled(signal)) await workFolders.removeUnused();
  }
  return result.status;
}

const countBytes = (files: ExecutionFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

const isCancelled = ({ reason }: AbortSignal): boolean => reason instanceof JobAborted && reason.reason === "cancelled";

/** Returns the key of the work folder, which is the same for the next attempt on the same input. */
const toWorkKey = ({ kind, owner, input, files }: ExecutionManifest): string =>
  createFileKey([kind, owner, input, files.filter(({ role }) => role === "input").map(({ key }) => key)]);

type OpenFiles = { files: ExecutionFiles; outputDir: string; workDir: string };

/**
 * Runs the kind, sends its files and its output. Errors: those of the run; `HeadError`; the signal's reason when
 * aborted.
 */
async function runKind(
  { tools, log }: ExecutorParts,
  { manifest, remote, control }: Running,
  { files, outputDir, workDir }: OpenFiles,
): Promise<ExecutionResult> {
  const { signal, shouldYield, progress } = control;
  const sent = new Map<string, SentFile>();
  const turns = createSemaphore(1);

  async function send(blobs: BlobRef[]): Promise<SentFile[]> {
    for (const { name, bytes } of blobs) {
      if (!FILE_NAME.test(name)) throw new Error("An output has a name that is not allowed.");
      const path = join(outputDir, name);
      if (sent.get(name)?.bytes !== bytes && !(await files.isUnchanged(path)))
        sent.set(name, await sendFile(remote, { name, path }, signal));
    }
    // A file that was replaced since is named by a later call, together with the files that its new content names.
    return blobs.flatMap(({ name, bytes }) => (sent.get(name)?.bytes === bytes ? [sent.get(name)!] : []));
  }

  /**
   * Repeats a call once that was refused because files had changed on the way. One at a time: branches of a run name
   * the same files.
   */
  const withResend = (blobs: BlobRef[], call: (files: SentFile[]) => Promise<void>): Promise<void> =>
    turns.run(signal, async () => {
      const refused = await call(await send(blobs)).catch((error) => {
        if (error instanceof HeadError && error.status === UNPROCESSABLE) return error.names;
        throw error;
      });
      if (!refused) return;
      log.warn("execution.files_refused", { files: refused });
      for (const name of refused.length > 0 ? refused : [...sent.keys()]) sent.delete(name);
      await call(await send(blobs));
    });

  const context: RunContext<JobOutput> = {
    signal,
    shouldYield,
    progress: ({ share }) => progress(share),
    log: (event, fields) => log.info(event, { ...fields }),
    owner: manifest.owner,
    getInputPath: files.getInputPath,
    findInputParts: files.findInputParts,
    outputDir,
    workDir,
    checkpoint: (checkpoint) =>
      withResend(checkpoint.blobs, (named) => remote.sendCheckpoint(checkpoint, named, signal)),
  };
  const output = await EXECUTION_RUNS[manifest.kind].run(tools, manifest.input as never, context);
  await withResend(output.blobs, (named) => remote.sendResult({ status: "completed", output, files: named }, signal));
  return { status: "completed", output: null, files: [] };
}

/** Returns the result to report for an execution that threw `error`. Throws if the head no longer expects one. */
function toResult(error: unknown, log: Log, signal: AbortSignal): ExecutionResult {
  if (signal.aborted) {
    const { reason } = signal;
    if (reason instanceof JobAborted && reason.reason === "shutdown") return { status: "released" };
    throw reason;
  }
  if (error instanceof JobYielded) return { status: "yielded" };
  if (error instanceof HeadError && GONE_STATUSES.includes(error.status)) throw error;
  log.warn("execution.failed", { error });
  // The head knows that it is not its own disk, and has another place run the job.
  const reported = isStorageFull(error) ? new AppError("storage_full", "The worker's disk is full.") : error;
  return { status: "failed", error: jobErrorCodec.encode(reported) };
}

/**
 * Checks a manifest. Names become paths here, so they are checked, although the head is trusted. Throws `HeadError`.
 */
function parseManifest(body: unknown, execution: string): ExecutionManifest {
  const check = getChecker(manifestMessage);
  if (!check.Check(body)) throw invalid(`its ${check.Errors(body).First()?.path.slice(1) || "form"} is wrong`);
  if (body.execution !== execution) throw invalid("it belongs to another execution");
  const names = new Set(body.files.map(({ role, name }) => `${role}/${name}`));
  if (names.size !== body.files.length) throw invalid("two files have the same name");
  return body;
}

const invalid = (why: string): HeadError =>
  new HeadError(200, "", `The manifest of an execution is not valid: ${why}.`);
