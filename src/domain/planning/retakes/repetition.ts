/** What the rules about retakes look at. */

import type { Word } from "../../speech";
import type { Token } from "../tokens";

/** What has been heard, and which of the heard words are gone already. */
export type RetakeContext = {
  words: readonly Word[];
  tokens: readonly Token[];
  /** Whether a phrase begins at a heard word. */
  starts: readonly boolean[];
  removed: Uint8Array;
  distanceBetween: (a: string, b: string) => number;
};

/**
 * The heard words `[from, end)` resemble the first `matched` words from `again` on; `cost` counts the differences. `contradicted`: the
 * sound says that a word in the midst of them differs; `sounding`: that they are the same.
 */
export type Repetition = {
  from: number;
  end: number;
  retakeStart: number;
  matched: number;
  cost: number;
  contradictedByAudio: boolean;
  confirmedByAudio: boolean;
};

/** A recogniser is less sure than this of a word that was broken off. */
export const UNSURE = 0.6;
/** So many words in common are not chance: what was said after them was a slip, when the later take goes on past it. */
export const LONG_ATTEMPT = 6;

/** The heard words `[from, to)` that are not gone. */
export function listKept(removed: Uint8Array, from: number, to: number): number[] {
  const out: number[] = [];
  for (let i = from; i < to; i++) if (!removed[i]) out.push(i);
  return out;
}
