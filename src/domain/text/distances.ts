/** Distances from one word to all words of a long text, fast enough for hours of speech. */
import { measureWordDistance, toLetterSet } from "./normalize";

/** `row(word)[ids[j]]` is the distance between a word and word j of the text, which has `size` different words. */
export type DistanceTable = { ids: Int32Array; row: (word: string) => Float32Array; size: number };

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
  const words = [...index.keys()];
  const letters = Int32Array.from(words, toLetterSet);
  const rows = new Map<string, Float32Array>();
  const row = (word: string) => {
    const known = rows.get(word);
    if (known) return known;
    const own = toLetterSet(word);
    const made = new Float32Array(words.length);
    for (let i = 0; i < made.length; i++) made[i] = measureWordDistance(word, words[i]!, own, letters[i]!);
    rows.set(word, made);
    return made;
  };
  return { ids, row, size: words.length };
}
