/** The jobs and executions of workers on other machines, and the limits of their messages and files. Pure. */
import { MAX_PLAN_FILE_BYTES } from "./plan-file";
/**
 * The protocol version. The head refuses workers with another one. 2: files of chunks contain their names, and
 * manifests that of the asset. 3: workers announce their sandbox. 4: messages have the names of `worker-messages.ts`.
 * 5: preparations report words, which an older head takes for an invalid result. 6: preparations send the loudness: an
 * older head answers 404 to a file that it does not know, as it does to an execution that has ended.
 */
export const WORKER_PROTOCOL = 6;

/** Maximum length of the reason a worker gives for its weaker sandbox. */
export const MAX_REASON_LENGTH = 1_000;

/** Maximum number of assets, or of executions, that a worker asks about in one request. */
export const MAX_COPIED_ASSETS = 500;

/** Maximum number of files that one execution sends. */
export const MAX_OUTPUT_FILES = 64;

/** Jobs that workers do. Previews stay on the head, which serves them. */
export const WORKER_JOBS = ["prepare", "cut", "render"] as const;
export type WorkerJob = (typeof WORKER_JOBS)[number];

export type WorkerJobNeeds = {
  /** A speech model for each language that may be spoken. */
  speech: boolean;
  /** A video encoder that works. */
  encoder: boolean;
  /** Required free disk space as a multiple of the source's size, for copies of it and for the output of the job. */
  sourceCopies: number;
  /** Whether a long one may run at several places. */
  canSplit: boolean;
};

export const JOB_NEEDS: Record<WorkerJob, WorkerJobNeeds> = {
  // It writes less than a copy of the source.
  prepare: { speech: true, encoder: false, sourceCopies: 2, canSplit: false },
  cut: { speech: true, encoder: false, sourceCopies: 0, canSplit: false },
  // It reads the source and writes it twice, in chunks and as a whole.
  render: { speech: false, encoder: true, sourceCopies: 3, canSplit: true },
};

/**
 * An execution runs a step, or a piece of a long render: `split` plans its chunks, `chunk` encodes one, `join` makes
 * the file of them.
 */
export const EXECUTION_KINDS = [...WORKER_JOBS, "split", "chunk", "join"] as const;
export type ExecutionKind = (typeof EXECUTION_KINDS)[number];

/** `isLong`: a later attempt on the same input saves much time by reusing files of an earlier one. */
export type ExecutionFacts = { isLong: boolean; maxResultBytes: number };

const MEBIBYTE = 1024 ** 2;

export const EXECUTIONS: Record<ExecutionKind, ExecutionFacts> = {
  prepare: { isLong: true, maxResultBytes: MEBIBYTE },
  // A plan is a text in the JSON text, which escapes its quotation marks.
  cut: { isLong: false, maxResultBytes: 2 * MAX_PLAN_FILE_BYTES + MEBIBYTE },
  render: { isLong: true, maxResultBytes: MEBIBYTE },
  // 20,000 chunks of one segment. The server parses it between other requests.
  split: { isLong: false, maxResultBytes: 8 * MEBIBYTE },
  chunk: { isLong: false, maxResultBytes: MEBIBYTE },
  join: { isLong: false, maxResultBytes: MEBIBYTE },
};

export const isWorkerJob = (name: string): name is WorkerJob => WORKER_JOBS.some((job) => job === name);

export const getQueueName = (workerId: string): string => `offcut-worker-${workerId}`;
