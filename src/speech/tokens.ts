/** Moonshine's tokens: SentencePiece, where `▁` marks the beginning of a word. */
import llama from "llama-tokenizer-js";

export const BEGIN_TOKEN = 1;
export const END_TOKEN = 2;
const wordTokens = new Set(llama.vocabById);
/** IDs below this are control tokens. */
const FIRST_TEXT_TOKEN = 3;

/** Returns the tokens of a text, as the recognizer would emit them. */
export const tokenize = (text: string): number[] => llama.encode(text, false, true);

/** Returns the text of tokens, without control tokens. Merges double commas that the recognizer sometimes writes. */
export const detokenize = (tokens: readonly number[]): string =>
  llama
    .decode(
      tokens.filter((t) => t >= FIRST_TEXT_TOKEN),
      false,
      false,
    )
    .replace(/,{2,}/g, ",")
    .trim();

export const startsWord = (token: number): boolean => (llama.vocabById[token] ?? "").startsWith("▁");

export const isPunctuation = (token: number): boolean => /^▁?[^\p{L}\p{N}▁<]+$/u.test(llama.vocabById[token] ?? "");

/**
 * Returns whether the recognizer has a token of its own for a word in lower case: it does for some 9,000 frequent
 * words.
 */
export const isFrequentWord = (word: string): boolean => wordTokens.has(`▁${word}`);
