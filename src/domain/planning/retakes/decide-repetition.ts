/** What a repetition in a talk is: a retake, or said twice on purpose. When in doubt it stays. */

import { isNumberWord } from "../../text/numbers";
import { fromSeconds } from "../../time";
import { BREAK, endsPhrase, endsSentence, pauseBefore } from "../tokens";
import { isFragment } from "./broken-off-words";
import { saysOtherWords } from "./different-words";
import { isRemark, isUnclear } from "./remarks";
import { LONG_ATTEMPT, type Repeat, type Scene, untouched } from "./repetition";

/** `to`: the words up to there go; `rest`: what those from there to the later take are, of which only what is kept stays. */
export type Judgement = "different" | "doubt" | { to: number; rest: "kept" | "remark" | "attempt" };

/** Pause in front of both takes when there is talk between them that is not about the recording. */
const APART = fromSeconds(0.3);
const LONG_PAUSE = fromSeconds(0.6);
/** Words this near run on from the one before. */
const ATTACHED = fromSeconds(0.3);
const SHORT_ATTEMPT = 3;
const MOSTLY = 0.6;
const LONGEST_REMARK_WORDS = 12;
const LONGEST_REMARK = fromSeconds(8);

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
  return sureUnless(repeat);
}

const sureUnless = ({ contradicted, again, cost }: Repeat): Judgement =>
  contradicted && cost > 0 ? "doubt" : { to: again, rest: "kept" };

/** "One, two, one, two": figures are said twice because they are there twice. So are those of a number that is given once more. */
function isCounting({ heard, near }: Scene, { from, end, again }: Repeat): boolean {
  const figures = heard.slice(from, end).filter((word) => isNumberWord(word.normal)).length;
  if (figures === end - from) return true;
  return figures >= MOSTLY * (end - from) && near(heard[from]!.normal, heard[again]!.normal) > 0.3;
}

/** The later take follows the attempt with nothing but pauses and other attempts between. */
function saidAtOnce(scene: Scene, repeat: Repeat): boolean {
  const { heard, words, starts } = scene;
  const { from, end, again, matched, cost } = repeat;
  const size = end - from;
  const pause = pauseBefore(heard, again);
  const exact = cost < 0.01;
  if (size === 1)
    return exact && (matched > 1 || heard[from]!.normal !== heard[again]!.normal || singleWord(scene, from, again));
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
  if (isRemark(scene, rest)) return { to: end, rest: "remark" };
  if (rest.length < size && isOneMoreAttempt(scene, repeat, rest)) return { to: end, rest: "attempt" };
  if (size < 4 || repeat.cost > 0.2 * size) return "different";
  // A list goes on with the same word each time.
  if (heard[first]!.normal === heard[repeat.from]!.normal && !isUnclear(scene, rest)) return "doubt";
  const sure = isWholeAgain(scene, repeat, end) || isUnclear(scene, rest) || joins(scene, rest);
  return sure ? { to: end, rest: "kept" } : "doubt";
}

/** Between two takes of a line a word or a few that begin like it: it was begun three times, and the second time it was misheard. */
function isOneMoreAttempt({ heard, near }: Scene, { again }: Repeat, between: readonly number[]): boolean {
  return between.length <= SHORT_ATTEMPT && near(heard[between[0]!]!.normal, heard[again]!.normal) <= 0.3;
}

/** A single "and" in front of the later take belongs to it. */
const joins = ({ heard }: Scene, between: readonly number[]): boolean =>
  between.length === 1 && STUTTERED.has(heard[between[0]!]!.normal);

/** Whether a whole sentence was said once more, apart from what is around it. Who asks again after an answer does so on purpose. */
function isWholeAgain({ heard, words }: Scene, { from, again, matched }: Repeat, end: number): boolean {
  const textAt = (i: number) => words[heard[i]!.word]!.text;
  const closes = [-1, 0, 1, 2].some((off) => {
    const last = Math.max(again, again + matched - 1 + off);
    const next = heard[last + 1];
    return !next || endsPhrase(textAt(last)) || next.start - heard[last]!.end >= BREAK;
  });
  const begins = (i: number) => {
    const pause = pauseBefore(heard, i);
    return pause >= APART && (i === 0 || pause >= LONG_PAUSE || endsSentence(textAt(i - 1)));
  };
  return closes && !/[?？]/.test(textAt(end - 1)) && begins(from) && begins(again);
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
  const slipped = { from: between[0]!, to: between[count - 1]! + 1 };
  if (isFragment(scene, slipped, repeat)) return count;
  let more = 1;
  while (heard[at + more] && more <= count && !endsSentence(words[heard[at + more - 1]!.word]!.text)) more++;
  return repeat.end - repeat.from >= LONG_ATTEMPT && more > count ? count : "other";
}
