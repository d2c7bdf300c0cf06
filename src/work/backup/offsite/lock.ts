/**
 * Allows only one server at a time to write to a repository: pruning would delete blobs that another server has not
 * named yet.
 */
import { hostname } from "node:os";
import { conflict } from "../../../domain/errors";
import { sleep } from "../../../lib/sleep";
import type { Repository } from "./repository";

const LOCKS = "locks/";
const LOCK_PLACE = "lock";
const OWNER_CHARACTERS = 32;
const MAX_LOCK_BYTES = 4096;

export type LockTiming = { renewMs: number; lostMs: number; staleMs: number; attempts: number; delayMs: number };

/** A holder stops long before another server takes its lock, so that neither needs the clock of the other. */
const TIMING: LockTiming = {
  renewMs: 60_000,
  lostMs: 10 * 60_000,
  staleMs: 30 * 60_000,
  attempts: 4,
  delayMs: 5000,
};

/**
 * Locks a repository for the data folder at `root`; a lock that a killed process of the same folder left behind is
 * taken over. Ages are those that the bucket reports, because clocks of servers differ. Errors: `conflict` while
 * another server holds it; those of the bucket.
 */
export async function lockRepository(
  repository: Repository,
  root: string,
  signal: AbortSignal,
  timing: LockTiming = TIMING,
) {
  const { bucket, cipher } = repository;
  const owner = cipher.nameOf(Buffer.from(`${hostname()}:${root}`)).slice(0, OWNER_CHARACTERS);
  const key = LOCKS + owner;
  const body = cipher.encrypt(Buffer.from(JSON.stringify({ host: hostname(), folder: root })), LOCK_PLACE);
  for (let attempt = 1; ; attempt++) {
    await bucket.put(key, body, signal);
    const other = await findOther(repository, key, timing.staleMs, signal);
    if (other === null) break;
    await bucket.delete(key, signal);
    if (attempt === timing.attempts)
      throw conflict(
        `${await describeOwner(repository, other, signal)} is writing to ${bucket.url}. Try again later, and give each server its own prefix.`,
      );
    // Two servers that start at the same time notice each other: the delays differ.
    await sleep(timing.delayMs * (0.5 + Math.random() * attempt), signal);
  }
  let renewedAt = performance.now();
  let renewal = Promise.resolve();
  const renewing = setInterval(() => {
    const startedAt = performance.now();
    renewal = bucket.put(key, body, signal).then(
      () => {
        renewedAt = startedAt;
      },
      // `requireHeld` ends the work when no attempt succeeds.
      () => {},
    );
  }, timing.renewMs);
  return {
    /** Throws `conflict` if the lock was not renewed for so long that another server may have taken it. */
    requireHeld: () => {
      if (performance.now() - renewedAt > timing.lostMs)
        throw conflict(`The lock of ${bucket.url} could not be renewed.`);
    },
    release: async () => {
      clearInterval(renewing);
      // A renewal after the deletion would block other servers.
      await renewal;
      // Deleted after an abort too: otherwise the folder would wait for its own lock on another host. A lock that
      // remains becomes stale.
      await bucket.delete(key, AbortSignal.timeout(RELEASE_MS)).catch(() => {});
    },
  };
}

export type RepositoryLock = Awaited<ReturnType<typeof lockRepository>>;

const RELEASE_MS = 5000;

/** Returns the key of the lock of another owner that is not stale. */
async function findOther(
  { bucket }: Repository,
  own: string,
  staleMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const locks = [];
  for await (const lock of bucket.list(LOCKS, signal)) locks.push(lock);
  const now = locks.find(({ key }) => key === own)?.modified_at ?? Number.NaN;
  // If our lock is not in the list, its time is unknown, and every lock counts.
  return locks.find(({ key, modified_at }) => key !== own && !(modified_at < now - staleMs))?.key ?? null;
}

async function describeOwner({ bucket, cipher }: Repository, key: string, signal: AbortSignal): Promise<string> {
  const object = await bucket.get(key, MAX_LOCK_BYTES, signal);
  const content = object === null ? null : cipher.decrypt(object, LOCK_PLACE);
  if (content === null) return "Another server";
  const { host, folder } = JSON.parse(Buffer.from(content).toString()) as Record<string, string>;
  return `Server ${host} (${folder})`;
}
