/** Word errors between what was said and what was heard. */

const NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

/** Words without case, punctuation and the spellings that mean the same. */
export const plainWords = (text: string): string[] =>
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

/** How many words must be put in, left out or replaced to get from one text to the other. */
export function wordErrors(said: string[], heard: string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, j) => j);
  for (const [i, word] of said.entries()) {
    const next = [i + 1];
    for (let j = 0; j < heard.length; j++)
      next.push(Math.min(row[j]! + (word === heard[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    row = next;
  }
  return row.at(-1)!;
}
