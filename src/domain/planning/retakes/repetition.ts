/** A repetition: a range of tokens that resembles later tokens, and whether clearly recognized words differ. */

import type { Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import { isContentWord, type Lexicon } from "../lexicon/lexicon";
import type { RepetitionScores } from "../rules";
import { toShare } from "../spans";
import { COMMON, RETAKES } from "../thresholds";
import { pauseBefore, type Token } from "../tokens";

/** The input of the rules on retakes. `removed[i]` is 1 if token i is already removed. */
export type RetakeContext = {
  words: readonly Word[];
  tokens: readonly Token[];
  lexicon: Lexicon;
  /** Whether a phrase starts at each token. */
  phraseStarts: boolean[];
  removed: Uint8Array;
};

/**
 * Tokens `[from, end)` resemble the first `matched` tokens from `retakeStart` on; `cost` counts the differences.
 * `contradictedByAudio`: a word inside sounds different. `confirmedByAudio`: the words sound the same.
 * `hasOtherSpelling`: other words are other spellings, because the texts of both fit the audio of each. `alignment` is
 * the mean log probability of words found by forced alignment; null for a repetition found by text. `distance` is the
 * distance of the audio of both takes, if it was compared.
 */
export type Repetition = {
  from: number;
  end: number;
  retakeStart: number;
  matched: number;
  cost: number;
  contradictedByAudio: boolean;
  confirmedByAudio: boolean;
  hasOtherSpelling?: true;
  alignment: number | null;
  distance?: number | undefined;
};

/** Returns whether a normalized word is the beginning of another one that was interrupted. */
export const isBrokenOffWord = (word: string, whole: string): boolean =>
  word.length >= RETAKES.minPrefixCharacters && word !== whole && whole.startsWith(word);

/** Returns the tokens `[from, to)`. */
export const listTokens = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** Returns the tokens `[from, to)` that are not removed. */
export function listKept(removed: Uint8Array, from: number, to: number): number[] {
  const out: number[] = [];
  for (let i = from; i < to; i++) if (!removed[i]) out.push(i);
  return out;
}

/** Returns the scores that the rules for a repetition report. */
export function toScores(tokens: readonly Token[], repetition: Repetition): RepetitionScores {
  const { from, end, retakeStart, matched, cost, alignment, distance = cost / (end - from) } = repetition;
  const words = end - from;
  const similarity = alignment === null ? 1 - distance : matched / words;
  return {
    repeatedAt: tokens[retakeStart]!.start,
    pause: pauseBefore(tokens, retakeStart),
    words,
    similarity: toShare(similarity),
    alignment,
  };
}

/** What words are compared with. */
export type ComparedWords = Pick<RetakeContext, "words" | "lexicon">;
type ComparedRecording = ComparedWords & Pick<RetakeContext, "tokens">;
type ComparedTakes = Pick<Repetition, "from" | "end" | "retakeStart" | "matched" | "confirmedByAudio">;

/** Returns whether the take has a clearly recognized content word for which the retake has another one, or none. */
export function hasDifferentWords({ tokens, words, lexicon }: ComparedRecording, repetition: ComparedTakes): boolean {
  const { from, end, retakeStart, matched } = repetition;
  const take = tokens.slice(from, end);
  const retake = tokens.slice(retakeStart, retakeStart + matched + 1);
  const { pairs } = alignWords(toNormals(take), toNormals(retake), measureWordDistance, true);
  const isSure = ({ normal, word }: Token, isEnding: boolean) => {
    const confidence = isEnding ? COMMON.likelyWordConfidence : COMMON.sureWordConfidence;
    return isContentWord(normal, lexicon) && (lexicon.numberWords.has(normal) || words[word]!.confidence >= confidence);
  };
  const last = pairs.findLastIndex((pair) => pair >= 0);
  let different = 0;
  let equal = 0;
  for (let i = 0; i <= last; i++) {
    const pair = pairs[i]!;
    const { normal } = take[i]!;
    const isLast = i === take.length - 1;
    const isEnding = isLast && !repetition.confirmedByAudio;
    const maxDistance = isEnding ? RETAKES.maxSpellingDistance : RETAKES.maxSameWordDistance;
    const other = retake[pair]?.normal;
    const isSame =
      other !== undefined &&
      (measureWordDistance(normal, other) <= maxDistance || (isLast && isBrokenOffWord(normal, other)));
    if (isSame && isContentWord(normal, lexicon)) equal++;
    if (isSame || !isSure(take[i]!, isEnding)) continue;
    const instead = pair >= 0 ? [retake[pair]!] : listTokensInstead(pairs, i, retake);
    if (instead.some((token) => isSure(token, isEnding)))
      different += pair < 0 ? 2 : repetition.confirmedByAudio ? 0 : 1;
  }
  return different > (equal >= COMMON.manyWords ? 1 : 0);
}

/**
 * Returns whether more than a share of the words of a take are in its retake, without another word in place of a clear
 * one. The last word of the take must be in the retake, unless the recognizer was unsure of it.
 */
export function isSaidAgain(
  take: readonly Token[],
  retake: readonly Token[],
  share: number,
  recording: ComparedWords,
): boolean {
  const { words } = recording;
  const { pairs } = alignWords(toNormals(take), toNormals(retake), measureWordDistance, true);
  const last = take.at(-1)!;
  const endsAlike = pairs.at(-1)! >= 0 || words[last.word]!.confidence < COMMON.likelyWordConfidence;
  if (pairs.filter((pair) => pair >= 0).length <= share * take.length || !endsAlike) return false;
  const tokens = [...take, ...retake];
  const [end, matched] = [take.length, retake.length];
  return !hasDifferentWords(
    { ...recording, tokens },
    { from: 0, end, retakeStart: end, matched, confirmedByAudio: false },
  );
}

const toNormals = (tokens: readonly Token[]) => tokens.map((token) => token.normal);

/** Returns the tokens of the retake that replace an unpaired token of the take. */
function listTokensInstead(pairs: Int32Array, i: number, retake: readonly Token[]): Token[] {
  let before = i - 1;
  while (before >= 0 && pairs[before]! < 0) before--;
  let after = i + 1;
  while (after < pairs.length && pairs[after]! < 0) after++;
  return retake.slice(before < 0 ? 0 : pairs[before]! + 1, after < pairs.length ? pairs[after]! : retake.length);
}
