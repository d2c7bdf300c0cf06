/** Keeps words that were said once in place of words of the script, which differs there from the speech. */

import { measureWordDistance } from "../../text/normalize";
import type { Ticks } from "../../time";
import { createYieldCounter, type PlanSteps } from "../context";
import { hasRemarkCue, isFillerText } from "../lexicon/lexicon";
import { type ComparedWords, isSaidAgain } from "../retakes/repetition";
import { durationOf } from "../spans";
import { COMMON, FILLERS, RETAKES, SCRIPT } from "../thresholds";
import { endsSentence, type Token, type TokenRange, UNRECOGNIZED } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/** The input for finding new words. `repeated[j]` is 1 if token j is repeated immediately. */
type Context = ScriptedRecording & {
  path: Pick<ScriptPath, "kept">;
  repeated: Uint8Array;
  isYieldDue: (cells: number) => boolean;
};

/** `differing[j]` is 1 if token j is kept in place of words of the script. */
export type SettledPath = ScriptPath & { differing: Uint8Array };

/**
 * Returns the path with those words kept. `isExact`: nearly all spoken lines are read word for word. `pace`: usual
 * duration of a character.
 */
export function* keepDifferingWords(
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
  isExact: boolean,
  pace: Ticks,
): PlanSteps<SettledPath> {
  const isYieldDue = createYieldCounter();
  const { lines, tokens, words } = recording;
  // A single word of which the recognizer was unsure may be a filler. Voice without words is longer than one.
  const isSure = (phrase: TokenRange) => {
    const { normal, word } = tokens[phrase.from]!;
    return countTokens(phrase) > 1 || normal === UNRECOGNIZED || words[word]!.confidence >= COMMON.minWordConfidence;
  };
  const differing = path.differing.slice();
  const lostBetween = createLostCounter(path, lines, isExact);
  const lineAt = listLinesOfTokens(path, lines, tokens.length);
  // The number of words that may still be kept beside each line. Words in place of missing ones come first.
  const leftOf = countLost(path, lines, tokens).map((lost) => SCRIPT.maxWordsRatio * lost);
  const runs = listRanges(path.kept, 0).map((run) => ({ run, lost: lostBetween(run) }));
  for (const { run, lost } of [...runs.filter((one) => one.lost > 0), ...runs.filter((one) => one.lost <= 0)]) {
    const [isBefore, isAfter] = [isAttached(recording, run.from, true), isAttached(recording, run.to, true)];
    const lineBefore = isBefore ? lineAt[run.from - 1]! : -1;
    const lineAfter = isAfter ? lineAt[run.to]! : -1;
    if (lost <= 0 && !((leftOf[lineBefore] ?? 0) > 0) && !((leftOf[lineAfter] ?? 0) > 0)) continue;
    const phrases = yield* listNewPhrases(run, { ...recording, path, repeated, isYieldDue });
    let left = SCRIPT.maxWordsRatio * lost;
    const keep = (phrase: TokenRange, besides: readonly number[]) => {
      const count = countWords(phrase, recording, pace).atLeast;
      if (Math.max(left, ...besides.map((line) => leftOf[line] ?? 0)) < count) return;
      differing.fill(1, phrase.from, phrase.to);
      left -= count;
      for (const line of new Set(besides)) if (line >= 0) leftOf[line]! -= count;
    };
    const isInside = run.from > 0 && run.to < tokens.length;
    const separate: TokenRange[] = [];
    for (const phrase of phrases) {
      const isLong = countTokens(phrase) > 1;
      const isNextBefore = phrase.from === run.from && isAttached(recording, run.from, isLong);
      const isNextAfter = phrase.to === run.to && isAttached(recording, run.to, isLong);
      if (isNextBefore || isNextAfter) keep(phrase, [isNextBefore ? lineBefore : -1, isNextAfter ? lineAfter : -1]);
      else separate.push(phrase);
    }
    // In place of a single word, several clear ones are other speech.
    const isOther = ({ from, to }: TokenRange) =>
      lost < COMMON.maxSlipWords && to - from > lost && isClear(tokens.slice(from, to), words);
    const possible = separate.filter((phrase) => isSure(phrase) && !isOther(phrase));
    // The last of several phrases are kept, because they were said last.
    if (isInside) for (const phrase of possible.reverse()) keep(phrase, []);
  }
  const kept = path.kept.map((isKept, j) => isKept || differing[j]!);
  return { pairs: path.pairs, kept, differing };
}

