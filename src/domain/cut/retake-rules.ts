/** What a repetition in a talk is: a retake, or said twice on purpose. When in doubt it stays. */

import type { Word } from "../speech";
import { isNumberWord } from "../text/numbers";
import { fromSeconds } from "../time";
import { BREAK, endsPhrase, endsSentence, type HeardWord, pauseBefore } from "./heard";
import { saysOtherWords } from "./other-words";

/** What has been heard, and which of the heard words are gone already. */
export type Scene = {
  words: readonly Word[];
  heard: readonly HeardWord[];
  /** Whether a phrase begins at a heard word. */
  starts: readonly boolean[];
  gone: Uint8Array;
  near: (a: string, b: string) => number;
};

/**
 * The heard words `[from, end)` resemble the first `matched` words from `again` on; `cost` counts the differences. `contradicted`: the
 * sound says that a word in the midst of them differs.
 */
export type Repeat = { from: number; end: number; again: number; matched: number; cost: number; contradicted: boolean };

/** `to`: the words up to there go; `remark`: those from there to the later take as well. */
export type Judgement = "different" | "doubt" | { to: number; remark: boolean };

/** A recogniser is less sure than this of a word that was broken off. */
const UNSURE = 0.6;
/** So many words in common are not chance: what was said after them was a slip, when the later take goes on past it. */
const LONG_ATTEMPT = 6;
/** A repetition that is meant follows sooner. */
const REFRAIN_PAUSE = fromSeconds(0.25);
/** Pause in front of both takes when there is talk between them that is not about the recording. */
const APART = fromSeconds(0.3);
/** Words this near run on from the one before. */
const ATTACHED = fromSeconds(0.3);
const NEXT_BEGINS = fromSeconds(0.5);
const LONGEST_REMARK_WORDS = 12;
/** Longer talk between two takes is kept for an editor to see, whatever it says. */
const LONGEST_DROPPED_REMARK = 9;
const LONGEST_REMARK = fromSeconds(8);

const CUES =
  /\b(?:sorry|again|wait|oops|whoops|hold on|one (?:more|second|sec|moment)|let me|start over|start again|take (?:two|three|four|five)|from the top|redo|restart|scratch that|cut that|messed up|my bad|what was|where was|okay|ok|excuse me|pardon|damn|shit|fuck|ugh|argh|try that|do that|still recording|not good|i mean|that was)\b/;

/** Words that nobody says twice for emphasis. */
const STUTTERED = new Set(
  "a an the i we he she it they you my your our his her its their this these those and but or if of to in on at for from with as are was were be been when where while what which who how can could will would should must does did has have not because then there let im were".split(
    " ",
  ),
);

/** Decides on a repeat. */
export function judgeRepeat(scene: Scene, repeat: Repeat): Judgement {
  const between = untouched(scene.gone, repeat.end, repeat.again);
  if (isCounting(scene, repeat)) return "different";
  if (saysOtherWords(scene, repeat)) return "doubt";
  if (between.length > 0) return scene.starts[repeat.from] ? withTalkBetween(scene, repeat, between) : "different";
  if (!saidAtOnce(scene, repeat)) return "different";
  return isRefrain(scene, repeat) ? "doubt" : sureUnless(repeat);
}

const sureUnless = ({ contradicted, again, cost }: Repeat): Judgement =>
  contradicted && cost > 0 ? "doubt" : { to: again, remark: false };

/** "One, two, one, two": figures are said twice because they are there twice. */
function isCounting({ heard }: Scene, { from, end }: Repeat): boolean {
  return heard.slice(from, end).every((word) => isNumberWord(word.normal));
}

/** "Free at last, free at last": word for word, and without a pause. Who begins again stops first. */
function isRefrain({ heard, words }: Scene, { end, again, cost }: Repeat): boolean {
  if (cost >= 0.01 || heard[again]!.start - heard[end - 1]!.end >= REFRAIN_PAUSE) return false;
  return endsPhrase(words[heard[end - 1]!.word]!.text);
}

function untouched(gone: Uint8Array, from: number, to: number): number[] {
  const out: number[] = [];
  for (let i = from; i < to; i++) if (!gone[i]) out.push(i);
  return out;
}

/** The later take follows the attempt with nothing but pauses and other attempts between. */
function saidAtOnce(scene: Scene, repeat: Repeat): boolean {
  const { heard, words, starts } = scene;
  const { from, end, again, matched, cost } = repeat;
  const size = end - from;
  const pause = pauseBefore(heard, again);
  const exact = cost < 0.01;
  if (size === 1) return exact && singleWord(scene, from, again);
  if (!starts[from]) return exact && (pause >= BREAK || size >= 3);
  const goesOn = !endsSentence(words[heard[again + matched - 1]!.word]!.text);
  return size > 2 || (cost <= 0.31 && (pause >= BREAK || goesOn));
}

/** One word said twice: a stutter when nobody would say it twice on purpose, or when it stands alone before the sentence that it begins. */
function singleWord({ heard, words, starts }: Scene, from: number, again: number): boolean {
  if (again !== from + 1) return false;
  const pause = pauseBefore(heard, again);
  const { normal } = heard[from]!;
  if (pause > fromSeconds(2.5) || endsSentence(words[heard[again]!.word]!.text)) return false;
  if (STUTTERED.has(normal)) return true;
  return (
    starts[from] === true &&
    pauseBefore(heard, from) >= fromSeconds(0.3) &&
    pause >= fromSeconds(0.3) &&
    normal.length >= 5
  );
}

