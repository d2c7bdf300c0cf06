/**
 * The executions that workers run: created here, started by the worker that gets the ticket, renewed by its heartbeats, and ended by a result, by
 * the caller, or because the worker is gone. Only this memory knows them, so that whatever arrives for another one is refused.
 */
import { AppError } from "../../domain/errors";
import { ExecutionLost, JobYielded } from "../../domain/jobs";
import type { ExecutionKind, ExecutionManifest, SentFile, Ticket, TicketQueues } from "../../domain/workers";
import { newId } from "../../lib/ids";
import type { Log } from "../../lib/log";
import { decodeExecutionError } from "./execution-errors";
import type {
  ExecutionEnd,
  ExecutionHistory,
  ExecutionReport,
  ExecutionRequest,
  ReadableFile,
  WorkerProcess,
} from "./execution-request";
import { createIncomingFiles, type IncomingFiles, type IncomingPart, WrongFilesError } from "./incoming-files";
import { LOST_AFTER_MS } from "./worker-list";
import { createWorkerTrouble, type WorkerTrouble } from "./worker-trouble";

/** A ticket that was not taken is added again: Redis may have been emptied. */
const TICKET_INTERVAL_MS = 5_000;
/** A worker without a heartbeat for this long gets no new execution. Those that it runs are lost after `LOST_AFTER_MS`. */
const MAX_SILENCE_MS = 4_000;
const MAX_WRONG_RESULTS = 2;
/** A worker that does not list an execution in so many heartbeats has dropped it. One may have been sent before the execution was started. */
const MAX_MISSING = 3;
/** So many ended executions are remembered, for results that are sent twice. */
const MAX_ENDED = 1_000;
const CHECK_INTERVAL_MS = 1_000;

export type Executions = {
  /** Runs it on a worker. Errors: those of the execution; `ExecutionLost`; `JobYielded`; the signal's reason at once. */
  run(workerId: string, request: ExecutionRequest): Promise<unknown>;
  /** Binds the execution to the process that has its ticket. Throws `AppError` `conflict` for another worker or process. */
  start(id: string, boot: WorkerProcess): ExecutionManifest;
  /** Returns the kind of an execution that has not ended, or null. */
  findKind(id: string): ExecutionKind | null;
  /** Returns a file of the execution. Throws `AppError` `not_found`. */
  getFile(id: string, name: string): ReadableFile;
  getOutputOffset(id: string, name: string): number;
  writeOutput(id: string, name: string, part: IncomingPart): Promise<number>;
  /** Throws `WrongFilesError`. */
  checkpoint(id: string, checkpoint: unknown, files: SentFile[]): Promise<void>;
  /** Ends the execution. The same result may be sent again. Throws `WrongFilesError`. */
  finish(id: string, result: ExecutionReport): Promise<void>;
  /** Renews what the worker runs. Returns what it must end at once, and what at the next safe point. */
  heartbeat(
    boot: WorkerProcess,
    running: { execution: string; progress: number | null }[],
  ): { abort: string[]; yield: string[] };
  /** Ends everything of a worker with `ExecutionLost`. */
  loseWorker(workerId: string, reason: string): void;
  countEnding(workerId: string): number;
  trouble: Pick<WorkerTrouble, "isAvoided" | "rank">;
  /** Ends what is lost, and repeats tickets. Called every second once started. */
  check(): void;
  startChecking(): void;
  stop(): void;
};

export type ExecutionsOptions = {
  tickets: Pick<TicketQueues, "add" | "remove" | "isReachable">;
  history: ExecutionHistory;
  /** Returns the process of the worker that is online; null when none is. */
  findBoot(workerId: string): string | null;
  /** Returns the signed link of an execution. */
  signExecution(id: string): string;
  /** Called when a worker may have room again. */
  onRoom(): void;
  log: Log;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
};

/** An execution that has not ended. `boot` is null until a process has started it. Times are those of the clock. */
type Execution = {
  id: string;
  workerId: string;
  boot: string | null;
  request: ExecutionRequest;
  incoming: IncomingFiles;
  createdAt: number;
  ticketAt: number;
  seenAt: number;
  wrongResults: number;
  /** In how many heartbeats of its worker it was missing. */
  missing: number;
  /** The check of its result. The execution no longer depends on heartbeats. */
  finishing: Promise<void> | null;
  end(outcome: ExecutionEnd, error: unknown): void;
  complete(output: unknown): void;
};

const gone = (): AppError => new AppError("not_found", "Execution link is invalid, or the execution has ended.");

