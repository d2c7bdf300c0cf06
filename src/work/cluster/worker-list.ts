/**
 * The workers of this server: all joined workers, their connections and executions. Heartbeats are kept in memory and
 * stored at most every 30 s; a worker that is not in memory has to join again.
 */

import { version } from "../../../package.json";
import { AppError, conflict } from "../../domain/errors";
import type { WORKER_RUN_OUTCOMES, WORKER_STATES } from "../../domain/states";
import type { WorkerAnnouncement, WorkerBoot, WorkerHeartbeat, WorkerProgram } from "../../domain/worker-messages";
import { type ExecutionKind, WORKER_PROTOCOL } from "../../domain/workers";
import { newId } from "../../lib/ids";
import type { Log } from "../../lib/log";
import type { Store } from "../../store/db";
import {
  findWorker,
  type ListedWorker,
  listWorkers,
  saveJoinedWorker,
  touchWorker,
  type WorkerToken,
} from "../../store/workers";
import type { CoreNeeds } from "../needs";
import { createWorkerContact } from "./worker-contact";
import { createWorkerHistory } from "./worker-history";

const SAVE_INTERVAL_MS = 30_000;
const MAX_REPLACED_BOOTS = 16;

type WorkerState = (typeof WORKER_STATES)[number];
type RunOutcome = (typeof WORKER_RUN_OUTCOMES)[number];

/** An execution that a worker runs. `progress` 0 to 1, null until reported. */
type CurrentRun = {
  execution: string;
  kind: ExecutionKind;
  stepId: string;
  subjectId: string;
  startedAt: number;
  progress: number | null;
};

/** A worker that has joined this run of the server. Times in milliseconds since 1970. */
export type JoinedWorker = {
  id: string;
  tokenId: string;
  name: string;
  announcement: WorkerAnnouncement;
  freeBytes: number;
  /** An administrator has drained it. */
  isDraining: boolean;
  /** Whether it reached Redis at its last heartbeat. */
  hasRedis: boolean;
  speed: number | null;
  lastSeenAt: number;
};

/** A worker as administrators see it. `current`: what it runs now. */
export type WorkerView = ListedWorker & { state: WorkerState; current: CurrentRun[] };

/**
 * `left`: the worker has ended. `replaced`: another process has joined with its token. Like `revoked`, it then runs
 * nothing.
 */
export type WorkerChange = {
  type: "joined" | "left" | "replaced" | "revoked" | "drained" | "resumed";
  workerId: string;
};

type StartedRun = Pick<CurrentRun, "execution" | "kind" | "stepId" | "subjectId">;

export type WorkerNeeds = CoreNeeds & { workerList: WorkerList };

type Live = JoinedWorker & { runs: Map<string, CurrentRun>; isUnsaved: boolean };

/** `clock`: milliseconds on a monotonic clock, because the time of day may be changed while workers are connected. */
type ListServices = { store: Store; log: Log; now(): number; clock?: () => number };

