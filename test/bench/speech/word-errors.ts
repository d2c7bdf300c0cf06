/** Counts word errors between a reference and a transcript. */

const NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

/** Splits a text into words without case and punctuation, and with one spelling for equivalent ones. */
export const normalizeWords = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/[’]/g, "'")
    .replace(/\bmr\b\.?/g, "mister")
    .replace(/\bst\./g, "saint")
    .replace(/\d+/g, (digits) => NUMBERS[Number(digits)] ?? digits)
    .replace(/[^a-z0-9' ]/g, " ")
    .replace(/colour/g, "color")
    .split(/\s+/)
    .filter((word) => word !== "");

/** Returns the number of inserted, deleted and substituted words (Levenshtein distance). */
export function countWordErrors(reference: string[], transcript: string[]): number {
  let row = Array.from({ length: transcript.length + 1 }, (_, j) => j);
  for (const [i, word] of reference.entries()) {
    const next = [i + 1];
    for (let j = 0; j < transcript.length; j++)
      next.push(Math.min(row[j]! + (word === transcript[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    row = next;
  }
  return row.at(-1)!;
}
