/** Detects whether similar sentences differ in clearly recognized words, or one is only misspelled. */
import { isNumberWord } from "../../text/numbers";
import { alignWords } from "../../text/word-alignment";
import type { Token } from "../tokens";
import { isBrokenOffWord, MAX_SAME_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

/** A word with at least this confidence was recognized clearly. */
const SURE_CONFIDENCE = 0.9;
/** "Step one", "step two": numbers are rarely misrecognized. */
const SURE_NUMBER_CONFIDENCE = 0.6;
/** The last word of a phrase carries its meaning: "and her mother, and her brother". */
const SURE_ENDING_CONFIDENCE = 0.7;
const MAX_SAME_ENDING_DISTANCE = 0.2;
/** Among this many equal content words, a slightly different one was misrecognized. */
const MIN_MANY_EQUAL_WORDS = 6;
/** Number of words of the retake that are compared beyond the matching ones. */
const MAX_WORDS_BEYOND = 1;

/** Words that are easily confused, and whose difference has little meaning. */
const FUNCTION_WORDS = new Set(
  "a an the i we he she it they you my our your his her its this that these those and but or if of to in on at for from with by as is are was were be been so not do did does has have had will would can could there here im its lets".split(
    " ",
  ),
);

/** Returns whether a normalized word is a content word. */
export const isContentWord = (normal: string): boolean => !FUNCTION_WORDS.has(normal);

type ComparedRecording = Pick<RetakeContext, "tokens" | "words" | "distanceBetween">;
type ComparedTakes = Pick<Repetition, "from" | "end" | "retakeStart" | "matched" | "confirmedByAudio">;

/** Returns whether the take has a clearly recognized content word for which the retake has another one, or none. */
export function hasDifferentWords(
  { tokens, words, distanceBetween }: ComparedRecording,
  repetition: ComparedTakes,
): boolean {
  const { from, end, retakeStart, matched } = repetition;
  const take = tokens.slice(from, end);
  const retake = tokens.slice(retakeStart, retakeStart + matched + MAX_WORDS_BEYOND);
  const { pairs } = alignWords(toNormals(take), toNormals(retake), distanceBetween, true);
  const isSure = ({ normal, word }: Token, isEnding: boolean) => {
    const confidence = isEnding ? SURE_ENDING_CONFIDENCE : SURE_CONFIDENCE;
    return (
      isContentWord(normal) && words[word]!.confidence >= (isNumberWord(normal) ? SURE_NUMBER_CONFIDENCE : confidence)
    );
  };
  const last = pairs.findLastIndex((pair) => pair >= 0);
  let different = 0;
  let equal = 0;
  for (let i = 0; i <= last; i++) {
    const pair = pairs[i]!;
    const { normal } = take[i]!;
    const isLast = i === take.length - 1;
    const isEnding = isLast && !repetition.confirmedByAudio;
    const maxDistance = isEnding ? MAX_SAME_ENDING_DISTANCE : MAX_SAME_WORD_DISTANCE;
    const other = retake[pair]?.normal;
    const isSame =
      other !== undefined &&
      (distanceBetween(normal, other) <= maxDistance || (isLast && isBrokenOffWord(normal, other)));
    if (isSame && isContentWord(normal)) equal++;
    if (isSame || !isSure(take[i]!, isEnding)) continue;
    const instead = pair >= 0 ? [retake[pair]!] : listTokensInstead(pairs, i, retake);
    if (instead.some((token) => isSure(token, isEnding)))
      different += pair < 0 ? 2 : repetition.confirmedByAudio ? 0 : 1;
  }
  return different > (equal >= MIN_MANY_EQUAL_WORDS ? 1 : 0);
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
