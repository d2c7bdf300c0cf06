/** Distances from one word to all words of a long text, fast enough for hours of speech. */
import { measureWordDistance } from "./normalize";

/** `row(word)[ids[j]]` is the distance between a word and word j of the text. */
export type DistanceTable = { ids: Int32Array; row: (word: string) => Float32Array };

type WordEntry = { word: string; bag: Uint8Array };

/** Prepares a text. Rows are computed on demand and cached. */
export function createDistanceTable(text: readonly string[]): DistanceTable {
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
    const made = Float32Array.from(entries, (other) =>
      canBeSimilar(own, other) ? measureWordDistance(word, other.word) : 1,
    );
    rows.set(word, made);
    return made;
  };
  return { ids, row };
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
