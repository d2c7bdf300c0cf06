/** Readiness: database, storage, ffmpeg and Redis. */

import { readFreeBytes } from "../../lib/disk-reserve";
import { findFileSize } from "../../lib/file-size";
import type { ClusterNeeds } from "../cluster/cluster";
import type { LiveStreams } from "../live/streams";
import type { ServerCounters } from "./counters";

const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** `redis`: absent when none is configured. */
type Readiness = { ready: boolean; database: boolean; storage: boolean; ffmpeg: boolean; redis?: boolean };

const hasFreeBytes = async (folder: string): Promise<boolean> =>
  (await readFreeBytes(folder).catch(() => 0)) > MIN_FREE_BYTES;

/**
 * Checks each part; `database` is false if it is damaged, though most queries may work, and `storage` is false also
 * while a folder is offline. Without Redis, the server is ready if it can do some work itself.
 */
export async function checkReadiness(services: HealthNeeds): Promise<Readiness> {
  const { cluster, config, folders, store } = services;
  const database = (await store.isAlive()) && store.findDamage() === null;
  const isOnline = (await folders.guard.check()) === null;
  const storage = isOnline && (await hasFreeBytes(folders.root)) && (await hasFreeBytes(folders.mediaDir));
  const ffmpeg = (await findFileSize(services.ffmpegPath).catch(() => null)) !== null;
  const parts = { database, storage, ffmpeg };
  const isReady = database && storage && ffmpeg;
  if (cluster === null) return { ready: isReady, ...parts };
  const redis = cluster.isReachable();
  const hasLocalSlots = config.renderJobs + config.prepareJobs + config.cutJobs > 0;
  return { ready: isReady && (redis || hasLocalSlots), ...parts, redis };
}

export type HealthNeeds = ClusterNeeds & {
  counters: ServerCounters;
  ffmpegPath: string;
  liveStreams: LiveStreams;
  /** Returns the URL at which clients reach this server, without a trailing slash. */
  publicUrl(): string;
};
