/** Detects a decoder that repeats a phrase endlessly. */

/** Returns a number of tokens that exceeds the fastest speech of this duration. */
export const computeMaxTokens = (seconds: number): number => Math.max(8, Math.floor(seconds * 6.5 + 4));

/** The longest repeated phrase that is detected. */
const MAX_PHRASE_TOKENS = 12;

/** Returns how often a phrase must be repeated at the end to count as a loop: people also repeat short phrases. */
const getMinRepetitions = (length: number): number => (length === 1 ? 6 : length <= 3 ? 4 : 3) + 1;

/** Returns the length without the repetitions (the phrase stays once) if `tokens` ends in a loop, otherwise null. */
export function findLengthWithoutLoop(tokens: readonly number[]): number | null {
  for (let length = 1; length <= MAX_PHRASE_TOKENS; length++) {
    let repetitions = 1;
    while (isRepeated(tokens, length, repetitions)) repetitions++;
    if (repetitions >= getMinRepetitions(length)) return tokens.length - (repetitions - 1) * length;
  }
  return null;
}

/** Returns whether the phrase of `length` at the end also occurs `back` phrases before. */
function isRepeated(tokens: readonly number[], length: number, back: number): boolean {
  const end = tokens.length;
  if (end < (back + 1) * length) return false;
  for (let i = 1; i <= length; i++) if (tokens[end - i] !== tokens[end - back * length - i]) return false;
  return true;
}
