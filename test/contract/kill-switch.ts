/**
 * A store that a test can kill at any write, as `kill -9` would: nothing that was not committed remains, and the caller
 * learns nothing.
 */
import { openStore, type Store } from "../../src/store/db";

/** Thrown by every call of a killed store, also when the write before was committed. */
export class Killed extends Error {
  constructor() {
    super("killed");
    this.name = "Killed";
  }
}

export type KillableStore = {
  store: Store;
  /** Kills the store at the write after `writes` more: before it begins, or after it is committed. */
  arm(writes: number, moment: "before" | "after"): void;
  disarm(): void;
  isAlive(): boolean;
  /** Opens the database again, disarmed. */
  restart(): Promise<void>;
};

/** Opens the database file at `path`. */
export async function openKillableStore(path: string): Promise<KillableStore> {
  let inner = await openStore(path);
  let armed: { writes: number; moment: "before" | "after" } | null = null;
  let isDead = false;

  function requireAlive(): void {
    if (isDead) throw new Killed();
  }
  function strike(moment: "before" | "after"): void {
    if (armed === null || armed.writes > 0 || armed.moment !== moment) return;
    isDead = true;
    throw new Killed();
  }

  const store: Store = {
    get read() {
      requireAlive();
      return inner.read;
    },
    write: async (work) => {
      requireAlive();
      strike("before");
      const result = await inner.write(work);
      strike("after");
      if (armed) armed.writes--;
      return result;
    },
    onCommit: (listener) => inner.onCommit(listener),
    accountsRevision: () => inner.accountsRevision(),
    copyTo: (target) => inner.copyTo(target),
    isAlive: () => inner.isAlive(),
    findDamage: inner.findDamage,
    reportDamage: inner.reportDamage,
    onDamage: inner.onDamage,
    close: () => inner.close(),
  };
  return {
    store,
    arm: (writes, moment) => {
      armed = { writes, moment };
    },
    disarm: () => {
      armed = null;
    },
    isAlive: () => !isDead,
    restart: async () => {
      await inner.close();
      inner = await openStore(path);
      armed = null;
      isDead = false;
    },
  };
}