const countTokens = ({ from, to }: TokenRange) => to - from;

/** Range that contains the number of spoken words. */
type WordCount = { atLeast: number; atMost: number };

/**
 * Returns how many words a phrase has: as many as were recognized, or as fit in its duration. A recognizer writes
 * sounds that it does not understand as more or fewer words, and voice without words has only a duration. Clear words
 * count once each.
 */
export function countWords(
  { from, to }: TokenRange,
  { tokens, words }: Pick<ScriptedRecording, "tokens" | "words">,
  pace: Ticks,
): WordCount {
  const own = tokens.slice(from, to);
  const ticks = pace * COMMON.longWordCharacters;
  const usual = own.reduce((sum, token) => sum + durationOf(token), 0) / ticks;
  const recognized = own.reduce((sum, token) => {
    const count = token.normal === UNRECOGNIZED ? Math.round(durationOf(token) / ticks) : 1;
    return sum + Math.max(1, count);
  }, 0);
  if (isClear(own, words)) return { atLeast: recognized, atMost: recognized };
  return { atLeast: Math.min(recognized, usual), atMost: Math.max(recognized, usual) };
}

/** Returns whether the recognizer was sure of more than half of the tokens. */
const isClear = (tokens: readonly Token[], words: ScriptedRecording["words"]): boolean =>
  tokens.filter(({ word }) => words[word]!.confidence >= COMMON.sureWordConfidence).length >
  COMMON.minSameShare * tokens.length;

/**
 * Returns whether a token continues a sentence: it follows another one without a pause, or with a short one inside a
 * sentence. After a pause, a word of which the recognizer was unsure may be a filler; several words are a phrase.
 */
export function isAttached({ tokens, words }: ScriptedRecording, j: number, isPhrase = false): boolean {
  if (j <= 0 || j >= tokens.length) return false;
  const [before, after] = [words[tokens[j - 1]!.word]!, words[tokens[j]!.word]!];
  const isSure = isPhrase || Math.min(before.confidence, after.confidence) >= COMMON.minWordConfidence;
  const isInSentence = isSure && !endsSentence(before.text);
  return tokens[j]!.start - tokens[j - 1]!.end < (isInSentence ? SCRIPT.minSentencePause : COMMON.maxFluentGap);
}

/** Returns the longest ranges of tokens with this mark. */
export function listRanges(
  marks: Uint8Array,
  mark: 0 | 1,
  { from, to }: TokenRange = { from: 0, to: marks.length },
): TokenRange[] {
  const out: TokenRange[] = [];
  for (let j = from; j < to; j++) {
    if (marks[j] !== mark) continue;
    const last = out.at(-1);
    if (last && last.to === j) last.to = j + 1;
    else out.push({ from: j, to: j + 1 });
  }
  return out;
}

/** Returns how many words of each line are not said where the path has it; 0 for optional lines. */
function countLost({ pairs }: ScriptPath, lines: readonly ScriptLine[], tokens: readonly Token[]): number[] {
  let at = 0;
  return lines.map(({ words, optional }) => {
    const own = pairs.subarray(at, at + words.length);
    at += words.length;
    const isLost = (word: string, k: number) =>
      own[k]! < 0 || measureWordDistance(word, tokens[own[k]!]!.normal) > RETAKES.maxSimilarWordDistance;
    return optional ? 0 : words.filter(isLost).length;
  });
}

/** Returns the line of each token; -1 for tokens of no line. */
function listLinesOfTokens({ pairs }: ScriptPath, lines: readonly ScriptLine[], tokenCount: number): Int32Array {
  const out = new Int32Array(tokenCount).fill(-1);
  let at = 0;
  for (const [index, { words }] of lines.entries()) {
    for (const token of pairs.subarray(at, at + words.length)) if (token >= 0) out[token] = index;
    at += words.length;
  }
  return out;
}

/**
 * Returns a function that counts the script's words that were not found between the kept words around a run.
 * `isExact`: the other lines are read word for word, so those without a word on the path are not recorded.
 */
