/**
 * The executions that workers run: created here, started by the worker that gets the ticket, and ended by a result, by
 * the caller, or because they are lost (`execution-liveness.ts`). Only this memory knows them, so that whatever arrives
 * for another one is refused.
 */
import { AppError, conflict } from "../../domain/errors";
import { ExecutionLost, JobYielded } from "../../domain/jobs";
import type { ExecutionResult, SentFile, Ticket, TicketQueues, WorkerBoot } from "../../domain/worker-messages";
import { newId } from "../../lib/ids";
import type { Log } from "../../lib/log";
import { createSemaphore, type Semaphore } from "../../lib/semaphore";
import type { CoreNeeds } from "../needs";
import type { UploadPart } from "../uploads/session";
import { createExecutionLiveness, type TrackedExecution } from "./execution-liveness";
import type { ExecutionEnd, ExecutionRequest } from "./execution-request";
import { createIncomingFiles, type IncomingFiles, WrongFilesError } from "./incoming-files";
import { decodeExecutionError, InvalidResultError, isFullWorkerDisk } from "./result-shapes";
import type { WorkerContact } from "./worker-contact";
import type { WorkerList } from "./worker-list";
import { createWorkerTrouble } from "./worker-trouble";

const MAX_WRONG_RESULTS = 2;
/** Number of ended executions to remember, for results that are sent twice. */
const MAX_ENDED = 1_000;

export type ExecutionsOptions = {
  tickets: Pick<TicketQueues, "add" | "remove" | "isReachable">;
  history: Pick<WorkerList, "endRun" | "startRun">;
  /** When each worker was seen. */
  contact: WorkerContact;
  /** For the files that workers send. */
  storage: CoreNeeds;
  /** Returns the process of the worker that is online; null when none is. */
  findBoot(workerId: string): string | null;
  signExecution(id: string): string;
  /** Called when a worker may have room again. */
  onRoom(): void;
  log: Log;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
};

type Execution = TrackedExecution & {
  incoming: IncomingFiles;
  wrongResults: number;
  /**
   * Files are checked and moved for one call at a time: a worker may repeat a call whose answer it has not received.
   */
  turns: Semaphore;
  end(outcome: ExecutionEnd, error: unknown): void;
  complete(output: unknown): void;
};

const jobFacts = ({ request: { kind, stepId, subjectId } }: Execution) => ({ kind, job: stepId, subject: subjectId });

const createEndedError = (): AppError =>
  new AppError("not_found", "Execution link is invalid, or the execution has ended.");

