/** How long a script may be. Counted after normalization, which makes eighteen characters and four words of one. */
import { normalWords } from "../../text/normal";

/** Before and after NFKC normalization, in code points. */
export const MAX_SCRIPT_CHARACTERS = 200_000;
export const MAX_SCRIPT_WORDS = 20_000;

/** Normalized at once, so that counting stops early. */
const BLOCK_CHARACTERS = 4096;

/** Returns why the script is too long, as what it must be; null when it is not. Costs little, however long the script is. */
export function findScriptLimit(script: string): string | null {
  const tooLong = `must have at most ${MAX_SCRIPT_CHARACTERS} characters`;
  // A code point has at most two UTF-16 units.
  if (script.length > 2 * MAX_SCRIPT_CHARACTERS) return tooLong;
  let characters = 0;
  let normalized = 0;
  let words = 0;
  for (const block of blocks(script)) {
    characters += countCharacters(block);
    normalized += countCharacters(block.normalize("NFKC"));
    if (characters > MAX_SCRIPT_CHARACTERS) return tooLong;
    if (normalized > MAX_SCRIPT_CHARACTERS) return `${tooLong} after Unicode normalization (NFKC)`;
    words += normalWords(block).length;
    if (words > MAX_SCRIPT_WORDS) return `must have at most ${MAX_SCRIPT_WORDS} words`;
  }
  return null;
}

/** The script in parts of about `BLOCK_CHARACTERS`, divided between lines, else between words, else between characters. */
function* blocks(script: string): Generator<string> {
  for (let from = 0; from < script.length; ) {
    const to = blockEnd(script, from);
    yield script.slice(from, to);
    from = to;
  }
}

function blockEnd(script: string, from: number): number {
  const most = from + BLOCK_CHARACTERS;
  if (most >= script.length) return script.length;
  const block = script.slice(from, most);
  const space = Math.max(block.lastIndexOf("\n"), block.lastIndexOf(" "));
  if (space > 0) return from + space + 1;
  const isHalf = /[\ud800-\udbff]/.test(script[most - 1]!);
  return isHalf ? most - 1 : most;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
