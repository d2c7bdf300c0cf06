/** Compares the requirements of work with its places: this machine and the workers. Pure. */
import type { EncodingFacts, WorkerAnnouncement } from "./worker-messages";
import type { WorkerJob } from "./workers";

/** The ID of this machine as a place. Those of workers are UUIDs. */
export const LOCAL = "local";

/** A worker that is online. `isDraining`: it gets nothing new. `hasRedis`: tickets reach it. */
export type OnlineWorker = {
  id: string;
  announcement: WorkerAnnouncement;
  freeBytes: number;
  isDraining: boolean;
  hasRedis: boolean;
};

/** A place that can do something. `free` counts slots. `worker` null: this machine. */
export type PlaceView = { id: string; slots: number; free: number; worker: OnlineWorker | null };

/** Requirements on a place. `languages`: ISO 639-1 codes, any of which may be spoken. `bytes`: free disk space. */
export type PlaceNeeds = { job: WorkerJob; languages: readonly string[]; bytes: number };

/** Reasons why a worker cannot do something, even with free slots. */
export type WorkerLack = "draining" | "no_redis" | "other_jobs" | "space" | "model";

/** Returns why the worker cannot do it; null if it can, now or when it has room. */
export function findLack(
  { announcement, freeBytes, isDraining, hasRedis }: OnlineWorker,
  needs: PlaceNeeds,
): WorkerLack | null {
  if (isDraining) return "draining";
  if (!hasRedis) return "no_redis";
  if (!announcement.jobs.includes(needs.job)) return "other_jobs";
  if (freeBytes < needs.bytes) return "space";
  return needs.languages.every((language) => announcement.languages.includes(language)) ? null : "model";
}

/** Returns whether the worker can do it, now or when it has room. */
export const canDo = (worker: OnlineWorker, needs: PlaceNeeds): boolean => findLack(worker, needs) === null;

/**
 * The requirement of a step that no worker meets. `worker`: a worker that does the job and has its encoder; `model`: a
 * speech model for each of `languages` on the same worker; `space`: `bytes` of free disk space.
 */
export type Shortage = { lacks: "worker" | "model" | "space"; languages: string[]; bytes: number };

/**
 * Returns the requirement that no worker meets; null when a worker meets all of them. Adds one requirement at a time:
 * the job, then the languages, then the disk space.
 */
export function findShortage(workers: readonly OnlineWorker[], needs: PlaceNeeds): Shortage | null {
  const anyDisk = { ...needs, bytes: 0 };
  const anyLanguage = { ...anyDisk, languages: [] };
  const isDone = (what: PlaceNeeds) => workers.some((worker) => canDo(worker, what));
  if (!isDone(anyLanguage)) return { lacks: "worker", languages: [], bytes: 0 };
  if (!isDone(anyDisk)) return { lacks: "model", languages: [...needs.languages], bytes: 0 };
  return isDone(needs) ? null : { lacks: "space", languages: [], bytes: needs.bytes };
}

/** Returns whether two places make the same chunks. */
export const isSameEncoding = (a: EncodingFacts, b: EncodingFacts): boolean =>
  a.ffmpeg === b.ffmpeg && a.libavutil === b.libavutil && a.encoder === b.encoder && a.hasZscale === b.hasZscale;
