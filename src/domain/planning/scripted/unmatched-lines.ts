/** Lines that the path did not meet: said elsewhere, or said in other words. */

import { wordDistance } from "../../text/normal";
import { fromSeconds } from "../../time";
import type { Token } from "../tokens";
import { pauseBefore } from "../tokens";
import type { ConfirmedTake } from "./confirm-takes";
import type { LineCandidate } from "./line-candidates";
import { toWindow } from "./line-candidates";
import type { PartialAlignment } from "./rescue-lines";
import type { ScriptLine } from "./script-lines";
import type { ScriptedInput } from "./scripted-input";

/** Said out of order, a line must be long enough not to be met by chance. */
const LEAST_WORDS = 3;
const SENTENCE_PAUSE = fromSeconds(0.35);
/** Of the longer words of a line, so many must be heard in a paraphrase of it. */
const LEAST_SHARED = 2;
const LEAST_SHARE = 0.3;
/** Words that a recogniser, told the line, finds in the sound: at least so many, and fitting so well. */
const LEAST_SOUNDING = 3;
const SURELY_SAID = -1;
const SLACK = fromSeconds(0.1);

/** Fills in, for lines that were not met in order, the take that was recorded elsewhere. Result: the indices of those lines. */
export function addOutOfOrder(
  spoken: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  lines: readonly ScriptLine[],
): number[] {
  const added: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (spoken[index] || line.words.length < LEAST_WORDS) continue;
    const free = candidates[index]!.filter(
      (one) => one.complete && !spoken.some((take) => take && take.from < one.to && one.from < take.to),
    );
    const best = free.reduce<LineCandidate | null>((a, b) => (!a || b.quality >= a.quality - 0.1 ? b : a), null);
    if (!best) continue;
    const { from, to, pairs, score, window, alignment, quality } = best;
    spoken[index] = {
      line: index,
      from,
      to,
      pairs,
      score,
      skipped: [],
      window,
      mute: [],
      alignment,
      fitting: alignment !== null,
      quality,
      complete: true,
      review: null,
    };
    added.push(index);
  }
  return added;
}

/** Fills in, for lines that are still missing, what was said in their place when it is about the same. */
export function addParaphrases(
  spoken: (ConfirmedTake | null)[],
  partialAlignments: readonly PartialAlignment[],
  input: ScriptedInput,
): void {
  const { tokens, activity, lines } = input;
  for (const [index, line] of lines.entries()) {
    if (spoken[index] || line.optional) continue;
    const from = Math.max(0, ...spoken.slice(0, index).map((take) => take?.to ?? 0));
    const to = Math.min(tokens.length, ...spoken.slice(index + 1).map((take) => take?.from ?? tokens.length));
    const own = partialAlignments.filter((partial) => partial.line === index);
    let best: { range: TokenRange; share: number } | null = null;
    for (const range of splitAtPauses(tokens, from, to)) {
      const share = Math.max(sharedByText(line, tokens, range), sharedBySound(line, own, tokens, range));
      if (share >= LEAST_SHARE && isAsLong(line, range) && (!best || share >= best.share - 0.1))
        best = { range, share };
    }
    if (!best) continue;
    const take = { line: index, ...best.range, pairs: new Int32Array(line.words.length).fill(-1) };
    spoken[index] = {
      ...take,
      score: best.share,
      skipped: [],
      window: toWindow(take, tokens, activity),
      mute: [],
      alignment: null,
      fitting: false,
      quality: 0.5 * best.share,
      complete: true,
      review: "differs from the script",
    };
  }
}

type TokenRange = { from: number; to: number };

/** The heard words `[from, to)` in runs between longer pauses. */
function splitAtPauses(tokens: readonly Token[], from: number, to: number): TokenRange[] {
  const out: TokenRange[] = [];
  for (let j = from; j < to; j++) {
    const last = out.at(-1);
    if (last && pauseBefore(tokens, j) < SENTENCE_PAUSE) last.to = j + 1;
    else out.push({ from: j, to: j + 1 });
  }
  return out;
}

/** The share of the line's longer words that are heard in a run; 0 when it is a single one. */
function sharedByText(line: ScriptLine, tokens: readonly Token[], { from, to }: TokenRange): number {
  const long = [...new Set(line.words.filter((word) => word.length >= 4))];
  const said = tokens.slice(from, to);
  const count = long.filter((word) => said.some(({ normal }) => wordDistance(word, normal) <= 0.3)).length;
  return count < LEAST_SHARED ? 0 : count / long.length;
}

/** The share of the line's words that the sound of a run holds. */
function sharedBySound(
  line: ScriptLine,
  partialAlignments: readonly PartialAlignment[],
  tokens: readonly Token[],
  { from, to }: TokenRange,
): number {
  const [start, end] = [tokens[from]!.start, tokens[to - 1]!.end];
  const inside = ({ words }: PartialAlignment) =>
    words.filter((word) => word.logProb > SURELY_SAID && word.start >= start - SLACK && word.end <= end + SLACK);
  const counts = partialAlignments.map((partial) => inside(partial).length);
  const most = Math.max(0, ...counts);
  return most < LEAST_SOUNDING ? 0 : most / line.words.length;
}

function isAsLong(line: ScriptLine, { from, to }: TokenRange): boolean {
  const ratio = (to - from) / line.words.length;
  return ratio >= 0.4 && ratio <= 2.5;
}
