/** Classifies the words between two takes: a remark about the recording, or another unclear take. */
import { fromSeconds } from "../../time";
import { endsSentence } from "../tokens";
import { MIN_WORD_CONFIDENCE, type RetakeContext } from "./repetition";

/** Speech that ends less than this before the retake may be its first word. */
const MIN_PAUSE_BEFORE_RETAKE_TICKS = fromSeconds(0.5);
const MIN_PHRASE_PAUSE_TICKS = fromSeconds(0.3);
const MAX_UNCLEAR_WORDS = 4;
/** Longer talk between two takes is kept for review, regardless of its words. */
const MAX_REMARK_WORDS = 9;
/** Maximum length of a phrase without a cue in a remark. */
const MAX_WORDS_WITHOUT_CUE = 3;

const CUES =
  /\b(?:sorry|again|wait|oops|whoops|hold on|one (?:more|second|sec|moment)|let me|start over|start again|take (?:two|three|four|five)|from the top|redo|restart|scratch that|cut that|messed up|my bad|what was|where was|okay|ok|excuse me|pardon|damn|shit|fuck|ugh|argh|try that|do that|still recording|not good|i mean|that was)\b/;

/** Returns whether normalized words contain a word that is typical of a remark about the recording. */
export const hasRemarkCue = (text: string): boolean => CUES.test(text);

/** Returns whether tokens are a short remark about the recording: each phrase has a cue such as "sorry", or is tiny. */
export function isRemark({ tokens, words }: RetakeContext, between: readonly number[]): boolean {
  if (between.length > MAX_REMARK_WORDS) return false;
  const phrases: string[][] = [];
  for (const [n, i] of between.entries()) {
    const before = between[n - 1];
    const startsPhrase =
      before === undefined ||
      tokens[i]!.start - tokens[before]!.end >= MIN_PHRASE_PAUSE_TICKS ||
      endsSentence(words[tokens[before]!.word]!.text);
    if (startsPhrase) phrases.push([]);
    phrases[phrases.length - 1]!.push(tokens[i]!.normal);
  }
  const hasCue = phrases.map((phrase) => hasRemarkCue(phrase.join(" ")));
  const last = between[between.length - 1]!;
  const next = tokens[last + 1];
  const isAttached = next && next.start - tokens[last]!.end < MIN_PAUSE_BEFORE_RETAKE_TICKS;
  if (!hasCue[hasCue.length - 1] && isAttached) return false;
  return hasCue.includes(true) && phrases.every((phrase, i) => hasCue[i] || phrase.length <= MAX_WORDS_WITHOUT_CUE);
}

/** Returns whether tokens are a few words that the recognizer was unsure of: most likely another take. */
export function isUnclear({ tokens, words }: RetakeContext, between: readonly number[]): boolean {
  const sum = between.reduce((total, i) => total + words[tokens[i]!.word]!.confidence, 0);
  return between.length <= MAX_UNCLEAR_WORDS && sum < MIN_WORD_CONFIDENCE * between.length;
}