export function createExecutions(options: ExecutionsOptions): Executions {
  const { tickets, history, log, clock } = options;
  const running = new Map<string, Execution>();
  /** Ended executions whose result was accepted. */
  const accepted = new Set<string>();
  /** What workers still run although it has ended here, by worker. */
  const ending = new Map<string, Set<string>>();
  const trouble = createWorkerTrouble(clock);
  const lastHeartbeat = new Map<string, number>();
  let lastCheck = clock();
  let checking: Timer | undefined;

  const require = (id: string): Execution => {
    const execution = running.get(id);
    if (!execution) throw gone();
    return execution;
  };
  const requireStarted = (id: string): Execution => {
    const execution = require(id);
    if (execution.boot === null) throw new AppError("conflict", "Execution has not been started.");
    return execution;
  };
  const isSilent = (workerId: string) => clock() - (lastHeartbeat.get(workerId) ?? clock()) >= MAX_SILENCE_MS;

  function addTicket(execution: Execution): void {
    const { id, workerId } = execution;
    execution.ticketAt = clock();
    const ticket: Ticket = { execution: id, url: options.signExecution(id) };
    tickets
      .add(workerId, ticket)
      .catch((error: Error) => log.warn("ticket.not_added", { execution: id, reason: error.message }));
  }

  /** Forgets the execution, so that nothing that arrives for it later has an effect. */
  function forget(execution: Execution, outcome: ExecutionEnd): void {
    const { id, workerId, boot, incoming, request } = execution;
    running.delete(id);
    history.endRun(id, outcome, outcome === "completed" ? request.mediaSeconds : null);
    if (boot === null) void tickets.remove(workerId, id);
    else if (outcome === "aborted" || outcome === "lost") {
      const left = ending.get(workerId) ?? new Set();
      ending.set(workerId, left.add(id));
    } else {
      accepted.add(id);
      if (accepted.size > MAX_ENDED) accepted.delete(accepted.values().next().value!);
    }
    void incoming.remove().catch((error) => log.warn("execution.files_not_removed", { execution: id, error }));
  }

  const lose = (execution: Execution, reason: string) =>
    execution.end("lost", new ExecutionLost(reason, execution.boot !== null));

  async function settle(execution: Execution, result: ExecutionReport): Promise<void> {
    switch (result.status) {
      case "completed": {
        const { output, files } = result;
        const paths = await execution.incoming.check(files);
        try {
          await execution.request.check(output, paths);
          await execution.incoming.commit(files, () => running.has(execution.id));
        } catch (error) {
          return execution.end("failed", error);
        }
        return execution.complete(output);
      }
      case "failed":
        return execution.end("failed", decodeExecutionError(result.error));
      case "yielded":
        return execution.end("yielded", new JobYielded());
      case "released":
        trouble.avoid(execution.workerId, "released");
        return execution.end("released", new ExecutionLost("the worker gave it back", false));
    }
  }

  function checkOne(execution: Execution, now: number): void {
    const { boot, workerId, createdAt, ticketAt, seenAt, finishing } = execution;
    if (finishing !== null) return;
    if (boot !== null) {
      if (now - seenAt >= LOST_AFTER_MS) lose(execution, "the worker sends no heartbeats");
      return;
    }
    const isCutOff = !tickets.isReachable() || isSilent(workerId);
    if (now - createdAt >= (isCutOff ? TICKET_INTERVAL_MS : LOST_AFTER_MS)) {
      trouble.avoid(workerId, "not_taken");
      lose(execution, "the worker has not taken the ticket");
    } else if (now - ticketAt >= TICKET_INTERVAL_MS) addTicket(execution);
  }

  function check(): void {
    const now = clock();
    // A process that was suspended has received no heartbeats meanwhile.
    const stalled = now - lastCheck - CHECK_INTERVAL_MS;
    lastCheck = now;
    if (stalled > CHECK_INTERVAL_MS) {
      for (const execution of running.values()) execution.seenAt += stalled;
      for (const [workerId, at] of lastHeartbeat) lastHeartbeat.set(workerId, at + stalled);
    }
    for (const execution of [...running.values()]) checkOne(execution, now);
    trouble.prune();
    options.onRoom();
  }

  return {
    run: (workerId, request) =>
      new Promise((resolve, reject) => {
        const { signal, kind, stepId, subjectId } = request;
        if (signal.aborted) return reject(signal.reason);
        const id = newId();
        const now = clock();
        const stop = () => execution.end("aborted", signal.reason);
        const close = (outcome: ExecutionEnd): boolean => {
          if (running.get(id) !== execution) return false;
          signal.removeEventListener("abort", stop);
          forget(execution, outcome);
          return true;
        };
        const execution: Execution = {
          id,
          workerId,
          boot: null,
          request,
          incoming: createIncomingFiles(`${request.incomingDir}-${id}`, request.outputs),
          createdAt: now,
          ticketAt: now,
          seenAt: now,
          wrongResults: 0,
          missing: 0,
          finishing: null,
          end: (outcome, error) => {
            if (!close(outcome)) return;
            trouble.record(workerId, stepId, outcome, error);
            reject(error);
          },
          complete: (output) => {
            if (!close("completed")) return;
            trouble.record(workerId, stepId, "completed", null);
            resolve(output);
          },
        };
        running.set(id, execution);
        signal.addEventListener("abort", stop, { once: true });
        history.startRun(workerId, { execution: id, kind, stepId, subjectId });
        addTicket(execution);
      }),
    start: (id, { workerId, bootId }) => {
      const execution = require(id);
      const isOwner = workerId === execution.workerId && bootId === options.findBoot(workerId);
      if (!isOwner || (execution.boot !== null && execution.boot !== bootId))
        throw new AppError("conflict", "Execution belongs to another worker.");
      execution.boot = bootId;
      execution.seenAt = clock();
      const { kind, assetId: asset, owner, input, files } = execution.request;
      return { execution: id, kind, asset, owner, input, files: files.map(({ path: _, ...file }) => file) };
    },
    findKind: (id) => running.get(id)?.request.kind ?? null,
    getFile: (id, name) => {
      const file = requireStarted(id).request.files.find((one) => one.name === name);
      if (!file) throw new AppError("not_found", "The execution has no such file.");
      return file;
    },
    getOutputOffset: (id, name) => requireStarted(id).incoming.getOffset(name),
    writeOutput: (id, name, part) => requireStarted(id).incoming.write(name, part),
    checkpoint: async (id, checkpoint, files) => {
      const execution = requireStarted(id);
      await execution.incoming.check(files);
      try {
        await execution.incoming.commit(files, () => running.has(id));
        if (!running.has(id)) throw gone();
        await execution.request.checkpoint(checkpoint);
      } catch (error) {
        execution.end("failed", error);
        throw gone();
      }
    },
    finish: async (id, result) => {
      if (accepted.has(id)) return;
      const execution = requireStarted(id);
      execution.finishing ??= settle(execution, result).finally(() => {
        execution.finishing = null;
        execution.seenAt = clock();
      });
      await execution.finishing.catch((error) => {
        execution.wrongResults++;
        if (!(error instanceof WrongFilesError)) execution.end("failed", error);
        else if (execution.wrongResults > MAX_WRONG_RESULTS) lose(execution, "the worker sends damaged files");
        throw error;
      });
    },
    heartbeat: ({ workerId, bootId }, reported) => {
      const now = clock();
      lastHeartbeat.set(workerId, now);
      const abort: string[] = [];
      const yielding: string[] = [];
      for (const { execution: id, progress } of reported) {
        const execution = running.get(id);
        if (execution?.workerId !== workerId || execution.boot !== bootId) {
          // A worker lists a ticket from the moment it takes it.
          if (execution?.boot !== null) abort.push(id);
          continue;
        }
        execution.seenAt = now;
        execution.missing = 0;
        if (progress !== null) execution.request.progress(progress);
        if (execution.request.shouldYield()) yielding.push(id);
      }
      const listed = new Set(reported.map(({ execution }) => execution));
      for (const execution of [...running.values()]) {
        const isMissing = execution.boot === bootId && execution.workerId === workerId && !listed.has(execution.id);
        if (isMissing && execution.finishing === null && ++execution.missing >= MAX_MISSING)
          lose(execution, "the worker has dropped it");
      }
      const before = ending.get(workerId)?.size ?? 0;
      const left = new Set(abort.filter((id) => !accepted.has(id)));
      if (left.size > 0) ending.set(workerId, left);
      else ending.delete(workerId);
      if (left.size < before) options.onRoom();
      return { abort, yield: yielding };
    },
    loseWorker: (workerId, reason) => {
      for (const execution of [...running.values()])
        if (execution.workerId === workerId && execution.finishing === null) lose(execution, reason);
      ending.delete(workerId);
      lastHeartbeat.delete(workerId);
      options.onRoom();
    },
    countEnding: (workerId) => ending.get(workerId)?.size ?? 0,
    trouble: {
      rank: trouble.rank,
      isAvoided: (workerId) => trouble.isAvoided(workerId) || isSilent(workerId),
    },
    check,
    startChecking: () => {
      lastCheck = clock();
      checking = setInterval(check, CHECK_INTERVAL_MS);
    },
    stop: () => clearInterval(checking),
  };
}
