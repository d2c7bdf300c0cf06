/** Finds words that another speaker says than the kept take of their line: an echo or an answer, which is no take. */

import type { Word } from "../../speech";
import type { Span } from "../../time";
import { type PlanSteps, requestVoices } from "../context";
import { isFillerText } from "../lexicon/lexicon";
import { isOtherVoice } from "../other-voices";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { RuleMatch } from "../rules";
import { durationOf, overlapDuration } from "../spans";
import { COMMON } from "../thresholds";
import { pauseBefore } from "../tokens";
import type { ConfirmedTake } from "./confirm-takes";
import type { LineCandidate } from "./line-candidates";
import type { ScriptedRecording } from "./script-lines";

/** The mark of each word that another speaker says, by its index. */
export type OtherSpeakers = ReadonlyMap<number, RuleMatch<"review.other_speaker">>;

/** A phrase in no take, as word indexes `[from, to)`, and the kept take of the line that it resembles. */
type LeftPhrase = Span & { from: number; to: number; candidate: LineCandidate; take: ConfirmedTake };

/** Compares the voice of each phrase that resembles a line with that of the line's kept take elsewhere. */
export function* findOtherSpeakers(
  takes: readonly ConfirmedTake[],
  candidates: readonly LineCandidate[][],
  retaken: readonly EarlierTake[],
  recording: ScriptedRecording,
): PlanSteps<OtherSpeakers> {
  const { tokens } = recording;
  const all = candidates.flat();
  const phrases = listPhrases(takes, retaken, recording).flatMap((phrase): LeftPhrase[] => {
    const candidate = findMainCandidate(phrase, all);
    if (!candidate || overlapDuration(candidate.window, phrase) < COMMON.minSameShare * durationOf(phrase)) return [];
    const take = takes.find(({ line }) => line === candidate.line);
    const isElsewhere = take && (candidate.to <= take.from || take.to <= candidate.from);
    return isElsewhere ? [{ ...phrase, candidate, take }] : [];
  });
  const sample = ({ start, end }: Span): Span => ({ start, end: Math.min(end, start + COMMON.voiceSample) });
  const ofTake = ({ take }: LeftPhrase) => ({ start: tokens[take.from]!.start, end: tokens[take.to - 1]!.end });
  const voices = yield* requestVoices(phrases.flatMap((phrase) => [sample(phrase), sample(ofTake(phrase))]));
  const found = new Map<number, RuleMatch<"review.other_speaker">>();
  for (const [n, { from, to, candidate, take }] of phrases.entries()) {
    if (!isOtherVoice(voices[2 * n] ?? null, voices[2 * n + 1] ?? null)) continue;
    const scores = {
      repeatedAt: tokens[take.from]!.start,
      pause: pauseBefore(tokens, take.from),
      words: to - from,
      similarity: candidate.score,
      alignment: candidate.alignment?.meanLogProb ?? null,
    };
    for (let i = from; i < to; i++) found.set(i, { rule: "review.other_speaker", scores });
  }
  return found;
}

/** Returns the phrases between pauses that are in no take and no false start. */
function listPhrases(
  takes: readonly ConfirmedTake[],
  retaken: readonly EarlierTake[],
  { words, tokens, lexicon }: ScriptedRecording,
): Omit<LeftPhrase, "candidate" | "take">[] {
  const isUsed = new Uint8Array(words.length);
  for (const { from, to } of [...takes, ...retaken]) for (const { word } of tokens.slice(from, to)) isUsed[word] = 1;
  const isLeft = (word: Word, i: number) => !isUsed[i] && word.text !== "" && !isFillerText(word.text, lexicon);
  const out: Omit<LeftPhrase, "candidate" | "take">[] = [];
  for (const [i, word] of words.entries()) {
    if (!isLeft(word, i)) continue;
    const last = out.at(-1);
    if (last?.to === i && pauseBefore(words, i) < COMMON.minPause) Object.assign(last, { to: i + 1, end: word.end });
    else out.push({ start: word.start, end: word.end, from: i, to: i + 1 });
  }
  return out;
}

/** Returns the candidate that overlaps a span longest; null if no candidate overlaps it. */
export function findMainCandidate(span: Span, candidates: readonly LineCandidate[]): LineCandidate | null {
  let best: LineCandidate | null = null;
  let longest = 0;
  for (const candidate of candidates) {
    const shared = overlapDuration(candidate.window, span);
    if (shared < longest || shared === 0) continue;
    if (best && shared === longest && candidate.quality <= best.quality) continue;
    best = candidate;
    longest = shared;
  }
  return best;
}
