/**
 * The workers of this server: all joined workers, their connections and executions. Heartbeats are kept in memory and
 * stored at most every 30 s; a worker that is not in memory has to join again.
 */

import { version } from "../../../package.json";
import { AppError, conflict } from "../../domain/errors";
import type { OnlineWorker } from "../../domain/places";
import type { WORKER_RUN_OUTCOMES, WORKER_STATES } from "../../domain/states";
import type { WorkerAnnouncement, WorkerBoot, WorkerHeartbeat, WorkerProgram } from "../../domain/worker-messages";
import { type ExecutionKind, WORKER_PROTOCOL } from "../../domain/workers";
import { newId } from "../../lib/ids";
import type { Log } from "../../lib/log";
import type { Store } from "../../store/db";
import { listUnendedStepIds } from "../../store/steps";
import {
  findWorker,
  insertWorkerRuns,
  type ListedWorker,
  listRunsOf,
  listWorkerRuns,
  listWorkers,
  saveJoinedWorker,
  touchWorker,
  type WorkerRun,
  type WorkerToken,
} from "../../store/workers";
import type { CoreNeeds } from "../needs";

export const HEARTBEAT_MS = 1_000;
/** Time without a heartbeat after which a worker is offline and its executions are lost. */
export const LOST_AFTER_MS = 15_000;
/** Time without a heartbeat after which a worker receives no new executions. */
const MAX_SILENCE_MS = 4_000;
const SAVE_INTERVAL_MS = 30_000;
const MAX_REPLACED_BOOTS = 16;
/** Maximum number of ended runs to keep if the database fails. */
const MAX_UNSAVED_RUNS = 2_000;
const MAX_SHOWN_RUNS = 200;

/**
 * Records when each worker was last seen, by the head's monotonic clock: the only measure of whether a worker is alive.
 * `clock` in milliseconds.
 */
export function createWorkerContact(clock: () => number) {
  const seenAt = new Map<string, number>();
  const getSilence = (workerId: string) => clock() - (seenAt.get(workerId) ?? Number.NEGATIVE_INFINITY);
  return {
    record: (workerId: string) => void seenAt.set(workerId, clock()),
    forget: (workerId: string) => void seenAt.delete(workerId),
    /** Returns whether it was seen within `LOST_AFTER_MS`. */
    isConnected: (workerId: string) => getSilence(workerId) < LOST_AFTER_MS,
    /** Returns whether a worker that was seen before has been silent lately. */
    isSilent: (workerId: string) => seenAt.has(workerId) && getSilence(workerId) >= MAX_SILENCE_MS,
    /** Allows for a time in which this process was suspended and saw nothing. */
    postpone: (milliseconds: number) => {
      for (const [workerId, at] of seenAt) seenAt.set(workerId, at + milliseconds);
    },
  };
}

export type WorkerContact = ReturnType<typeof createWorkerContact>;

/** An execution that a worker runs. `progress` 0 to 1, null until reported. */
type CurrentRun = Omit<WorkerRun, "ended_at" | "outcome" | "media_seconds"> & { progress: number | null };

/** A worker that has joined this run of the server. Times in milliseconds since 1970. */
export type JoinedWorker = OnlineWorker & {
  tokenId: string;
  name: string;
  speed: number | null;
  lastSeenAt: number;
  isUnsaved: boolean;
};

/** A worker as administrators see it. `current`: its running executions. */
export type WorkerView = ListedWorker & { state: (typeof WORKER_STATES)[number]; current: CurrentRun[] };

/**
 * `left`: the worker has ended. `replaced`: another process has joined with its token. Like `revoked`, it then runs
 * nothing.
 */
export type WorkerChange = {
  type: "joined" | "left" | "replaced" | "revoked" | "drained" | "resumed";
  workerId: string;
};

type StartedRun = { execution: string; kind: ExecutionKind; stepId: string; subjectId: string };
type RunOutcome = (typeof WORKER_RUN_OUTCOMES)[number];

export type WorkerNeeds = CoreNeeds & { workerList: WorkerList };

/** `clock`: milliseconds on a monotonic clock, because the time of day may be changed while workers are connected. */
type ListServices = { store: Store; log: Log; now(): number; clock?: () => number };

