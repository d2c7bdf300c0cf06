/**
 * Keeps in memory the words of recordings that are being transcribed, for people who wait. They are in no file and no table: the transcript is
 * stored when it is complete.
 */
import type { Word } from "../../domain/speech";
import { TICKS_PER_SECOND } from "../../domain/time";

/** More than anyone can say in a day. Words come from workers, too. */
const MAX_WORDS = 500_000;

/** Words as columns, with times in milliseconds. `from` is the index of the first one. */
export type PartialTranscript = { from: number; text: string[]; start: number[]; end: number[] };

const toMilliseconds = (ticks: number): number => Math.round((ticks * 1_000) / TICKS_PER_SECOND);

export function createPartialTranscripts() {
  const words = new Map<string, Word[]>();
  return {
    /** Adds the words from an index on. Index 0 starts again; words after a gap are ignored. */
    add: (assetId: string, from: number, next: readonly Word[]): void => {
      const known = from === 0 ? [] : (words.get(assetId) ?? []);
      if (from > known.length || from + next.length > MAX_WORDS) return;
      known.splice(from, known.length - from, ...next);
      words.set(assetId, known);
    },
    /** Returns the words from an index on; all words if there are not as many, because recognition has started again. */
    read: (assetId: string, from: number): PartialTranscript => {
      const known = words.get(assetId) ?? [];
      const first = from > known.length ? 0 : from;
      const next = known.slice(first);
      return {
        from: first,
        text: next.map(({ text }) => text),
        start: next.map(({ start }) => toMilliseconds(start)),
        end: next.map(({ end }) => toMilliseconds(end)),
      };
    },
    remove: (assetId: string): void => void words.delete(assetId),
  };
}

export type PartialTranscripts = ReturnType<typeof createPartialTranscripts>;