export function createWorkerList({ store, log, now, clock = () => performance.now() }: ListServices) {
  const live = new Map<string, Live>();
  /** The boots that another one has replaced, by token. */
  const replaced = new Map<string, string[]>();
  const listeners: ((change: WorkerChange) => void)[] = [];
  const history = createWorkerHistory(store);
  const contact = createWorkerContact(clock);
  let saving: Timer | undefined;

  const emit = (type: WorkerChange["type"], workerId: string) => {
    for (const listener of listeners) listener({ type, workerId });
  };
  const isConnected = ({ id }: Live) => contact.isConnected(id);
  const findBoot = (token: WorkerToken, { workerId, bootId }: WorkerBoot): Live | null => {
    const worker = live.get(workerId);
    return worker?.tokenId === token.id && worker.announcement.bootId === bootId ? worker : null;
  };

  function remove(worker: Live, type: "left" | "revoked"): void {
    live.delete(worker.id);
    contact.forget(worker.id);
    emit(type, worker.id);
    // Executions that listeners have not ended themselves.
    for (const execution of worker.runs.keys()) endOf(worker, execution, type === "revoked" ? "aborted" : "lost", null);
  }

  function endOf(worker: Live, execution: string, outcome: RunOutcome, mediaSeconds: number | null): void {
    const run = worker.runs.get(execution);
    if (!run) return;
    worker.runs.delete(execution);
    const { kind, stepId, subjectId, startedAt } = run;
    history.add({
      id: execution,
      worker_id: worker.id,
      kind,
      step_id: stepId,
      subject_id: subjectId,
      started_at: startedAt,
      ended_at: now(),
      outcome,
      media_seconds: mediaSeconds,
    });
  }

  async function save(): Promise<void> {
    const changed = [...live.values()].filter((worker) => worker.isUnsaved);
    if (changed.length === 0 && !history.isUnsaved()) return;
    for (const worker of changed) worker.isUnsaved = false;
    try {
      await history.save(async (tx) => {
        for (const { id, tokenId, freeBytes, speed, lastSeenAt } of changed)
          await touchWorker(tx, id, { token_id: tokenId, free_bytes: freeBytes, speed, last_seen_at: lastSeenAt });
      });
    } catch (error) {
      for (const worker of changed) worker.isUnsaved = true;
      log.warn("workers.save_failed", { error });
    }
  }

  function toView({ worker: row, revokedAt }: ListedWorker): WorkerView {
    const worker = revokedAt === null ? live.get(row.id) : undefined;
    if (!worker) return { worker: row, revokedAt, state: "offline", current: [] };
    const isOnline = isConnected(worker);
    const { freeBytes, speed, lastSeenAt, hasRedis, runs } = worker;
    return {
      worker: { ...row, free_bytes: freeBytes, speed, last_seen_at: lastSeenAt },
      revokedAt,
      state: !isOnline ? "offline" : row.is_draining ? "draining" : hasRedis ? "online" : "no_redis",
      current: isOnline ? [...runs.values()] : [],
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
      const worker: Live = {
        id: row.id,
        tokenId: token.id,
        name: token.name,
        announcement,
        freeBytes,
        isDraining: row.is_draining,
        hasRedis: isSameBoot ? before.hasRedis : true,
        speed: row.speed,
        lastSeenAt: now(),
        runs: isSameBoot ? before.runs : new Map(),
        isUnsaved: false,
      };
      live.set(row.id, worker);
      contact.record(row.id);
      if (before && !isSameBoot) {
        replaced.set(token.id, [...boots, before.announcement.bootId].slice(-MAX_REPLACED_BOOTS));
        emit("replaced", row.id);
        for (const execution of before.runs.keys()) endOf(before, execution, "lost", null);
      }
      emit("joined", row.id);
      return worker;
    },
    /** Records a heartbeat. Returns null when the worker has to join again. */
    heartbeat: (token: WorkerToken, heartbeat: WorkerHeartbeat) => {
      const worker = findBoot(token, heartbeat);
      if (!worker) return null;
      worker.lastSeenAt = now();
      contact.record(worker.id);
      worker.freeBytes = heartbeat.freeBytes;
      worker.hasRedis = heartbeat.hasRedis ?? true;
      worker.isUnsaved = true;
      for (const { execution, progress } of heartbeat.running) {
        const run = worker.runs.get(execution);
        if (run && progress !== null) run.progress = Math.max(run.progress ?? 0, Math.min(1, progress));
      }
      return worker;
    },
    /** Records that a worker has ended. */
    leave: (token: WorkerToken, boot: WorkerBoot) => {
      const worker = findBoot(token, boot);
      if (worker) remove(worker, "left");
    },
    /** Lists the connected workers, including draining ones. */
    listOnline: () => [...live.values()].filter(isConnected),
    /** Lists the workers that are not revoked, by name. */
    list: async () => (await listWorkers(store.read)).map(toView),
    /** Returns a worker, even if revoked, or null. */
    find: async (id: string) => {
      const found = await findWorker(store.read, id);
      return found && toView(found);
    },
    /** Lists the runs of a worker, latest first. */
    listRuns: history.list,
    /** Returns those of the executions of the token's worker that have ended, and their steps too. */
    findEnded: async (token: WorkerToken, executions: string[]) => {
      const worker = live.values().find(({ tokenId }) => tokenId === token.id);
      return worker ? history.findEnded(worker.id, executions) : [];
    },
    startRun: (workerId: string, run: StartedRun) => {
      live.get(workerId)?.runs.set(run.execution, { ...run, startedAt: now(), progress: null });
    },
    /** `mediaSeconds` null: unknown. An execution that was not started, or has ended, is ignored. */
    endRun: (execution: string, outcome: RunOutcome, mediaSeconds: number | null) => {
      for (const worker of live.values()) endOf(worker, execution, outcome, mediaSeconds);
    },
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
