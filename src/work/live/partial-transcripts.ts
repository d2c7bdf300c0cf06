/**
 * Keeps in memory the words of recordings that are being transcribed, for people who wait. They are in no file and no
 * table: the transcript is stored when it is complete.
 */
import { MAX_PARTIAL_WORDS, type Word } from "../../domain/speech";
import { TICKS_PER_SECOND } from "../../domain/time";

/** More than anyone can say in a day. Words come from workers, too. */
const MAX_WORDS = 500_000;

/**
 * Words as columns, with times in milliseconds. `from` is the index of the first one. `run` changes when recognition
 * starts again.
 */
export type PartialTranscript = { run: number; from: number; text: string[]; start: number[]; end: number[] };

const toMilliseconds = (ticks: number): number => Math.round((ticks * 1_000) / TICKS_PER_SECOND);

export function createPartialTranscripts() {
  /** `missing`: number of words before the newest ones that have not arrived. */
  const runs = new Map<string, { run: number; words: Word[]; missing: number }>();
  /** Starts at the time, so that pages notice a restart of the server. */
  let lastRun = Date.now();
  return {
    /**
     * Adds the words from an index on. Index 0 starts another run. Words that did not arrive before them are left out.
     */
    add: (assetId: string, from: number, next: readonly Word[]): void => {
      const last = from === 0 ? undefined : runs.get(assetId);
      const known = last ?? { run: ++lastRun, words: [], missing: 0 };
      const missing = Math.min(from, Math.max(known.missing, from - known.words.length));
      const first = from - missing;
      if (first + next.length > MAX_WORDS) return;
      known.words.splice(first, known.words.length - first, ...next);
      runs.set(assetId, { ...known, missing });
    },
    /** Returns the next words from an index of a run on; those from 0 on if it is another run by now. */
    read: (assetId: string, run: number, from: number): PartialTranscript => {
      const known = runs.get(assetId) ?? { run: 0, words: [], missing: 0 };
      const first = run === known.run && from <= known.words.length ? from : 0;
      const next = known.words.slice(first, first + MAX_PARTIAL_WORDS);
      return {
        run: known.run,
        from: first,
        text: next.map(({ text }) => text),
        start: next.map(({ start }) => toMilliseconds(start)),
        end: next.map(({ end }) => toMilliseconds(end)),
      };
    },
    remove: (assetId: string): void => void runs.delete(assetId),
  };
}

export type PartialTranscripts = ReturnType<typeof createPartialTranscripts>;
