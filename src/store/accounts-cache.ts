/** A cache of what follows from accounts, keys, sessions, workspaces and memberships: it is empty when they change. */
import type { Store } from "./db";

/** Creates a cache of at most `max` values. */
export function createAccountsCache<Value>(store: Pick<Store, "accountsRevision">, max: number) {
  const values = new Map<string, Value>();
  let revision = store.accountsRevision();

  /** Returns the cached value of a key, otherwise that of `read`. Null is not cached. */
  return async (key: string, read: () => Promise<Value | null>): Promise<Value | null> => {
    const before = store.accountsRevision();
    if (revision !== before || values.size >= max) values.clear();
    revision = before;
    const known = values.get(key);
    if (known !== undefined) return known;
    const found = await read();
    // The account that changed during the read may be this one.
    if (found !== null && before === store.accountsRevision()) values.set(key, found);
    return found;
  };
}
