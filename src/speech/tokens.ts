/** Moonshine's tokens: SentencePiece, where `▁` marks the beginning of a word. */
import type { LlamaTokenizer } from "llama-tokenizer-js";

export const BEGIN_TOKEN = 1;
export const END_TOKEN = 2;
/** IDs below this are control tokens. */
const FIRST_TEXT_TOKEN = 3;

let tokenizer: LlamaTokenizer | null = null;

/** Returns the tokenizer. Loading it takes 50 ms, and the second recognizer does not need it. */
export function getTokenizer(): LlamaTokenizer {
  tokenizer ??= (require("llama-tokenizer-js") as typeof import("llama-tokenizer-js")).default;
  return tokenizer;
}

let wordTokens: Set<string> | null = null;

/** Returns the tokens of a text, as the recognizer would emit them. */
export const tokenize = (text: string): number[] => getTokenizer().encode(text, false, true);

/** Returns the text of tokens, without control tokens. Merges double commas that the recognizer sometimes writes. */
export const detokenize = (tokens: readonly number[]): string =>
  getTokenizer()
    .decode(
      tokens.filter((t) => t >= FIRST_TEXT_TOKEN),
      false,
      false,
    )
    .replace(/,{2,}/g, ",")
    .trim();

export const startsWord = (token: number): boolean => (getTokenizer().vocabById[token] ?? "").startsWith("▁");

export const isPunctuation = (token: number): boolean =>
  /^▁?[^\p{L}\p{N}▁<]+$/u.test(getTokenizer().vocabById[token] ?? "");

/**
 * Returns whether the recognizer has a token of its own for a word in lower case: it does for some 9,000 frequent
 * words.
 */
export function isFrequentWord(word: string): boolean {
  wordTokens ??= new Set(getTokenizer().vocabById);
  return wordTokens.has(`▁${word}`);
}