function createLostCounter(
  { pairs, kept }: ScriptPath,
  lines: readonly ScriptLine[],
  isExact: boolean,
): (run: TokenRange) => number {
  let at = 0;
  const isCounted = lines.flatMap(({ words, optional }) => {
    const isFound = pairs.subarray(at, at + words.length).some((token) => token >= 0);
    at += words.length;
    return words.map(() => !optional && (isFound || !isExact));
  });
  // The number of lost words before each script word, and the number of script words before each token.
  const lostBefore = new Int32Array(pairs.length + 1);
  const wordsBefore = new Int32Array(kept.length + 1).fill(-1);
  const wordsAfter = new Int32Array(kept.length + 1).fill(-1);
  for (const [k, token] of pairs.entries()) {
    lostBefore[k + 1] = lostBefore[k]! + (token < 0 && isCounted[k] ? 1 : 0);
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

/**
 * Returns the phrases of a run that are neither fillers, nor a remark about the recording, nor repeated. Voice without
 * words counts if it lasts longer than a filler.
 */
export function* listNewPhrases(run: TokenRange, context: Context): PlanSteps<TokenRange[]> {
  const { tokens, words, lexicon, repeated } = context;
  const phrases: TokenRange[] = [];
  const speech = findWordlessSpeech(run, tokens);
  const isFiller = (token: Token) =>
    token.normal === UNRECOGNIZED ? !speech.has(token) : isFillerText(words[token.word]!.text, lexicon);
  for (let j = run.from; j < run.to; j++) {
    const token = tokens[j]!;
    if (repeated[j] || isFiller(token)) continue;
    const last = phrases.at(-1);
    const continues = last && last.to === j && token.start - tokens[j - 1]!.end < COMMON.minPause;
    if (continues) last.to = j + 1;
    else phrases.push({ from: j, to: j + 1 });
  }
  const reach = Math.min(COMMON.maxComparedWords, 2 * countTokens(run) + 2);
  const before = listKept(tokens, context.path.kept, run.from - 1, -1, reach).reverse();
  const after = listKept(tokens, context.path.kept, run.to, 1, reach);
  const out: TokenRange[] = [];
  for (const phrase of phrases) {
    const compared = tokens.slice(phrase.from, Math.min(phrase.to, phrase.from + COMMON.maxComparedWords));
    if (context.isYieldDue((before.length + after.length) * compared.length ** 2)) yield null;
    // Words that continue into kept ones are the last take of what they say.
    const others = phrase.to === run.to && isAttached(context, run.to) ? [after] : [before, after];
    const isRepeated = others.some((near) => isSaidIn(compared, near, { words, lexicon }));
    if (!isRepeated && !hasRemarkCue(listClearWords(phrase, context).join(" "), lexicon)) out.push(phrase);
  }
  return out;
}

/** Returns the voice without words of a run that lasts longer than a filler, such as spelled letters. */
function findWordlessSpeech({ from, to }: TokenRange, tokens: readonly Token[]): Set<Token> {
  const stretches: Token[][] = [];
  for (const token of tokens.slice(from, to)) {
    if (token.normal !== UNRECOGNIZED) continue;
    const last = stretches.at(-1);
    if (last && token.start - last.at(-1)!.end < COMMON.minPause) last.push(token);
    else stretches.push([token]);
  }
  const isLong = (stretch: readonly Token[]) =>
    stretch.reduce((sum, token) => sum + durationOf(token), 0) > FILLERS.maxWordlessFiller;
  return new Set(stretches.filter(isLong).flat());
}

/** Returns the words of a phrase. Those of which the recognizer was unsure do not show a remark. */
const listClearWords = ({ from, to }: TokenRange, { tokens, words }: ScriptedRecording): string[] =>
  tokens
    .slice(from, to)
    .map(({ normal, word }) => (words[word]!.confidence >= COMMON.minWordConfidence ? normal : UNRECOGNIZED));

/** Returns whether much of a phrase occurs in the words around it, without another word in place of a clear one. */
function isSaidIn(said: readonly Token[], near: readonly Token[], recording: ComparedWords): boolean {
  return near.some((_, at) => isSaidAgain(said, near.slice(at, at + said.length + 1), COMMON.minSameShare, recording));
}

function listKept(tokens: readonly Token[], kept: Uint8Array, from: number, step: 1 | -1, count: number): Token[] {
  const out: Token[] = [];
  for (let j = from; j >= 0 && j < tokens.length && out.length < count; j += step) {
    if (kept[j]) out.push(tokens[j]!);
  }
  return out;
}