export function createExecutions(options: ExecutionsOptions) {
  const { tickets, history, log, clock } = options;
  const running = new Map<string, Execution>();
  /** Ended executions whose result was accepted. */
  const accepted = new Set<string>();
  const trouble = createWorkerTrouble(clock);

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
    const ticket: Ticket = { execution: id, url: options.signExecution(id) };
    tickets
      .add(workerId, ticket)
      .catch((error: Error) => log.warn("ticket.not_added", { execution: id, reason: error.message }));
  }

  /** Forgets the execution, so that later calls for it have no effect. */
  function forget(execution: Execution, outcome: ExecutionEnd): void {
    const { id, workerId, boot, incoming, request } = execution;
    running.delete(id);
    history.endRun(id, outcome, outcome === "completed" ? (request.mediaSeconds ?? null) : null);
    if (boot === null) void tickets.remove(workerId, id);
    else if (outcome === "aborted" || outcome === "lost") liveness.expectEnd(workerId, id);
    else {
      accepted.add(id);
      if (accepted.size > MAX_ENDED) accepted.delete(accepted.values().next().value!);
    }
    void incoming.remove().catch((error) => log.warn("execution.files_not_removed", { execution: id, error }));
  }

  const lose = (execution: Execution, reason: string) =>
    execution.end("lost", new ExecutionLost(reason, execution.boot !== null));

  const liveness = createExecutionLiveness({
    running,
    contact: options.contact,
    isAccepted: (id) => accepted.has(id),
    isReachable: () => tickets.isReachable(),
    addTicket,
    lose,
    trouble,
    onRoom: () => options.onRoom(),
    clock,
  });

  /**
   * A worker that stops yields unasked. One that does so each time would get the job back at once, because the attempt
   * does not count: it gets nothing new for a while, in which another place runs the job.
   */
  function endYielded(execution: Execution): void {
    const isAsked = execution.isYielding || execution.request.shouldYield();
    if (!isAsked) trouble.avoid(execution.workerId, "released");
    execution.end(isAsked ? "yielded" : "released", new JobYielded());
  }

  async function settle(execution: Execution, result: ExecutionResult): Promise<void> {
    switch (result.status) {
      case "completed": {
        const { output, files = [] } = result;
        const arrived = await execution.incoming.check(files);
        try {
          await execution.request.check?.(arrived);
          await execution.incoming.commit(files, () => running.has(execution.id));
        } catch (error) {
          return execution.end("failed", error);
        }
        return execution.complete(output);
      }
      case "failed": {
        if (!isFullWorkerDisk(result.error ?? {})) {
          const error = decodeExecutionError(result.error ?? {});
          return error instanceof JobYielded ? endYielded(execution) : execution.end("failed", error);
        }
        log.warn("worker.disk_full", { worker: execution.workerId, execution: execution.id, ...jobFacts(execution) });
        return execution.end("disk_full", new ExecutionLost("the worker's disk is full", false));
      }
      case "yielded":
        return endYielded(execution);
      case "released":
        trouble.avoid(execution.workerId, "released");
        return execution.end("released", new ExecutionLost("the worker gave it back", false));
    }
  }

  /** Resolves with what the worker says. */
  const execute = (workerId: string, request: ExecutionRequest): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { signal, kind, stepId, subjectId } = request;
      if (signal.aborted) return reject(signal.reason);
      // It was there when the slot was granted. A ticket would create the queue of a revoked worker again.
      if (options.findBoot(workerId) === null)
        return reject(new ExecutionLost("the worker is no longer online", false));
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
        incoming: createIncomingFiles(options.storage, `${request.incomingDir}-${id}`, request.outputs),
        createdAt: now,
        ticketAt: now,
        share: 0,
        grownAt: now,
        progressedAt: now,
        isYielding: false,
        wrongResults: 0,
        turns: createSemaphore(1),
        missing: 0,
        finishing: null,
        end: (outcome, error) => {
          if (!close(outcome)) return;
          trouble.record(workerId, stepId, outcome, error);
          // The next attempt, or a deletion, works on the same folder: nothing moves there afterwards.
          void execution.incoming.settled().then(() => reject(error));
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
    });

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
      const isOwner = workerId === execution.workerId && bootId === options.findBoot(workerId);
      if (!isOwner || (execution.boot !== null && execution.boot !== bootId))
        throw conflict("Execution belongs to another worker.");
      execution.boot = bootId;
      execution.progressedAt = clock();
      options.contact.record(workerId);
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
      await execution.turns.run(undefined, async () => {
        const arrived = await execution.incoming.check(files);
        try {
          await execution.request.check?.(arrived);
          await execution.incoming.commit(files, () => running.has(id));
          if (!running.has(id)) throw createEndedError();
          const { checkpoint: store } = execution.request;
          if (store === undefined) throw new InvalidResultError("checkpoint");
          await store(checkpoint);
        } catch (error) {
          execution.end("failed", error);
          throw createEndedError();
        }
      });
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
      liveness.forgetWorker(workerId);
      options.onRoom();
    },
    /** Renews what the worker runs. Returns what it must end at once, and what at the next safe point. */
    heartbeat: liveness.heartbeat,
    countEnding: liveness.countEnding,
    trouble: {
      rank: trouble.rank,
      isAvoided: (workerId: string) => trouble.isAvoided(workerId) || options.contact.isSilent(workerId),
    },
    /** Ends lost executions, and repeats tickets. Called every second once started. */
    check: liveness.check,
    startChecking: liveness.startChecking,
    stop: liveness.stop,
  };
}

export type Executions = ReturnType<typeof createExecutions>;