export function createWorkerList({ store, log, now, clock = () => performance.now() }: ListServices) {
  const live = new Map<string, JoinedWorker>();
  const runs = new Map<string, CurrentRun>();
  let unsavedRuns: WorkerRun[] = [];
  /** The boots that another one has replaced, by token. */
  const replaced = new Map<string, string[]>();
  const listeners: ((change: WorkerChange) => void)[] = [];
  const contact = createWorkerContact(clock);
  let saving: Timer | undefined;

  const emit = (type: WorkerChange["type"], workerId: string) => {
    for (const listener of listeners) listener({ type, workerId });
  };
  const isConnected = ({ id }: { id: string }) => contact.isConnected(id);
  const listRunsNow = (workerId: string) => [...runs.values()].filter((run) => run.worker_id === workerId);
  const findCaller = (token: WorkerToken, { workerId, bootId }: WorkerBoot): JoinedWorker | null => {
    const worker = live.get(workerId);
    return worker?.tokenId === token.id && worker.announcement.bootId === bootId ? worker : null;
  };

  function remove({ id }: JoinedWorker, type: "left" | "revoked"): void {
    live.delete(id);
    contact.forget(id);
    emit(type, id);
    endRuns(id, type === "revoked" ? "aborted" : "lost");
  }

  /** Ends the executions that listeners have not ended themselves. */
  function endRuns(workerId: string, outcome: RunOutcome): void {
    for (const { id } of listRunsNow(workerId)) endRun(id, outcome, null);
  }

  function endRun(execution: string, outcome: RunOutcome, mediaSeconds: number | null): void {
    const run = runs.get(execution);
    if (!run) return;
    runs.delete(execution);
    const { progress: _, ...facts } = run;
    unsavedRuns.push({ ...facts, ended_at: now(), outcome, media_seconds: mediaSeconds });
    if (unsavedRuns.length > MAX_UNSAVED_RUNS) unsavedRuns.shift();
  }

  async function save(): Promise<void> {
    const changed = [...live.values()].filter((worker) => worker.isUnsaved);
    const ended = [...unsavedRuns];
    if (changed.length === 0 && ended.length === 0) return;
    for (const worker of changed) worker.isUnsaved = false;
    try {
      await store.write(async (tx) => {
        for (const { id, tokenId, freeBytes, speed, lastSeenAt } of changed)
          await touchWorker(tx, id, { token_id: tokenId, free_bytes: freeBytes, speed, last_seen_at: lastSeenAt });
        await insertWorkerRuns(tx, ended);
      });
      unsavedRuns = unsavedRuns.filter((run) => !ended.includes(run));
    } catch (error) {
      for (const worker of changed) worker.isUnsaved = true;
      log.warn("workers.save_failed", { error });
    }
  }

  function toView({ worker: row, revokedAt }: ListedWorker): WorkerView {
    const worker = revokedAt === null ? live.get(row.id) : undefined;
    if (!worker) return { worker: row, revokedAt, state: "offline", current: [] };
    const isOnline = isConnected(worker);
    const { freeBytes, speed, lastSeenAt, hasRedis } = worker;
    return {
      worker: { ...row, free_bytes: freeBytes, speed, last_seen_at: lastSeenAt },
      revokedAt,
      state: !isOnline ? "offline" : row.is_draining ? "draining" : hasRedis ? "online" : "no_redis",
      current: isOnline ? listRunsNow(row.id) : [],
    };
  }

  return {
    /** When each worker was seen. */
    contact,
    /**
     * Records a worker that joins. Throws `AppError` `conflict` for another protocol; `forbidden` when a later worker
     * uses the token.
     */
    join: async (token: WorkerToken, announcement: WorkerAnnouncement) => {
      if (announcement.protocol !== WORKER_PROTOCOL) throw refuseProtocol(announcement);
      const boots = replaced.get(token.id) ?? [];
      if (boots.includes(announcement.bootId))
        throw new AppError(
          "forbidden",
          `Another worker has joined as "${token.name}". A join token is for one worker: create another one for this machine.`,
        );
      const { bootId, freeBytes, ...facts } = announcement;
      const announced = { ...facts, token_id: token.id, name: token.name, free_bytes: freeBytes, last_seen_at: now() };
      const row = await store.write((tx) => saveJoinedWorker(tx, newId(), announced));
      if (!row) throw new AppError("unauthenticated", "Join token was revoked.");
      const before = live.get(row.id);
      const isSameBoot = before?.announcement.bootId === bootId;
      const worker: JoinedWorker = {
        id: row.id,
        tokenId: token.id,
        name: token.name,
        announcement,
        freeBytes,
        isDraining: row.is_draining,
        hasRedis: isSameBoot ? before.hasRedis : true,
        speed: row.speed,
        lastSeenAt: now(),
        isUnsaved: false,
      };
      live.set(row.id, worker);
      contact.record(row.id);
      if (before && !isSameBoot) {
        replaced.set(token.id, [...boots, before.announcement.bootId].slice(-MAX_REPLACED_BOOTS));
        emit("replaced", row.id);
        endRuns(row.id, "lost");
      }
      emit("joined", row.id);
      return worker;
    },
    /** Records a heartbeat. Returns null when the worker has to join again. */
    heartbeat: (token: WorkerToken, heartbeat: WorkerHeartbeat) => {
      const worker = findCaller(token, heartbeat);
      if (!worker) return null;
      worker.lastSeenAt = now();
      contact.record(worker.id);
      worker.freeBytes = heartbeat.freeBytes;
      worker.hasRedis = heartbeat.hasRedis ?? true;
      worker.isUnsaved = true;
      for (const { execution, progress } of heartbeat.running) {
        const run = runs.get(execution);
        if (run?.worker_id === worker.id && progress !== null)
          run.progress = Math.max(run.progress ?? 0, Math.min(1, progress));
      }
      return worker;
    },
    /** Records that a worker has ended. */
    leave: (token: WorkerToken, boot: WorkerBoot) => {
      const worker = findCaller(token, boot);
      if (worker) remove(worker, "left");
    },
    /** Lists the connected workers, including draining ones. */
    listOnline: () => [...live.values()].filter(isConnected),
    /** Returns the process of the worker that is online; null when none is. */
    findBoot: (workerId: string) => {
      const worker = live.get(workerId);
      return worker && isConnected(worker) ? worker.announcement.bootId : null;
    },
    /** Lists the workers that are not revoked, by name. */
    list: async () => (await listWorkers(store.read)).map(toView),
    /** Returns a worker, even if revoked, or null. */
    find: async (id: string) => {
      const found = await findWorker(store.read, id);
      return found && toView(found);
    },
    /** Lists the ended runs of a worker, latest first. */
    listRuns: async (workerId: string) => {
      const recent = unsavedRuns.filter((run) => run.worker_id === workerId).reverse();
      const stored = await listWorkerRuns(store.read, workerId, MAX_SHOWN_RUNS);
      // Runs that are being saved are in both.
      const others = stored.filter((run) => !recent.some((one) => one.id === run.id));
      return [...recent, ...others].slice(0, MAX_SHOWN_RUNS);
    },
    /** Returns those of the executions of the token's worker that have ended, and their steps too, or were deleted. */
    findEnded: async (token: WorkerToken, executions: string[]) => {
      const worker = live.values().find(({ tokenId }) => tokenId === token.id);
      if (!worker) return [];
      const recent = unsavedRuns.filter((run) => run.worker_id === worker.id && executions.includes(run.id));
      const ended = [...recent, ...(await listRunsOf(store.read, worker.id, executions))];
      const unended = await listUnendedStepIds(store.read, [...new Set(ended.map((run) => run.step_id))]);
      return [...new Set(ended.filter((run) => !unended.includes(run.step_id)).map((run) => run.id))];
    },
    startRun: (workerId: string, { execution: id, kind, stepId, subjectId }: StartedRun) => {
      const started = { id, worker_id: workerId, kind, step_id: stepId, subject_id: subjectId, started_at: now() };
      if (live.has(workerId)) runs.set(id, { ...started, progress: null });
    },
    /** `mediaSeconds` null: unknown. An execution that was not started, or has ended, is ignored. */
    endRun,
    /** Records the measured speed in seconds of media a second. */
    setSpeed: (workerId: string, speed: number) => {
      const worker = live.get(workerId);
      if (worker) Object.assign(worker, { speed, isUnsaved: true });
    },
    /** Call it after the commit that changes `is_draining`. */
    setDraining: (workerId: string, isDraining: boolean) => {
      const worker = live.get(workerId);
      if (worker) worker.isDraining = isDraining;
      emit(isDraining ? "drained" : "resumed", workerId);
    },
    /** Call it after the commit that revokes the token. */
    removeRevoked: (tokenId: string) => {
      replaced.delete(tokenId);
      for (const worker of live.values()) if (worker.tokenId === tokenId) remove(worker, "revoked");
    },
    /** Calls `listener` after each change. */
    onChange: (listener: (change: WorkerChange) => void) => {
      listeners.push(listener);
    },
    start: () => {
      saving = setInterval(() => void save(), SAVE_INTERVAL_MS);
    },
    /** Stores unsaved state. */
    stop: () => {
      clearInterval(saving);
      return save();
    },
  };
}

export type WorkerList = ReturnType<typeof createWorkerList>;

/** Returns the error for a worker of another protocol. */
export const refuseProtocol = ({ protocol, version: workerVersion }: WorkerProgram): AppError =>
  conflict(
    `Worker has job protocol ${protocol} (Offcut ${workerVersion}), this server has ${WORKER_PROTOCOL} (Offcut ${version}): install the same version on both.`,
  );
