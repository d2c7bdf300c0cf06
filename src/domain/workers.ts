/** The protocol between the head and its workers, and the matching of steps to workers. Pure. */
import type { JobName } from "./jobs";
import type { SANDBOX_MODES } from "./states";

/**
 * The protocol version. The head refuses workers with another one. 2: files of chunks contain their names, and
 * manifests that of the asset. 3: workers announce their sandbox.
 */
export const WORKER_PROTOCOL = 3;

/** Maximum length of the reason a worker gives for its weaker sandbox. */
export const MAX_REASON_LENGTH = 1_000;

/** Maximum number of assets, and of executions, that a worker asks about in one request. */
export const MAX_COPIED_ASSETS = 500;

/** Jobs that workers do. Previews stay on the head, which serves them. */
export const WORKER_JOBS = ["prepare", "cut", "render"] as const satisfies readonly JobName[];
export type WorkerJob = (typeof WORKER_JOBS)[number];

/** An execution runs a step, or a piece of a long render: `split` plans its chunks, `chunk` encodes one, `join` makes the file of them. */
export const EXECUTION_KINDS = ["prepare", "cut", "render", "split", "chunk", "join"] as const;
export type ExecutionKind = (typeof EXECUTION_KINDS)[number];

/** The properties that an encoded chunk depends on besides its input. All places of one render must share them. */
export type EncodingFacts = { ffmpeg: string; libavutil: number; encoder: string; hasZscale: boolean };

/** `reason`: why the mode is not `bwrap`, null when it is. */
export type SandboxFacts = { mode: (typeof SANDBOX_MODES)[number]; reason: string | null };

/** A worker's announcement when it joins. `languages`: of its speech models, as ISO 639-1 codes. */
export type WorkerAnnouncement = {
  protocol: number;
  version: string;
  /** A new UUID at each start of the worker. */
  bootId: string;
  jobs: WorkerJob[];
  /** Maximum number of concurrent executions. */
  slots: number;
  encoding: EncodingFacts;
  sandbox: SandboxFacts;
  languages: string[];
  freeBytes: number;
};

/** A ticket in Redis: where a worker gets one execution. */
export type Ticket = { execution: string; url: string };

/** How a file of an execution is used: read by it, left by an earlier attempt in its output folder, or in its work folder. */
export type ExecutionFileRole = "input" | "output" | "work";

/** `key` names the content: equal keys are equal bytes. `modifiedAt` in whole seconds since 1970. */
export type ExecutionFile = { name: string; role: ExecutionFileRole; bytes: number; key: string; modifiedAt: number };

/** The start of an execution for a worker. `owner`: a pseudonym of the workspace. */
export type ExecutionManifest = {
  execution: string;
  kind: ExecutionKind;
  /** UUID of the recording. When it is deleted, so are the worker's copies of its files. */
  asset: string;
  owner: string;
  /** The input of the kind's `run`. */
  input: unknown;
  files: ExecutionFile[];
};

/** A file from a worker. `sha256` in hexadecimal. */
export type SentFile = { name: string; bytes: number; sha256: string };

/** A worker that is online. `isDraining`: it gets nothing new. `hasRedis`: tickets reach it. */
export type OnlineWorker = {
  id: string;
  announcement: WorkerAnnouncement;
  freeBytes: number;
  isDraining: boolean;
  hasRedis: boolean;
};

/**
 * The requirements for a place. `languages`: ISO 639-1 codes, any of which may be spoken. `encoding`: only places that
 * make the same chunks. `bytes`: free disk space.
 */
export type PlaceNeeds = {
  job: WorkerJob;
  languages: readonly string[];
  bytes: number;
  encoding: EncodingFacts | null;
};

/** Returns whether the worker meets the requirements, now or when it has room. */
export function canDo(worker: OnlineWorker, needs: PlaceNeeds): boolean {
  const { announcement, freeBytes, isDraining, hasRedis } = worker;
  if (isDraining || !hasRedis || !announcement.jobs.includes(needs.job) || freeBytes < needs.bytes) return false;
  if (!needs.languages.every((language) => announcement.languages.includes(language))) return false;
  return needs.encoding === null || isSameEncoding(announcement.encoding, needs.encoding);
}

/**
 * A requirement of a step that no worker meets. `worker`: none does the job, or has the encoder for it; `model`: a
 * speech model for each of `languages` on the same worker; `space`: `bytes` of free disk space.
 */
export type Shortage = { lacks: "worker" | "model" | "space"; languages: string[]; bytes: number };

/** Returns what keeps all workers from doing it; null when one can. Of the workers that have one thing, the next is looked at. */
export function findShortage(workers: readonly OnlineWorker[], needs: PlaceNeeds): Shortage | null {
  const available = workers.filter(({ isDraining, hasRedis }) => !isDraining && hasRedis);
  const anyDisk = { ...needs, bytes: 0 };
  const anyLanguage = { ...anyDisk, languages: [] };
  const isDone = (what: PlaceNeeds) => available.some((worker) => canDo(worker, what));
  if (!isDone(anyLanguage)) return { lacks: "worker", languages: [], bytes: 0 };
  if (!isDone(anyDisk)) return { lacks: "model", languages: [...needs.languages], bytes: 0 };
  return isDone(needs) ? null : { lacks: "space", languages: [], bytes: needs.bytes };
}

/** Returns whether two places make the same chunks. */
export const isSameEncoding = (a: EncodingFacts, b: EncodingFacts): boolean =>
  a.ffmpeg === b.ffmpeg && a.libavutil === b.libavutil && a.encoder === b.encoder && a.hasZscale === b.hasZscale;

/** The queues in Redis that carry tickets, one for each worker. */
export type TicketQueues = {
  /** Adds a ticket; one that is there already stays. Errors: those of the connection, after a few seconds at most. */
  add(workerId: string, ticket: Ticket): Promise<void>;
  /** Removes a ticket that the worker has not taken. Ignores errors. */
  remove(workerId: string, execution: string): Promise<void>;
  /** Removes the queue of a worker with everything in it. Errors: as `add`. */
  removeQueue(workerId: string): Promise<void>;
  /** Returns whether Redis responded recently. */
  isReachable(): boolean;
  /** Calls `listener` when Redis becomes reachable, and when it no longer is. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
};

/** Returns the name of a worker's queue. */
export const getQueueName = (workerId: string): string => `offcut-worker-${workerId}`;
