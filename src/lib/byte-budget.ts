/** Limits the number of bytes in memory at the same time, for each key and for all keys together. */

export function createByteBudget(limits: { maxBytes: number; maxBytesPerKey: number }) {
  const taken = new Map<string, number>();
  let total = 0;

  function change(key: string, by: number): void {
    total += by;
    const bytes = (taken.get(key) ?? 0) + by;
    if (bytes === 0) taken.delete(key);
    else taken.set(key, bytes);
  }

  return {
    /** Reserves bytes. Returns a function that releases them (once), or null if there is no room. */
    take: (key: string, bytes: number): (() => void) | null => {
      if (total + bytes > limits.maxBytes || (taken.get(key) ?? 0) + bytes > limits.maxBytesPerKey) return null;
      change(key, bytes);
      let isTaken = true;
      return () => {
        if (isTaken) change(key, -bytes);
        isTaken = false;
      };
    },
  };
}
