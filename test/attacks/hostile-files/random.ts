/** A seeded source of random numbers: the same seed produces the same files on every machine. Pure. */

export type Random = {
  /** A whole number from 0 to `below - 1`. */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Uint8Array;
};

/** Creates a generator (mulberry32) from a 32-bit seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    pick: (items) => {
      if (items.length === 0) throw new Error("Cannot pick from an empty list.");
      return items[below(items.length)]!;
    },
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  };
}

/** A separate seed for each name, so that a new case does not change the others. */
export function seedOf(seed: number, name: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193) >>> 0;
  return hash;
}
