/** A verb repeated before its object: "getting getting one". Other words are repeated for emphasis. */
import { isNumberWord } from "../../text/numbers";
import { fromSeconds } from "../../time";
import { pauseBefore } from "../tokens";
import { closesPhrase } from "./deliberate-repetition";
import { isContentWord } from "./different-words";
import type { RetakeContext } from "./repetition";

const MAX_PAUSE_TICKS = fromSeconds(0.5);
/** With a vowel before the ending, unlike "king" and "thing". */
const VERB = /^[b-df-hj-np-tv-xz]*[aeiouy][a-z]*ing$/;
const NO_VERBS = new Set("something anything nothing everything morning evening".split(" "));

/** Returns whether the word at `retakeStart` continues the same verb at `from`, directly before it. */
export function isStutteredVerb(context: RetakeContext, from: number, retakeStart: number): boolean {
  const { tokens, words } = context;
  const { normal, word } = tokens[from]!;
  const object = tokens[retakeStart + 1];
  if (retakeStart !== from + 1 || !VERB.test(normal) || NO_VERBS.has(normal) || !object) return false;
  // "Going, going, gone."
  if (/\p{P}$/u.test(words[word]!.text) || object.normal === normal || tokens[from - 1]?.normal === normal)
    return false;
  if (pauseBefore(tokens, retakeStart) > MAX_PAUSE_TICKS || closesPhrase(context, retakeStart)) return false;
  return object.normal !== "and" && (!isContentWord(object.normal) || isNumberWord(object.normal));
}
