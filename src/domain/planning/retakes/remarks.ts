/** What is said between two takes: talk about the recording, or one more attempt. */

import { fromSeconds } from "../../time";
import { endsSentence } from "../tokens";
import { type RetakeContext, UNSURE } from "./repetition";

const NEXT_BEGINS = fromSeconds(0.5);
const UNCLEAR_WORDS = 4;
/** Longer talk between two takes is kept for an editor to see, whatever it says. */
const LONGEST_DROPPED_REMARK = 9;

const CUES =
  /\b(?:sorry|again|wait|oops|whoops|hold on|one (?:more|second|sec|moment)|let me|start over|start again|take (?:two|three|four|five)|from the top|redo|restart|scratch that|cut that|messed up|my bad|what was|where was|okay|ok|excuse me|pardon|damn|shit|fuck|ugh|argh|try that|do that|still recording|not good|i mean|that was)\b/;

/** Short talk about the recording: every phrase of it is tiny or sounds like such talk. */
export function isRemark({ tokens, words }: RetakeContext, between: readonly number[]): boolean {
  if (between.length > LONGEST_DROPPED_REMARK) return false;
  const phrases: string[][] = [];
  for (const [n, i] of between.entries()) {
    const before = between[n - 1];
    const apart =
      before === undefined ||
      tokens[i]!.start - tokens[before]!.end >= fromSeconds(0.3) ||
      endsSentence(words[tokens[before]!.word]!.text);
    if (apart) phrases.push([]);
    phrases[phrases.length - 1]!.push(tokens[i]!.normal);
  }
  const cued = phrases.map((phrase) => CUES.test(phrase.join(" ")));
  const last = between[between.length - 1]!;
  const next = tokens[last + 1];
  // What comes right before the take may be its first word.
  if (!cued[cued.length - 1] && next && next.start - tokens[last]!.end < NEXT_BEGINS) return false;
  return cued.includes(true) && phrases.every((phrase, i) => cued[i] || phrase.length <= 3);
}

/** A word or a few that the recogniser did not make out: one more attempt, most likely. */
export function isUnclear({ tokens, words }: RetakeContext, between: readonly number[]): boolean {
  const sum = between.reduce((total, i) => total + words[tokens[i]!.word]!.confidence, 0);
  return between.length <= UNCLEAR_WORDS && sum < UNSURE * between.length;
}
