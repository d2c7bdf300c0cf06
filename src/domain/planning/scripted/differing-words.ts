/** Stage 7: keeps words that were said once in place of words of the script, which differs there from the speech. */

import { createDistanceCache } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import { createYieldCounter, type PlanSteps } from "../context";
import { hasRemarkCue, isFillerText } from "../lexicon/lexicon";
import { COMMON } from "../thresholds";
import { type Token, type TokenRange, UNRECOGNIZED } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { ScriptedRecording, ScriptLine } from "./script-lines";
import { SCRIPT } from "./thresholds";

/** The input for finding new words. `repeated[j]` is 1 if token j is repeated immediately. */
type Context = ScriptedRecording & {
  path: Pick<ScriptPath, "kept">;
  repeated: Uint8Array;
  isYieldDue: (cells: number) => boolean;
};

/** `differing[j]` is 1 if token j is kept in place of words of the script. */
export type SettledPath = ScriptPath & { differing: Uint8Array };

/** Returns the path with those words kept. */
export function* keepDifferingWords(
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
): PlanSteps<SettledPath> {
  const isYieldDue = createYieldCounter();
  const { lines, tokens } = recording;
  const differing = path.differing.slice();
  const lostBetween = createLostCounter(path, lines);
  for (const run of listSkippedRuns(path.kept)) {
    const lost = lostBetween(run);
    if (lost <= 0) continue;
    const phrases = yield* listNewPhrases(run, { ...recording, path, repeated, isYieldDue });
    const isNext = ({ from, to }: TokenRange) =>
      (from === run.from && isAttached(tokens, from)) || (to === run.to && isAttached(tokens, to));
    const isInside = run.from > 0 && run.to < tokens.length;
    const separate = phrases.filter((phrase) => !isNext(phrase));
    const isEnough = isInside && lost >= SCRIPT.minLostWords;
    let left = SCRIPT.maxWordsRatio * lost;
    // The last of several phrases are kept, because they were said last.
    for (const phrase of [...phrases.filter(isNext), ...(isEnough ? separate.reverse() : [])]) {
      left -= countTokens(phrase);
      if (left >= 0) differing.fill(1, phrase.from, phrase.to);
    }
  }
  const kept = path.kept.map((isKept, j) => isKept || differing[j]!);
  return { pairs: path.pairs, kept, differing };
}

const countTokens = ({ from, to }: TokenRange) => to - from;

/** Returns whether a token follows another one without a pause. */
const isAttached = (tokens: readonly Token[], j: number) =>
  j > 0 && j < tokens.length && tokens[j]!.start - tokens[j - 1]!.end < COMMON.maxFluentGap;

/** Returns the maximal ranges of tokens that are not kept. */
function listSkippedRuns(kept: Uint8Array): TokenRange[] {
  const out: TokenRange[] = [];
  for (let j = 0; j < kept.length; j++) {
    if (kept[j]) continue;
    const last = out.at(-1);
    if (last && last.to === j) last.to = j + 1;
    else out.push({ from: j, to: j + 1 });
  }
  return out;
}

/** Returns a function that counts the script's words that were not found between the kept words around a run. */
function createLostCounter({ pairs, kept }: ScriptPath, lines: readonly ScriptLine[]): (run: TokenRange) => number {
  const isOptional = lines.flatMap(({ words, optional }) => words.map(() => optional));
  // The number of lost words before each script word, and the number of script words before each token.
  const lostBefore = new Int32Array(pairs.length + 1);
  const wordsBefore = new Int32Array(kept.length + 1).fill(-1);
  const wordsAfter = new Int32Array(kept.length + 1).fill(-1);
  for (const [k, token] of pairs.entries()) {
    lostBefore[k + 1] = lostBefore[k]! + (token < 0 && !isOptional[k] ? 1 : 0);
    if (token >= 0) {
      wordsBefore[token + 1] = k + 1;
      wordsAfter[token] = k;
    }
  }
  wordsBefore[0] = 0;
  wordsAfter[kept.length] = pairs.length;
  for (let j = 1; j <= kept.length; j++) if (wordsBefore[j]! < 0) wordsBefore[j] = wordsBefore[j - 1]!;
  for (let j = kept.length - 1; j >= 0; j--) if (wordsAfter[j]! < 0) wordsAfter[j] = wordsAfter[j + 1]!;
  return ({ from, to }) => lostBefore[wordsAfter[to]!]! - lostBefore[wordsBefore[from]!]!;
}

/** Returns the phrases of a run that are neither fillers, nor a remark about the recording, nor repeated. */
export function* listNewPhrases(run: TokenRange, context: Context): PlanSteps<TokenRange[]> {
  const { tokens, words, lexicon, repeated } = context;
  const phrases: TokenRange[] = [];
  for (let j = run.from; j < run.to; j++) {
    const token = tokens[j]!;
    if (repeated[j] || token.normal === UNRECOGNIZED || isFillerText(words[token.word]!.text, lexicon)) continue;
    const last = phrases.at(-1);
    const continues = last && last.to === j && token.start - tokens[j - 1]!.end < COMMON.minPause;
    if (continues) last.to = j + 1;
    else phrases.push({ from: j, to: j + 1 });
  }
  const reach = Math.min(COMMON.maxComparedWords, 2 * countTokens(run) + 2);
  const before = listKept(tokens, context.path.kept, run.from - 1, -1, reach).reverse();
  const after = listKept(tokens, context.path.kept, run.to, 1, reach);
  const distanceBetween = createDistanceCache();
  const out: TokenRange[] = [];
  for (const phrase of phrases) {
    const said = tokens.slice(phrase.from, phrase.to).map(({ normal }) => normal);
    const compared = said.slice(0, COMMON.maxComparedWords);
    if (context.isYieldDue((before.length + after.length) * compared.length ** 2)) yield null;
    const isRepeated = [before, after].some((near) => isSaidIn(compared, near, distanceBetween));
    if (!isRepeated && !hasRemarkCue(said.join(" "), lexicon)) out.push(phrase);
  }
  return out;
}

/** Returns whether much of a phrase occurs in the words around it. */
function isSaidIn(
  said: readonly string[],
  near: readonly string[],
  distanceBetween: (a: string, b: string) => number,
): boolean {
  return near.some((_, at) => {
    const { pairs } = alignWords(said, near.slice(at, at + said.length + 1), distanceBetween, true);
    return pairs.filter((pair) => pair >= 0).length > SCRIPT.minSpokenSimilarity * said.length;
  });
}

function listKept(tokens: readonly Token[], kept: Uint8Array, from: number, step: 1 | -1, count: number): string[] {
  const out: string[] = [];
  for (let j = from; j >= 0 && j < tokens.length && out.length < count; j += step) {
    if (kept[j]) out.push(tokens[j]!.normal);
  }
  return out;
}
