/** A cache of values of different sizes that evicts the least recently used ones. */

/** Returns a cache that holds at most `maxBytes` of values. */
export function createByteCache<Value>(maxBytes: number) {
  /** Sorted by last use. */
  const entries = new Map<string, { value: Value; bytes: number }>();
  let total = 0;

  function remove(key: string): { value: Value; bytes: number } | undefined {
    const entry = entries.get(key);
    if (entry) total -= entry.bytes;
    entries.delete(key);
    return entry;
  }

  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    /** Stores a value that takes `bytes` bytes. A value larger than the cache is not stored. */
    set(key: string, value: Value, bytes: number): void {
      remove(key);
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) return;
        remove(oldest);
      }
    },
  };
}
