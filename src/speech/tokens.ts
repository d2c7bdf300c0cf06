/** Moonshine's tokens: SentencePiece pieces, in which `▁` marks the beginning of a word. */
import llama from "llama-tokenizer-js";

export const BEGIN_TOKEN = 1;
export const END_TOKEN = 2;
/** Ids below this are control tokens. */
const FIRST_TEXT_TOKEN = 3;

/** The tokens of a text, as the recogniser would give them. */
export const tokenize = (text: string): number[] => llama.encode(text, false, true);

/** The text of tokens; control tokens are left out, and the comma that the recogniser now and then writes twice is one. */
export const detokenize = (tokens: readonly number[]): string =>
  llama
    .decode(
      tokens.filter((t) => t >= FIRST_TEXT_TOKEN),
      false,
      false,
    )
    .replace(/,{2,}/g, ",")
    .trim();

/** Whether a token begins a word: its piece starts with the word mark. */
export const startsWord = (token: number): boolean => (llama.vocabById[token] ?? "").startsWith("▁");

/** Whether a token holds nothing but punctuation. */
export const isPunctuation = (token: number): boolean => /^▁?[^\p{L}\p{N}▁<]+$/u.test(llama.vocabById[token] ?? "");
