/** Limits of a script, counted after normalization, which may turn one character into 18 characters and 4 words. */
import { normalizeWords } from "../../text/normalize";

/** In code points, before and after NFKC normalization. */
export const MAX_SCRIPT_CHARACTERS = 200_000;
export const MAX_SCRIPT_WORDS = 20_000;

/** Number of characters that are normalized at a time, so that counting can stop early. */
const BLOCK_CHARACTERS = 4096;

/** Returns the exceeded limit, such as `must have at most …`, or null. Cheap for scripts of any length. */
export function findScriptLimit(script: string): string | null {
  const tooLong = `must have at most ${MAX_SCRIPT_CHARACTERS} characters`;
  // A code point has at most two UTF-16 units.
  if (script.length > 2 * MAX_SCRIPT_CHARACTERS) return tooLong;
  let characters = 0;
  let normalized = 0;
  let words = 0;
  for (const block of splitBlocks(script)) {
    characters += countCharacters(block);
    normalized += countCharacters(block.normalize("NFKC"));
    if (characters > MAX_SCRIPT_CHARACTERS) return tooLong;
    if (normalized > MAX_SCRIPT_CHARACTERS) return `${tooLong} after Unicode normalization (NFKC)`;
    words += normalizeWords(block).length;
    if (words > MAX_SCRIPT_WORDS) return `must have at most ${MAX_SCRIPT_WORDS} words`;
  }
  return null;
}

/** Divides the script into blocks of about `BLOCK_CHARACTERS`, between lines, words, or else characters. */
function* splitBlocks(script: string): Generator<string> {
  for (let from = 0; from < script.length; ) {
    const to = findBlockEnd(script, from);
    yield script.slice(from, to);
    from = to;
  }
}

function findBlockEnd(script: string, from: number): number {
  const end = from + BLOCK_CHARACTERS;
  if (end >= script.length) return script.length;
  const block = script.slice(from, end);
  const space = Math.max(block.lastIndexOf("\n"), block.lastIndexOf(" "));
  if (space > 0) return from + space + 1;
  const splitsPair = /[\ud800-\udbff]/.test(script[end - 1]!);
  return splitsPair ? end - 1 : end;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
