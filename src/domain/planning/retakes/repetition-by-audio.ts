/** Repetitions found by forced alignment, checked against clearly recognized words. */
import { fromSeconds } from "../../time";
import { pauseBefore, UNRECOGNIZED } from "../tokens";
import type { AcousticRepetition } from "./acoustic-repetitions";
import { isFragment } from "./broken-off-words";
import { isContentWord } from "./different-words";
import { MAX_SAME_WORD_DISTANCE, MAX_SIMILAR_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

/** Shorter audio after the last matching word belongs to that word. */
const MIN_TRAILING_TICKS = fromSeconds(0.3);
/** Words with this confidence are rarely misspelled, and this share of a take is not a coincidence. */
const SURE_CONFIDENCE = 0.8;
const MIN_SURE_SHARE = 0.3;
const MIN_SURE_WORDS = 2;
const MAX_UNCLEAR_CONFIDENCE = 0.45;
const MIN_PAUSE_TICKS = fromSeconds(0.3);
const SURE_ENDING_CONFIDENCE = 0.7;
/** After this number of matching words, a last word that does not match was misrecognized. */
const MIN_LONG_REPETITION_WORDS = 8;
const NEARBY_WORDS = 2;
/** After this number of matching words, the same word at the end is not a coincidence. */
const MIN_MATCH_BEFORE_SAME_ENDING = 4;

/** Converts an acoustic repetition; null if the words after the matching ones make it another sentence. */
export function toAudioRepetition(context: RetakeContext, acoustic: AcousticRepetition | undefined): Repetition | null {
  if (!acoustic) return null;
  const { from, retakeStart, end, matched, weak, alignment } = acoustic;
  const base = { from, retakeStart, end, matched, alignment };
  if (isUnclearWord(context, acoustic)) return { ...base, cost: 0, contradictedByAudio: false, confirmedByAudio: true };
  const contradictedByAudio = weak && hasSureOtherWords(context, acoustic);
  const repetition = { ...base, cost: 0.05 * matched, contradictedByAudio, confirmedByAudio: !weak };
  if (acoustic.trailing < MIN_TRAILING_TICKS)
    return hasOtherEnding(context, acoustic) ? { ...repetition, contradictedByAudio: true } : repetition;
  const last = context.tokens[end - 1]!.normal;
  const next = context.tokens.slice(retakeStart + matched, retakeStart + matched + NEARBY_WORDS);
  const isSameAsLast = ({ normal }: { normal: string }) =>
    context.distanceBetween(last, normal) <= MAX_SAME_WORD_DISTANCE;
  if (matched >= MIN_MATCH_BEFORE_SAME_ENDING && next.some(isSameAsLast)) return repetition;
  const left = Math.max(1, Math.min(end - from - 1, end - from - matched));
  if (left > 2) return null;
  return isFragment(context, { from: end - left, to: end }, repetition) ? repetition : null;
}

/** Returns whether the take is a single unclear word between pauses that aligned with the start of the next words. */
function isUnclearWord(
  { tokens, words, phraseStarts }: RetakeContext,
  { from, retakeStart, end, matched, weak }: AcousticRepetition,
): boolean {
  if (end - from !== 1 || !phraseStarts[from]) return false;
  if (pauseBefore(tokens, from) < MIN_PAUSE_TICKS || pauseBefore(tokens, end) < MIN_PAUSE_TICKS) return false;
  const { normal, word } = tokens[from]!;
  if (normal === UNRECOGNIZED || words[word]!.confidence >= MAX_UNCLEAR_CONFIDENCE) return false;
  return (matched >= 2 || !weak) && end <= retakeStart;
}

/** Returns whether the take ends with a clear word that is not a matching one: those were stretched over it. */
function hasOtherEnding(
  { tokens, words, distanceBetween }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const last = tokens[end - 1]!;
  if (end - from <= matched || matched >= MIN_LONG_REPETITION_WORDS) return false;
  if (tokens[retakeStart]!.normal === UNRECOGNIZED || !isContentWord(last.normal)) return false;
  if (words[last.word]!.confidence < SURE_ENDING_CONFIDENCE) return false;
  const matchEnd = retakeStart + matched;
  const nearby = tokens.slice(Math.max(retakeStart, matchEnd - NEARBY_WORDS), matchEnd + NEARBY_WORDS);
  return nearby.every((token) => distanceBetween(last.normal, token.normal) > MAX_SIMILAR_WORD_DISTANCE);
}

/** Returns whether the take has clearly recognized words that the retake lacks: other words, not misspelled ones. */
function hasSureOtherWords(
  { tokens, words, distanceBetween }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const retake = tokens.slice(retakeStart, retakeStart + matched + 1);
  const others: number[] = [];
  let at = 0;
  for (let i = from; i < end; i++) {
    const isSimilar = (normal: string) => distanceBetween(tokens[i]!.normal, normal) <= MAX_SIMILAR_WORD_DISTANCE;
    const found = retake.findIndex((token, k) => k >= at && k <= at + 1 && isSimilar(token.normal));
    if (found >= 0) at = found + 1;
    else others.push(words[tokens[i]!.word]!.confidence);
  }
  const sure = others.filter((confidence) => confidence >= SURE_CONFIDENCE).length;
  return sure >= MIN_SURE_WORDS && sure >= MIN_SURE_SHARE * (end - from);
}
