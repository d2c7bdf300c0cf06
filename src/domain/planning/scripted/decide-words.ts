/** Stage 11: decides on every word of a recording with a script. */

import type { Word } from "../../speech";
import type { Span } from "../../time";
import type { DecidedWord } from "../decided-spans";
import { isFillerText } from "../lexicon/lexicon";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { RemovalRule, RuleMatch } from "../rules";
import { durationOf, overlapDuration } from "../spans";
import { pauseBefore } from "../tokens";
import { toVoiceScores } from "../understood-speech";
import type { SettledPath } from "./differing-words";
import type { ExcisedTake } from "./excise-disfluencies";
import type { LineCandidate } from "./line-candidates";
import type { ScriptedContext, ScriptedRecording } from "./script-lines";
import { SCRIPT } from "./thresholds";

/**
 * Returns the words of the kept takes, as in the script, and the other words of the transcript with the rule that
 * removes them. `retaken` lists takes whose lines were moved to their retakes.
 */
export function decideScriptedWords(
  takes: readonly ExcisedTake[],
  candidates: readonly LineCandidate[][],
  path: SettledPath,
  retaken: readonly EarlierTake[],
  recording: ScriptedRecording,
  context: ScriptedContext,
): DecidedWord[] {
  const { words, tokens, lexicon } = recording;
  const used = new Uint8Array(words.length);
  const out = takes.flatMap((take) => decideTake(take, path, recording, used));
  const all = candidates.flat();
  const retakes = new Map(
    retaken.flatMap(({ from, to, match }) => tokens.slice(from, to).map(({ word }) => [word, match] as const)),
  );
  for (const [i, word] of words.entries()) {
    if (used[i]) continue;
    const { start, end, text } = word;
    const retake = retakes.get(i);
    if (retake && !isFillerText(text, lexicon)) {
      out.push({ start, end, text, removal: retake, reviews: [] });
      continue;
    }
    const candidate = findMainCandidate(word, all);
    const removal = decideUnusedWord(words, i, candidate, takes, recording, context);
    out.push({ start, end, text, removal, reviews: [] });
  }
  return out;
}

/** Returns the words and excisions of a kept take. Marks the transcript's words that the take uses. */
function decideTake(
  take: ExcisedTake,
  path: SettledPath,
  { words, tokens }: ScriptedRecording,
  used: Uint8Array,
): DecidedWord[] {
  const removed: Span[] = [...take.excisions, ...take.mute];
  const isRemoved = (span: Span) => removed.some((other) => overlapDuration(other, span) > durationOf(span) / 2);
  const spoken: Word[] = [];
  const differing: Word[] = [];
  for (let i = take.from; i < take.to; i++) {
    const word = words[tokens[i]!.word]!;
    const isOfTake = path.kept[i] || take.pairs.includes(i) || take.alignment === null;
    if (!isOfTake || isRemoved(word)) continue;
    used[tokens[i]!.word] = 1;
    spoken.push(word);
    if (path.differing[i]) differing.push(word);
  }
  const aligned = take.isAligned && take.alignment ? take.alignment.words.filter((word) => !isRemoved(word)) : [];
  const isAligned = (word: Span) => aligned.some((other) => overlapDuration(other, word) > durationOf(word) / 2);
  const reviews = take.review ? [take.review] : [];
  const said = aligned.length > 0 ? [...aligned, ...differing.filter((word) => !isAligned(word))] : spoken;
  const kept = said.map(({ start, end, text }) => ({ start, end, text }));
  return [
    ...kept.map((word) => ({ ...word, removal: null, reviews })),
    ...take.excisions.map(({ start, end, match }) => ({ start, end, text: "", removal: match, reviews: [] })),
  ];
}

/** Returns the candidate that overlaps a word longest; null if there is none. */
function findMainCandidate(word: Span, candidates: readonly LineCandidate[]): LineCandidate | null {
  let best: LineCandidate | null = null;
  let longest = 0;
  for (const candidate of candidates) {
    const shared = overlapDuration(candidate.window, word);
    if (shared < longest || shared === 0) continue;
    if (best && shared === longest && candidate.quality <= best.quality) continue;
    best = candidate;
    longest = shared;
  }
  return best;
}

/** Returns the rule that removes a word that no kept take uses. */
function decideUnusedWord(
  words: readonly Word[],
  index: number,
  candidate: LineCandidate | null,
  takes: readonly ExcisedTake[],
  { lines, lexicon }: ScriptedRecording,
  { analysis }: ScriptedContext,
): RuleMatch<RemovalRule> {
  const word = words[index]!;
  if (isFillerText(word.text, lexicon)) {
    const after = index + 1 < words.length ? pauseBefore(words, index + 1) : 0;
    const pause = Math.max(pauseBefore(words, index), after);
    return { rule: "filler.written", scores: { duration: durationOf(word), pause } };
  }
  if (candidate) return otherTakeOf(candidate, takes, lines[candidate.line]!.text);
  if (word.text === "") return { rule: "off_script.unrecognized", scores: toVoiceScores(word, analysis) };
  return { rule: "off_script.no_line", scores: { minSimilarity: SCRIPT.minMatchScore } };
}

/** Returns the rule that removes words that resemble a line but are not in its kept take. */
function otherTakeOf(candidate: LineCandidate, takes: readonly ExcisedTake[], line: string): RuleMatch<RemovalRule> {
  const kept = takes.find((take) => take.line === candidate.line) ?? null;
  const scores = {
    line,
    quality: candidate.quality,
    keptQuality: kept?.quality ?? null,
    keptAt: kept?.window.start ?? null,
  };
  const isInKept = kept !== null && candidate.from < kept.to && kept.from < candidate.to;
  return { rule: isInKept ? "retake.within_take" : "retake.last_good_take", scores };
}
