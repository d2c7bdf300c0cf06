/**
 * The executions that workers run: created here, started by the worker that gets the ticket, and ended by a result, by
 * the caller, or because they are lost. Heartbeats renew them, and a check every second finds lost ones and repeats
 * tickets. They exist only in this process's memory, so anything that arrives for another one is refused.
 */
import { AppError, conflict } from "../../domain/errors";
import { ExecutionLost, JobYielded } from "../../domain/jobs";
import type { ExecutionResult, SentFile, Ticket, WorkerBoot, WorkerHeartbeat } from "../../domain/worker-messages";
import { newId } from "../../lib/ids";
import { createSemaphore } from "../../lib/semaphore";
import type { TicketQueues } from "../../queue/bullmq";
import type { CoreNeeds } from "../needs";
import type { UploadPart } from "../uploads/session";
import {
  type Execution,
  type ExecutionRequest,
  findLoss,
  isTicketDue,
  recordMissing,
  recordProgress,
} from "./execution";
import { createIncomingFiles, WrongFilesError } from "./incoming-files";
import { decodeExecutionError, InvalidResultError, isFullWorkerDisk } from "./result-shapes";
import type { WorkerList } from "./worker-list";
import { createWorkerTrouble } from "./worker-trouble";

const MAX_WRONG_RESULTS = 2;
/** Number of ended executions to remember, for results that are sent twice. */
const MAX_ENDED = 1_000;
const CHECK_INTERVAL_MS = 1_000;

type ExecutionsOptions = {
  services: CoreNeeds & { workerList: Pick<WorkerList, "contact" | "endRun" | "findBoot" | "startRun"> };
  tickets: Pick<TicketQueues, "add" | "remove" | "isReachable">;
  signExecution(id: string): string;
  /** Called when a worker may have room again. */
  onRoom(): void;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
};

const createEndedError = (): AppError =>
  new AppError("not_found", "Execution link is invalid, or the execution has ended.");

