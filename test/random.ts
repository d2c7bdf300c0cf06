/** Random numbers that a seed reproduces. */

/** A generator (mulberry32): returns an integer from 0 to `sides - 1`. */
export type Random = (sides: number) => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}
