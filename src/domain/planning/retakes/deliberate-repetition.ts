/** Phrases that are repeated on purpose, such as chants and refrains: "yes we can, yes we can". */
import { fromSeconds } from "../../time";
import { endsSentence, MIN_RESTART_PAUSE_TICKS, pauseBefore, type Token } from "../tokens";
import { isContentWord } from "./different-words";
import { MAX_SIMILAR_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

/** Speakers who replace a whole phrase pause for this long first. */
const MIN_RETAKE_PAUSE_TICKS = fromSeconds(0.3);
/** The items of a chant follow each other faster. */
const MAX_CHANT_PAUSE_TICKS = fromSeconds(0.5);
const MIN_CHANT_ITEMS = 3;
/** Maximum distance after the retake of a third sentence that starts alike. */
const MAX_ANAPHORA_WORDS = 30;
/** Number of words that show whether it continues like the retake. */
const MAX_CONTINUATION_WORDS = 3;
/** Maximum distance between occurrences of a refrain. */
const MAX_REFRAIN_WORDS = 300;
/** Complete phrases with at most this many words are repeated for emphasis: "thank you, thank you very much". */
const MAX_EMPHASIS_WORDS = 3;

const OPEN_WORDS = new Set(
  "a an the of to in on at for from with by as is are was were be am and but or nor if than my your his her its our their can could will would shall should may might must do does did has have had not that which who im its youre were theyre ill youll".split(
    " ",
  ),
);

/** Returns whether a normalized word never ends a phrase. */
export const isOpenWord = (normal: string): boolean => OPEN_WORDS.has(normal);

/** Returns whether both takes are complete, without the pause of a speaker who starts over. */
export function isDeliberate(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, words } = context;
  const { from, end, retakeStart, matched } = repetition;
  if (isChant(context, repetition)) return true;
  const size = end - from;
  if (size === 1) return false;
  if (closesPhrase(context, retakeStart + matched - 1))
    return size <= MAX_EMPHASIS_WORDS || pauseBefore(tokens, retakeStart) < MIN_RETAKE_PAUSE_TICKS;
  const last = tokens[end - 1]!;
  if (!endsSentence(words[last.word]!.text)) return false;
  return size <= MAX_EMPHASIS_WORDS ? !isOpenWord(last.normal) : isAnaphora(context, repetition);
}

/** Returns whether a third sentence starts alike: "We will win. We will win it all. We will win you." */
function isAnaphora(context: RetakeContext, { from, end, retakeStart, matched }: Repetition): boolean {
  const { tokens, phraseStarts, distanceBetween } = context;
  const next = retakeStart + matched;
  const until = Math.min(tokens.length, next + MAX_ANAPHORA_WORDS);
  let at = next + 1;
  while (at < until && !(phraseStarts[at] && isSame(tokens, at, from, end - from))) at++;
  if (at >= until) return false;
  const continuation = tokens.slice(next, Math.min(at, next + MAX_CONTINUATION_WORDS));
  return continuation.some(({ normal }, k) => {
    const other = tokens[at + end - from + k]?.normal;
    return other === undefined || distanceBetween(normal, other) > MAX_SIMILAR_WORD_DISTANCE;
  });
}

/** Returns whether a phrase ends after a token, with the sentence or before a pause. */
export function closesPhrase({ tokens, words }: RetakeContext, i: number): boolean {
  const next = tokens[i + 1];
  return !next || endsSentence(words[tokens[i]!.word]!.text) || next.start - tokens[i]!.end >= MIN_RETAKE_PAUSE_TICKS;
}

/** Returns whether the take is an item of a chant: the same words three times or more in quick succession. */
function isChant(context: RetakeContext, { from, end, retakeStart }: Repetition): boolean {
  const { tokens } = context;
  const size = retakeStart - from;
  const item = tokens.slice(from, end).find((token) => isContentWord(token.normal))?.normal;
  if (size !== end - from || item === undefined) return false;
  let first = from;
  let last = end - 1;
  while (first > 0 && tokens[first - 1]!.normal === tokens[first - 1 + size]!.normal) first--;
  while (tokens[last + size]?.normal === tokens[last]!.normal) last++;
  last += size - 1;
  if (tokens.slice(first, last + 1).filter((token) => token.normal === item).length < MIN_CHANT_ITEMS) return false;
  const pauses = tokens.slice(first, last + 1).flatMap((_, i) => (i === 0 ? [] : [pauseBefore(tokens, first + i)]));
  // Speakers who start over three times pause each time, and finally continue.
  const isFluent = pauses.every((pause) => pause < MIN_RESTART_PAUSE_TICKS);
  return isFluent || (closesPhrase(context, last) && pauses.every((pause) => pause < MAX_CHANT_PAUSE_TICKS));
}

/** Returns whether the take `[from, end)` occurs as often as a refrain in the words around it. */
export function isRefrain({ tokens }: RetakeContext, { from }: Repetition, end: number): boolean {
  const until = Math.min(tokens.length, from + MAX_REFRAIN_WORDS);
  let count = 0;
  for (let at = Math.max(0, from - MAX_REFRAIN_WORDS); at < until && count < MIN_CHANT_ITEMS; at++)
    if (isSame(tokens, at, from, end - from)) count++;
  return count >= MIN_CHANT_ITEMS;
}

function isSame(tokens: readonly Token[], a: number, b: number, size: number): boolean {
  for (let k = 0; k < size; k++) if (a < 0 || tokens[a + k]?.normal !== tokens[b + k]!.normal) return false;
  return true;
}

/** Returns whether tokens `[from, end)` repeat a shorter unit, whose own repetitions then decide. */
export function repeatsUnit(tokens: readonly Token[], from: number, end: number): boolean {
  const size = end - from;
  for (let unit = 1; 2 * unit <= size; unit++)
    if (size % unit === 0 && isSame(tokens, from + unit, from, size - unit)) return true;
  return false;
}