function withTalkBetween(scene: Scene, repeat: Repeat, between: readonly number[]): Judgement {
  const { heard } = scene;
  const slip = slipAfter(scene, repeat, between);
  if (slip === "other") return repeat.end - repeat.from >= 3 ? "doubt" : "different";
  const end = slip > 0 ? between[slip - 1]! + 1 : repeat.end;
  const first = between[slip];
  if (first === undefined) return sureUnless(repeat);
  const size = end - repeat.from;
  const apart = heard[first]!.start - heard[end - 1]!.end >= BREAK && pauseBefore(heard, repeat.again) >= BREAK;
  const rest = between.slice(slip);
  const long =
    rest.length > LONGEST_REMARK_WORDS || heard[repeat.again - 1]!.end - heard[first]!.start > LONGEST_REMARK;
  if (long || !apart || size < 3) return "different";
  const verdict = sureUnless(repeat);
  if (verdict === "doubt") return verdict;
  if (isRemark(scene, rest)) return { to: end, remark: true };
  if (size < 4 || repeat.cost > 0.15 * size) return "different";
  return isWholeAgain(scene, repeat, end) ? { to: end, remark: false } : "doubt";
}

/** Whether a whole sentence was said once more, apart from what is around it. Who asks again after an answer does so on purpose. */
function isWholeAgain({ heard, words }: Scene, { from, again, matched }: Repeat, end: number): boolean {
  const textAt = (i: number) => words[heard[i]!.word]!.text;
  const last = again + matched - 1;
  const next = heard[last + 1];
  const closes = !next || endsPhrase(textAt(last)) || next.start - heard[last]!.end >= BREAK;
  return (
    closes && !/[?？]/.test(textAt(end - 1)) && pauseBefore(heard, from) >= APART && pauseBefore(heard, again) >= APART
  );
}

/**
 * How many of the words between belong to the attempt: one or two that run on from it, do not match, and end at a pause. Broken off inside
 * a word when they resemble the beginning of that word, or the recogniser was not sure of them; `other` when the attempt may be a
 * sentence of its own that differs only there.
 */
function slipAfter(scene: Scene, repeat: Repeat, between: readonly number[]): number | "other" {
  const { heard, words } = scene;
  let count = 0;
  for (const i of between) {
    if (heard[i]!.start - heard[i - 1]!.end >= ATTACHED) break;
    count++;
  }
  const after = heard[(between[count - 1] ?? 0) + 1];
  if (count === 0) return 0;
  if (count > 2 || (after && after.start - heard[between[count - 1]!]!.end < BREAK)) return "other";
  const at = repeat.again + repeat.matched;
  const next = heard[at];
  if (!next || repeat.end - repeat.from < 2 || endsSentence(words[heard[at - 1]!.word]!.text)) return "other";
  const slipped = between.slice(0, count).map((i) => heard[i]!);
  if (isFragment(scene, slipped, next.normal, repeat.end - repeat.from)) return count;
  let more = 1;
  while (heard[at + more] && more <= count && !endsSentence(words[heard[at + more - 1]!.word]!.text)) more++;
  return repeat.end - repeat.from >= LONG_ATTEMPT && more > count ? count : "other";
}

/** Short talk about the recording: every phrase of it is tiny or sounds like such talk. */
export function isRemark({ heard, words }: Scene, between: readonly number[]): boolean {
  if (between.length > LONGEST_DROPPED_REMARK) return false;
  const phrases: string[][] = [];
  for (const [n, i] of between.entries()) {
    const before = between[n - 1];
    const apart =
      before === undefined ||
      heard[i]!.start - heard[before]!.end >= fromSeconds(0.3) ||
      endsSentence(words[heard[before]!.word]!.text);
    if (apart) phrases.push([]);
    phrases[phrases.length - 1]!.push(heard[i]!.normal);
  }
  const cued = phrases.map((phrase) => CUES.test(phrase.join(" ")));
  const last = between[between.length - 1]!;
  const next = heard[last + 1];
  // What comes right before the take may be its first word.
  if (!cued[cued.length - 1] && next && next.start - heard[last]!.end < NEXT_BEGINS) return false;
  return cued.includes(true) && phrases.every((phrase, i) => cued[i] || phrase.length <= 3);
}

/**
 * Whether the words after `matched` ones are the beginning of the word that should have come, or, after more than two that matched, nothing
 * that the recogniser was sure of.
 */
export function isFragment(
  { words, near }: Scene,
  pieces: readonly HeardWord[],
  whole: string,
  matched: number,
): boolean {
  const first = pieces[0]?.normal;
  if (first === undefined) return false;
  if (whole.startsWith(first) || (first.length >= 3 && whole.startsWith(first.slice(0, 3)))) return true;
  if (near(first, whole) <= 0.3) return true;
  return matched >= 3 && pieces.every((piece) => words[piece.word]!.confidence < UNSURE);
}
