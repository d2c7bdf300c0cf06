/** Stage 9: lines that the path did not find, because they were recorded elsewhere or in other words. */
import { measureWordDistance } from "../../text/normalize";
import { fromSeconds } from "../../time";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import { type ConfirmedTake, differsFromScript } from "./confirm-takes";
import { type LineCandidate, toLineWindow } from "./line-candidates";
import type { PartialAlignment } from "./rescue-lines";
import type { ScriptLine } from "./script-lines";
import type { ScriptedRecording } from "./scripted-recording";

/** A shorter line may be found out of order by coincidence. */
const MIN_OUT_OF_ORDER_WORDS = 3;
/** Of several out-of-order takes, the last one wins unless its quality is lower by more than this. */
const MAX_QUALITY_LOSS = 0.1;
const MIN_SENTENCE_PAUSE_TICKS = fromSeconds(0.35);
/** A paraphrase has at least this number of the line's longer words, and this share of them. */
const MIN_SHARED_WORDS = 2;
const MIN_LONG_WORD_CHARACTERS = 4;
const MAX_SHARED_WORD_DISTANCE = 0.3;
const MIN_SHARED_SHARE = 0.3;
/** Or alignment finds this number of the line's words, each with at least this log probability. */
const MIN_ALIGNED_WORDS = 3;
const MIN_ALIGNED_WORD = -1;
const MAX_OUTSIDE_TICKS = fromSeconds(0.1);
/** Bounds of the number of words of a paraphrase, as a share of the line's. */
const MIN_LENGTH_RATIO = 0.4;
const MAX_LENGTH_RATIO = 2.5;
const PARAPHRASE_QUALITY_WEIGHT = 0.5;

/** Adds the takes of lines that were recorded out of order. Returns the indices of those lines. */
export function addOutOfOrder(
  takes: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  lines: readonly ScriptLine[],
): number[] {
  const added: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (takes[index] || line.words.length < MIN_OUT_OF_ORDER_WORDS) continue;
    const isFree = (one: LineCandidate) => !takes.some((take) => take && take.from < one.to && one.from < take.to);
    const free = candidates[index]!.filter((one) => one.complete && isFree(one));
    const best = free.reduce<LineCandidate | null>(
      (a, b) => (!a || b.quality >= a.quality - MAX_QUALITY_LOSS ? b : a),
      null,
    );
    if (!best) continue;
    const { from, to, pairs, score, window, alignment, quality } = best;
    const match = { line: index, from, to, pairs, score, skipped: [], differs: false, window, mute: [], alignment };
    takes[index] = { ...match, isAligned: alignment !== null, quality, complete: true, review: null };
    added.push(index);
  }
  return added;
}

/** Adds takes for missing lines from the words spoken in their place, if these are similar. */
export function addParaphrases(
  takes: (ConfirmedTake | null)[],
  partialAlignments: readonly PartialAlignment[],
  recording: ScriptedRecording,
): void {
  const { tokens, activity, lines } = recording;
  for (const [index, line] of lines.entries()) {
    if (takes[index] || line.optional) continue;
    const from = Math.max(0, ...takes.slice(0, index).map((take) => take?.to ?? 0));
    const to = Math.min(tokens.length, ...takes.slice(index + 1).map((take) => take?.from ?? tokens.length));
    const own = partialAlignments.filter((partial) => partial.line === index);
    let best: { range: TokenRange; share: number } | null = null;
    for (const range of splitAtPauses(tokens, from, to)) {
      const share = Math.max(textShare(line, tokens, range), audioShare(line, own, tokens, range));
      if (share < MIN_SHARED_SHARE || !isAboutAsLong(line, range)) continue;
      if (!best || share >= best.share - MAX_QUALITY_LOSS) best = { range, share };
    }
    if (!best) continue;
    takes[index] = {
      line: index,
      ...best.range,
      pairs: new Int32Array(line.words.length).fill(-1),
      score: best.share,
      skipped: [],
      differs: true,
      window: toLineWindow(best.range, tokens, activity),
      mute: [],
      alignment: null,
      isAligned: false,
      quality: PARAPHRASE_QUALITY_WEIGHT * best.share,
      complete: true,
      review: differsFromScript(line.text, best.share, null),
    };
  }
}

/** Divides the tokens `[from, to)` at longer pauses. */
function splitAtPauses(tokens: readonly Token[], from: number, to: number): TokenRange[] {
  const out: TokenRange[] = [];
  for (let j = from; j < to; j++) {
    const last = out.at(-1);
    if (last && pauseBefore(tokens, j) < MIN_SENTENCE_PAUSE_TICKS) last.to = j + 1;
    else out.push({ from: j, to: j + 1 });
  }
  return out;
}

/** Returns the share of the line's longer words in a range; 0 if only one is there. */
function textShare(line: ScriptLine, tokens: readonly Token[], { from, to }: TokenRange): number {
  const long = [...new Set(line.words.filter((word) => word.length >= MIN_LONG_WORD_CHARACTERS))];
  const said = tokens.slice(from, to);
  const isSaid = (word: string) =>
    said.some(({ normal }) => measureWordDistance(word, normal) <= MAX_SHARED_WORD_DISTANCE);
  const count = long.filter(isSaid).length;
  return count < MIN_SHARED_WORDS ? 0 : count / long.length;
}

/** Returns the share of the line's words that alignment finds in a range. */
function audioShare(
  line: ScriptLine,
  partialAlignments: readonly PartialAlignment[],
  tokens: readonly Token[],
  { from, to }: TokenRange,
): number {
  const start = tokens[from]!.start - MAX_OUTSIDE_TICKS;
  const end = tokens[to - 1]!.end + MAX_OUTSIDE_TICKS;
  const countInside = ({ words }: PartialAlignment) =>
    words.filter((word) => word.logProb > MIN_ALIGNED_WORD && word.start >= start && word.end <= end).length;
  const highest = Math.max(0, ...partialAlignments.map(countInside));
  return highest < MIN_ALIGNED_WORDS ? 0 : highest / line.words.length;
}

function isAboutAsLong(line: ScriptLine, { from, to }: TokenRange): boolean {
  const ratio = (to - from) / line.words.length;
  return ratio >= MIN_LENGTH_RATIO && ratio <= MAX_LENGTH_RATIO;
}
