/**
 * The keys that sign session tokens. A new one is created every 90 days; an old one verifies until the last token that
 * it may have signed has expired, so that rotation ends no session.
 */

import { newId, randomToken } from "../../lib/ids";
import type { Log } from "../../lib/log";

/** A stored key. Tokens name it by `kid`. `created_at` in milliseconds since 1970. */
export type SessionKey = { kid: string; secret: string; created_at: number };

const DAY_MS = 24 * 3600 * 1000;
const MAX_SIGNING_AGE_MS = 90 * DAY_MS;

/** Maximum age of a session since its sign-in. */
export const MAX_SESSION_AGE_MS = 180 * DAY_MS;

const SECRET_CHARACTERS = 43;

export const createSessionKey = (now: number): SessionKey => ({
  kid: newId(),
  secret: randomToken(SECRET_CHARACTERS),
  created_at: now,
});

/** Opens the stored keys, oldest first. `save` replaces the stored keys. */
export function openSessionKeys(
  stored: SessionKey[],
  services: { now(): number; log: Log; save(keys: SessionKey[]): Promise<void> },
) {
  const { now, log, save } = services;
  let keys = stored;
  let rotating: Promise<void> | null = null;

  /** A key that was replaced longer ago than the longest session has signed no valid token. */
  const isNeeded = (index: number, all: SessionKey[]): boolean => {
    const next = all[index + 1];
    return next === undefined || next.created_at + MAX_SESSION_AGE_MS > now();
  };

  async function rotate(): Promise<void> {
    const changed = [...keys, createSessionKey(now())].filter((_, index, all) => isNeeded(index, all));
    try {
      await save(changed);
      keys = changed;
      log.info("session_key.created", { keys: changed.length });
    } catch (error) {
      // The old key still signs.
      log.warn("session_key.not_stored", { error });
    }
  }

  return {
    /** Returns the key for new tokens. It is stored before it is used, so that a crash ends no session. */
    current: async () => {
      const newest = keys.at(-1);
      if (newest === undefined || newest.created_at + MAX_SIGNING_AGE_MS <= now()) {
        rotating ??= rotate().finally(() => {
          rotating = null;
        });
        await rotating;
      }
      const key = keys.at(-1);
      if (key === undefined) throw new Error("there is no key for session tokens");
      return key;
    },
    /** Returns the key that a token names, or null if no valid token can have been signed with it. */
    find: (kid: string) => keys.find((key, index) => key.kid === kid && isNeeded(index, keys)) ?? null,
  };
}

export type SessionKeys = ReturnType<typeof openSessionKeys>;
