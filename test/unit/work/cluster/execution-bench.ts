/** Executions with queues in memory, a clock of the test, and a folder for the files. */
import { join } from "node:path";
import { noFolderGuard } from "../../../../src/blobs/folder-guard";
import { AppError } from "../../../../src/domain/errors";
import type { SentFile, Ticket } from "../../../../src/domain/worker-messages";
import { sha256 } from "../../../../src/lib/hash";
import { createLog } from "../../../../src/lib/log";
import type { ExecutionRequest } from "../../../../src/work/cluster/execution";
import { createExecutions } from "../../../../src/work/cluster/executions";
import { createWorkerContact } from "../../../../src/work/cluster/worker-list";
import type { CoreNeeds } from "../../../../src/work/needs";
import type { UploadPart } from "../../../../src/work/uploads/session";
import { temporaryFolder } from "../../../temporary-folder";

export const WORKER = "worker";
export const BOOT = { workerId: WORKER, bootId: "boot" };

export const sent = (name: string, text: string): SentFile => ({
  name,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
});

/** A part with the bytes of the texts, one after the other. */
export const part = (offset: number, length: number, ...texts: string[]): UploadPart => ({
  offset,
  length,
  announced: null,
  chunks: async function* () {
    for (const text of texts) yield Buffer.from(text);
  },
});

export const completed = (...files: ReturnType<typeof sent>[]) =>
  ({ status: "completed", output: { done: true }, files }) as const;

/** Returns the code of the refusal. */
export async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
  return "none";
}

export async function executionBench() {
  const folder = await temporaryFolder();
  const tickets: Ticket[] = [];
  const removed: string[] = [];
  const history: string[] = [];
  const log: string[] = [];
  const boots = new Map<string, string>([[WORKER, BOOT.bootId]]);
  const outputDir = join(folder.path, "output");
  const state = { now: 0, isReachable: true, addFails: false, rooms: 0 };
  const executions = createExecutions({
    tickets: {
      add: async (_, ticket) => {
        if (state.addFails) throw new Error("Redis is not reachable");
        tickets.push(ticket);
      },
      remove: async (_, execution) => {
        removed.push(execution);
      },
      isReachable: () => state.isReachable,
    },
    services: {
      ...({
        disk: { claim: () => true },
        folders: { guard: noFolderGuard },
        now: () => state.now,
      } as unknown as CoreNeeds),
      log: createLog((line) => log.push(line), false),
      workerList: {
        contact: createWorkerContact(() => state.now),
        findBoot: (id) => boots.get(id) ?? null,
        startRun: () => {},
        endRun: (_, outcome) => {
          history.push(outcome);
        },
      },
    },
    signExecution: (id) => `http://head/workers/executions/${id}?signature=x`,
    onRoom: () => {
      state.rooms++;
    },
    clock: () => state.now,
  });

  /** Runs an execution on the worker. `ended` resolves with its output or with its error. */
  function run(change: Partial<ExecutionRequest> = {}) {
    const abort = new AbortController();
    const progress: number[] = [];
    const promise = executions.run(WORKER, {
      kind: "render",
      stepId: "step",
      subjectId: "subject",
      assetId: "asset",
      owner: "owner",
      input: { plan: null },
      files: [],
      outputs: [{ name: /^output\.mp4$/, dir: outputDir, maxBytes: 100 }],
      mediaSeconds: null,
      incomingDir: join(folder.path, "incoming"),
      signal: abort.signal,
      shouldYield: () => false,
      progress: (share) => progress.push(share),
      checkpoint: async () => {},
      check: async () => {},
      ...change,
    });
    const id = tickets.at(-1)?.execution ?? "";
    const ended = promise.then(
      (output) => ({ output, error: null }),
      (error: Error) => ({ output: null, error }),
    );
    return { id, abort, progress, ended };
  }

  return {
    executions,
    tickets,
    removed,
    history,
    log,
    boots,
    state,
    outputDir,
    run,
    /** Advances the clock, and checks every second, as the timer would. */
    advance: (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += 1_000) {
        state.now += Math.min(1_000, milliseconds - passed);
        executions.check();
      }
    },
    /** Sends a whole file. */
    send: (id: string, name: string, text: string) =>
      executions.writeOutput(id, name, part(0, Buffer.byteLength(text), text)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
