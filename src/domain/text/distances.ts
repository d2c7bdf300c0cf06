/** Distances from one word to all words of a long text, fast enough for hours of speech. */
import { measureWordDistance } from "./normalize";

/** `row(word)[ids[j]]` is the distance between a word and word j of the text, which has `size` different words. */
export type DistanceTable = { ids: Int32Array; row: (word: string) => Float32Array; size: number };

type WordEntry = { word: string; bag: Uint8Array };

const tables = new WeakMap<readonly { normal: string }[], DistanceTable>();

/** Returns the table of a text, which all stages share. Rows are computed on demand and cached. */
export function findDistanceTable(text: readonly { normal: string }[]): DistanceTable {
  const table = tables.get(text) ?? createDistanceTable(text.map(({ normal }) => normal));
  tables.set(text, table);
  return table;
}

function createDistanceTable(text: readonly string[]): DistanceTable {
  const index = new Map<string, number>();
  const ids = Int32Array.from(text, (word) => {
    const known = index.get(word);
    if (known !== undefined) return known;
    index.set(word, index.size);
    return index.size - 1;
  });
  const entries = [...index.keys()].map((word) => ({ word, bag: countLetters(word) }));
  const rows = new Map<string, Float32Array>();
  const row = (word: string) => {
    const known = rows.get(word);
    if (known) return known;
    const own = { word, bag: countLetters(word) };
    const made = new Float32Array(entries.length).fill(1);
    for (const [i, other] of entries.entries())
      if (canBeSimilar(own, other)) made[i] = measureWordDistance(word, other.word);
    rows.set(word, made);
    return made;
  };
  return { ids, row, size: entries.length };
}

function countLetters(word: string): Uint8Array {
  const bag = new Uint8Array(32);
  for (let i = 0; i < word.length; i++) bag[word.charCodeAt(i) & 31]!++;
  return bag;
}

/** Returns whether two words share enough letters to have a distance below 1. Cheap, and without false negatives. */
function canBeSimilar(a: WordEntry, b: WordEntry): boolean {
  const longest = Math.max(a.word.length, b.word.length);
  const most = longest / 2;
  if (Math.abs(a.word.length - b.word.length) > most) return false;
  let more = 0;
  let fewer = 0;
  for (let i = 0; i < 32; i++) {
    const difference = a.bag[i]! - b.bag[i]!;
    if (difference > 0) more += difference;
    else fewer -= difference;
  }
  return Math.max(more, fewer) <= most;
}
