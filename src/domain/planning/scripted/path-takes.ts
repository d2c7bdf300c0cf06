/** Lists the take of each line along the script's path. */

import type { Span } from "../../time";
import { isFillerText } from "../lexicon/lexicon";
import { COMMON, SCRIPT } from "../thresholds";
import type { Token, TokenRange } from "../tokens";
import { listRanges, type SettledPath } from "./differing-words";
import type { ScriptPath } from "./find-path";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/**
 * A line on the path: tokens `[from, to)`, except for those in `skipped`. `score` is the share of the line's words
 * found. `differs`: some of its words are said in place of words of the line.
 */
export type PathTake = {
  line: number;
  from: number;
  to: number;
  pairs: Int32Array;
  score: number;
  skipped: TokenRange[];
  differs: boolean;
};

/**
 * Returns the path with one or two tokens kept that follow a kept one fluently, and with clearly recognized ones that
 * are nearer to it than to what is beyond them. `repeated[j]` is 1 for immediately repeated tokens, which stay skipped.
 */
export function withAdjacentTokens(path: ScriptPath, recording: ScriptedRecording, repeated: Uint8Array): ScriptPath {
  const { tokens, words, lexicon } = recording;
  const kept = path.kept.slice();
  const isClear = ({ word }: Token) =>
    words[word]!.confidence >= COMMON.minWordConfidence && !isFillerText(words[word]!.text, lexicon);
  for (let j = 0; j < tokens.length; j++) {
    if (!path.kept[j]) continue;
    for (const step of [-1, 1]) {
      const adjacent: number[] = [];
      let at = j + step;
      let widest = 0;
      while (adjacent.length <= COMMON.maxSlipWords && tokens[at] && !kept[at]) {
        const gap = gapBetween(tokens, at, at - step);
        if (gap >= SCRIPT.minSentencePause || (gap >= COMMON.maxFluentGap && !isClear(tokens[at]!))) break;
        widest = Math.max(widest, gap);
        adjacent.push(at);
        at += step;
      }
      const isNearer =
        widest < COMMON.maxFluentGap || !tokens[at] || kept[at] || gapBetween(tokens, at, at - step) > widest;
      const isMisrecognized = adjacent.length <= COMMON.maxSlipWords;
      if (isMisrecognized && isNearer && adjacent.every((k) => !repeated[k])) for (const k of adjacent) kept[k] = 1;
    }
  }
  return { pairs: path.pairs, kept };
}

const gapBetween = (tokens: readonly Token[], a: number, b: number) =>
  a < b ? tokens[b]!.start - tokens[a]!.end : tokens[a]!.start - tokens[b]!.end;

/** Returns the takes along a path; null for a line without a matched word. */
export function listPathTakes(
  lines: readonly ScriptLine[],
  path: ScriptPath | SettledPath,
  tokens: readonly Token[],
): (PathTake | null)[] {
  const isDiffering = (j: number) => "differing" in path && path.differing[j] === 1;
  let at = 0;
  let taken = 0;
  return lines.map((line, index) => {
    const pairs = path.pairs.slice(at, at + line.words.length);
    at += line.words.length;
    const used = pairs.filter((token) => token >= 0);
    if (used.length === 0) return null;
    let from = used[0]!;
    while (from > taken && path.kept[from - 1]) from--;
    const next = path.pairs.subarray(at).find((token) => token >= 0) ?? path.kept.length;
    const to = findExtrasEnd(path, tokens, used[used.length - 1]! + 1, next);
    taken = to;
    const skipped = listRanges(path.kept, 0, { from, to });
    let extra = 0;
    let differs = false;
    for (let j = from; j < to; j++) {
      if (!path.kept[j]) continue;
      if (isDiffering(j)) differs = true;
      else if (!used.includes(j)) extra++;
    }
    const score = (used.length - SCRIPT.insideLineCost * extra) / line.words.length;
    return { line: index, from, to, pairs, score, skipped, differs };
  });
}

/** Returns where kept tokens after a line's last one stop belonging to it: at a gap, or at the longest pause. */
function findExtrasEnd(path: ScriptPath, tokens: readonly Token[], to: number, next: number): number {
  let end = to;
  while (end < next && path.kept[end]) end++;
  if (end < next || next === tokens.length) return end;
  let best = to;
  for (let j = to; j <= end; j++) if (gapBetween(tokens, j - 1, j) > gapBetween(tokens, best - 1, best)) best = j;
  return best;
}

/** Returns the audio of skipped tokens: up to half of the silence to the adjacent kept tokens. */
export function toSkippedSpan(range: TokenRange, tokens: readonly Token[]): Span {
  const before = tokens[range.from - 1]?.end ?? 0;
  const after = tokens[range.to]?.start ?? tokens[range.to - 1]!.end;
  const start = tokens[range.from]!.start;
  const end = tokens[range.to - 1]!.end;
  return {
    start: Math.round(Math.max(before, start - Math.max(0, start - before) / 2)),
    end: Math.round(Math.min(Math.max(after, end), end + Math.max(0, after - end) / 2)),
  };
}
