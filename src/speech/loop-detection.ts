/** Keeps a decoder that has lost the thread from repeating itself without end. */

/** Nobody speaks more tokens in a stretch of sound than this. */
export const computeMaxTokens = (seconds: number): number => Math.max(8, Math.floor(seconds * 6.5 + 4));

/** Longest repeated phrase that is looked for, in tokens. */
const MAX_PHRASE_TOKENS = 12;

/** How often a phrase must stand at the end in a row before it is taken for a loop: short ones are sometimes meant. */
const getMinRepetitions = (length: number): number => (length === 1 ? 6 : length <= 3 ? 4 : 3) + 1;

/** How many tokens to keep (one repetition) when the end of `tokens` is a loop, null when it is none. */
export function findLengthWithoutLoop(tokens: readonly number[]): number | null {
  for (let length = 1; length <= MAX_PHRASE_TOKENS; length++) {
    let repetitions = 1;
    while (isRepeated(tokens, length, repetitions)) repetitions++;
    if (repetitions >= getMinRepetitions(length)) return tokens.length - (repetitions - 1) * length;
  }
  return null;
}

/** Whether the phrase of `length` at the end also stands `back` phrases before it. */
function isRepeated(tokens: readonly number[], length: number, back: number): boolean {
  const end = tokens.length;
  if (end < (back + 1) * length) return false;
  for (let i = 1; i <= length; i++) if (tokens[end - i] !== tokens[end - back * length - i]) return false;
  return true;
}
