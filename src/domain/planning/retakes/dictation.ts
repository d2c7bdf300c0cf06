/** Digits, letters and counting: dictated content is repeated because it occurs twice. */
import { isNumberWord } from "../../text/numbers";
import { MAX_SAME_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

const MIN_NUMBER_SHARE = 0.6;
/** Distance within which neighbors show that a name is spelled or a number dictated, and how many of them must. */
const NEIGHBORHOOD_WORDS = 4;
const MIN_DICTATED_NEIGHBORS = 2;
/** Words that sound like digits, and that recognizers write instead. */
const DIGIT_HOMOPHONES = new Set(["to", "too", "for", "won", "ate", "oh"]);

/** Returns whether a token is the name of a letter. "a" and "I" are words. */
const isLetter = (normal: string): boolean => normal.length === 1 && normal !== "a" && normal !== "i";

/** Returns whether the repetition is a number, letters, or part of a dictated number or a spelled name. */
export function isDictation(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, distanceBetween } = context;
  const { from, end, retakeStart, matched } = repetition;
  const take = tokens.slice(from, end).map((token) => token.normal);
  if (take.every((normal) => isNumberWord(normal) || isLetter(normal))) return true;
  const neighbors = [
    ...tokens.slice(Math.max(0, from - NEIGHBORHOOD_WORDS), from),
    ...tokens.slice(retakeStart + matched, retakeStart + matched + NEIGHBORHOOD_WORDS),
  ].map((token) => token.normal);
  const count = (isDictated: (normal: string) => boolean) => neighbors.filter(isDictated).length;
  // A letter in a spelled name is often recognized as a short word.
  if (take.length === 1 && count(isLetter) >= MIN_DICTATED_NEIGHBORS) return true;
  const isDigit = (normal: string) => isNumberWord(normal) || DIGIT_HOMOPHONES.has(normal);
  if (take.every(isDigit) && count(isNumberWord) >= MIN_DICTATED_NEIGHBORS) return true;
  if (take.filter(isNumberWord).length < MIN_NUMBER_SHARE * take.length) return false;
  return distanceBetween(tokens[from]!.normal, tokens[retakeStart]!.normal) > MAX_SAME_WORD_DISTANCE;
}
