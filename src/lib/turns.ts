/** Remembers who was served longest ago, among the last 10,000. */

const MAX_SERVED = 10_000;

export function createTurns() {
  /** Sequence numbers, the smallest first. */
  const served = new Map<string, number>();
  let sequence = 0;
  return {
    /** Records that it is served now. */
    take: (key: string): void => {
      served.delete(key);
      served.set(key, ++sequence);
      if (served.size > MAX_SERVED) served.delete(served.keys().next().value!);
    },
    /** Orders those who were never served before others, then those who were served longest ago. */
    compare: (a: string, b: string): number => (served.get(a) ?? 0) - (served.get(b) ?? 0),
  };
}