export function createExecutions({ services, tickets, signExecution, onRoom, clock }: ExecutionsOptions) {
  const { log, workerList } = services;
  const { contact } = workerList;
  const running = new Map<string, Execution>();
  /** Ended executions whose result was accepted. */
  const accepted = new Set<string>();
  /** Executions that workers still run although they have ended here, by worker. */
  const ending = new Map<string, Set<string>>();
  const trouble = createWorkerTrouble(clock);
  let lastCheck = clock();
  let checking: Timer | undefined;

  const require = (id: string): Execution => {
    const execution = running.get(id);
    if (!execution) throw createEndedError();
    return execution;
  };
  /** Returns a started execution for a transfer, which counts as progress. */
  const requireStarted = (id: string): Execution => {
    const execution = require(id);
    if (execution.boot === null) throw conflict("Execution has not been started.");
    execution.progressedAt = clock();
    return execution;
  };

  function addTicket(execution: Execution): void {
    const { id, workerId } = execution;
    execution.ticketAt = clock();
    const ticket: Ticket = { execution: id, url: signExecution(id) };
    tickets
      .add(workerId, ticket)
      .catch((error: Error) => log.warn("ticket.not_added", { execution: id, reason: error.message }));
  }

  const lose = (execution: Execution, reason: string) =>
    execution.end("lost", new ExecutionLost(reason, execution.boot !== null));

  /**
   * A worker that stops yields unasked. A worker that does so each time would get the job back immediately, because the
   * attempt does not count. It gets no new work for a while, so that another place runs the job.
   */
  function endYielded(execution: Execution): void {
    const isAsked = execution.isYielding || execution.request.shouldYield();
    if (!isAsked) trouble.avoid(execution.workerId, "released");
    execution.end(isAsked ? "yielded" : "released", new JobYielded());
  }

  /** Checks files and moves them to where they belong. Throws `WrongFilesError`; other errors end the execution. */
  async function receive(execution: Execution, files: SentFile[], then: () => Promise<void> | void): Promise<void> {
    const arrived = await execution.incoming.check(files);
    try {
      await execution.request.check?.(arrived);
      await execution.incoming.commit(files, () => running.has(execution.id));
      await then();
    } catch (error) {
      execution.end("failed", error);
    }
  }

  async function settle(execution: Execution, { status, output, files = [], error = {} }: ExecutionResult) {
    const { id, workerId, request } = execution;
    if (status === "completed") return receive(execution, files, () => execution.end("completed", output));
    if (status === "yielded") return endYielded(execution);
    if (status === "released") {
      trouble.avoid(workerId, "released");
      return execution.end("released", new ExecutionLost("the worker gave it back", false));
    }
    if (isFullWorkerDisk(error)) {
      const { kind, stepId: job, subjectId: subject } = request;
      log.warn("worker.disk_full", { worker: workerId, execution: id, kind, job, subject });
      return execution.end("disk_full", new ExecutionLost("the worker's disk is full", false));
    }
    const failure = decodeExecutionError(error);
    return failure instanceof JobYielded ? endYielded(execution) : execution.end("failed", failure);
  }

  /** Resolves with the output of the worker. */
  const execute = (workerId: string, request: ExecutionRequest): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { signal, kind, stepId, subjectId } = request;
      if (signal.aborted) return reject(signal.reason);
      // The worker was online when the slot was granted. A ticket would create the queue of a revoked worker again.
      if (workerList.findBoot(workerId) === null)
        return reject(new ExecutionLost("the worker is no longer online", false));
      const id = newId();
      const now = clock();
      const incoming = createIncomingFiles(services, `${request.incomingDir}-${id}`, request.outputs);
      const stop = () => execution.end("aborted", signal.reason);
      const execution: Execution = {
        id,
        workerId,
        boot: null,
        request,
        incoming,
        createdAt: now,
        ticketAt: now,
        share: 0,
        grownAt: now,
        progressedAt: now,
        isYielding: false,
        missing: 0,
        finishing: null,
        wrongResults: 0,
        turns: createSemaphore(1),
        end: (outcome, value) => {
          if (!running.delete(id)) return;
          signal.removeEventListener("abort", stop);
          const isCompleted = outcome === "completed";
          workerList.endRun(id, outcome, isCompleted ? (request.mediaSeconds ?? null) : null);
          trouble.record(workerId, stepId, outcome, isCompleted ? null : value);
          if (execution.boot === null) void tickets.remove(workerId, id);
          else if (outcome === "aborted" || outcome === "lost")
            ending.set(workerId, (ending.get(workerId) ?? new Set()).add(id));
          else if (accepted.add(id).size > MAX_ENDED) accepted.delete(accepted.values().next().value!);
          void incoming.remove().catch((error) => log.warn("execution.files_not_removed", { execution: id, error }));
          if (isCompleted) resolve(value);
          // The next attempt or a deletion uses the same folder, so nothing may be moved there afterwards.
          else void incoming.settled().then(() => reject(value));
        },
      };
      running.set(id, execution);
      signal.addEventListener("abort", stop, { once: true });
      workerList.startRun(workerId, { execution: id, kind, stepId, subjectId });
      addTicket(execution);
    });

  /** Ends lost executions, and repeats tickets. Called every second once started. */
  function check(): void {
    const now = clock();
    // A process that was suspended has received no heartbeats in the meantime.
    const stalled = now - lastCheck - CHECK_INTERVAL_MS;
    lastCheck = now;
    if (stalled > CHECK_INTERVAL_MS) {
      for (const execution of running.values()) {
        execution.grownAt += stalled;
        execution.progressedAt += stalled;
      }
      contact.postpone(stalled);
    }
    for (const execution of [...running.values()]) {
      if (execution.finishing !== null) continue;
      const loss = findLoss(execution, contact, tickets.isReachable(), now);
      if (loss !== null && execution.boot === null) trouble.avoid(execution.workerId, "not_taken");
      if (loss !== null) lose(execution, loss);
      else if (isTicketDue(execution, now)) addTicket(execution);
    }
    trouble.prune();
    onRoom();
  }

  return {
    /**
     * Runs it on a worker. Errors: those of the execution and of `finish`; `ExecutionLost`; `JobYielded`; the signal's
     * reason at once.
     */
    run: async (workerId: string, request: ExecutionRequest) => {
      const output = await execute(workerId, request);
      try {
        return request.finish === undefined ? output : await request.finish(output);
      } catch (error) {
        // The next attempt runs elsewhere, where that is possible.
        if (error instanceof InvalidResultError) trouble.record(workerId, request.stepId, "failed", error);
        throw error;
      }
    },
    /**
     * Binds the execution to the process that has its ticket. Throws `AppError` `conflict` for another worker or
     * process.
     */
    start: (id: string, { workerId, bootId }: WorkerBoot) => {
      const execution = require(id);
      const isOwner = workerId === execution.workerId && bootId === workerList.findBoot(workerId);
      if (!isOwner || (execution.boot !== null && execution.boot !== bootId))
        throw conflict("Execution belongs to another worker.");
      execution.boot = bootId;
      execution.progressedAt = clock();
      contact.record(workerId);
      const { kind, assetId: asset, owner, input, files } = execution.request;
      return { execution: id, kind, asset, owner, input, files: files.map(({ path: _, ...file }) => file) };
    },
    /** Returns the kind of an execution that has not ended, or null. */
    findKind: (id: string) => running.get(id)?.request.kind ?? null,
    /** Returns a file of the execution. Throws `AppError` `not_found`. */
    getFile: (id: string, name: string) => {
      const file = requireStarted(id).request.files.find((one) => one.name === name);
      if (!file) throw new AppError("not_found", "The execution has no such file.");
      return file;
    },
    getOutputOffset: (id: string, name: string) => requireStarted(id).incoming.getOffset(name),
    writeOutput: (id: string, name: string, part: UploadPart) => requireStarted(id).incoming.write(name, part),
    /** Throws `WrongFilesError`. */
    checkpoint: async (id: string, checkpoint: unknown, files: SentFile[]) => {
      const execution = requireStarted(id);
      const { checkpoint: store = () => Promise.reject(new InvalidResultError("checkpoint")) } = execution.request;
      await execution.turns.run(undefined, () =>
        receive(execution, files, async () => {
          if (running.has(id)) await store(checkpoint);
        }),
      );
      require(id);
    },
    /** Ends the execution. The same result may be sent again. Throws `WrongFilesError`. */
    finish: async (id: string, result: ExecutionResult) => {
      if (accepted.has(id)) return;
      const execution = requireStarted(id);
      execution.finishing ??= execution.turns
        .run(undefined, () => settle(execution, result))
        .finally(() => {
          execution.finishing = null;
        });
      await execution.finishing.catch((error) => {
        execution.wrongResults++;
        if (!(error instanceof WrongFilesError)) execution.end("failed", error);
        else if (execution.wrongResults > MAX_WRONG_RESULTS) lose(execution, "the worker sends damaged files");
        throw error;
      });
    },
    /** Ends everything of a worker with `ExecutionLost`. */
    loseWorker: (workerId: string, reason: string) => {
      for (const execution of [...running.values()])
        if (execution.workerId === workerId && execution.finishing === null) lose(execution, reason);
      ending.delete(workerId);
      onRoom();
    },
    /**
     * Renews the executions of the worker. Returns those to abort immediately, and those to end at their next safe
     * point.
     */
    heartbeat: ({ workerId, bootId }: WorkerBoot, reported: WorkerHeartbeat["running"]) => {
      const now = clock();
      contact.record(workerId);
      const abort: string[] = [];
      const yielding: string[] = [];
      for (const { execution: id, progress } of reported) {
        const execution = running.get(id);
        if (execution?.workerId !== workerId || execution.boot !== bootId) {
          // A worker lists a ticket from the moment it takes it.
          if (execution?.boot !== null) abort.push(id);
          continue;
        }
        recordProgress(execution, progress, now);
        if (!execution.request.shouldYield()) continue;
        execution.isYielding = true;
        yielding.push(id);
      }
      for (const execution of [...running.values()]) {
        const isMissing =
          execution.workerId === workerId &&
          execution.boot === bootId &&
          execution.finishing === null &&
          !reported.some(({ execution: id }) => id === execution.id);
        if (isMissing && recordMissing(execution)) lose(execution, "the worker has dropped it");
      }
      const before = ending.get(workerId)?.size ?? 0;
      const left = new Set(abort.filter((id) => !accepted.has(id)));
      ending.set(workerId, left);
      if (left.size < before) onRoom();
      return { abort, yield: yielding };
    },
    /** Returns how many ended executions the worker still runs. */
    countEnding: (workerId: string) => ending.get(workerId)?.size ?? 0,
    trouble: {
      rank: trouble.rank,
      isAvoided: (workerId: string) => trouble.isAvoided(workerId) || contact.isSilent(workerId),
    },
    check,
    startChecking: () => {
      lastCheck = clock();
      checking = setInterval(check, CHECK_INTERVAL_MS);
    },
    stop: () => clearInterval(checking),
  };
}

export type Executions = ReturnType<typeof createExecutions>;
