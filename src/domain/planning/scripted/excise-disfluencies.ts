/** Removes from the kept takes everything that is not in their lines: fillers, a cough, a false start. */

import type { AlignmentRequest, Word } from "../../speech";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment, type PlanSteps, requestAlignmentsOf } from "../context";
import type { DecidedWord } from "../decided-spans";
import { isFillerText } from "../lexicon/lexicon";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { RemovalRule, RuleMatch } from "../rules";
import { durationOf, findOverlapping, overlapDuration } from "../spans";
import { COMMON, FILLERS, RETAKES, SCRIPT } from "../thresholds";
import { pauseBefore } from "../tokens";
import { toVoiceScores } from "../understood-speech";
import { type ConfirmedTake, listDifferingWords, listUnspokenWords } from "./confirm-takes";
import type { SettledPath } from "./differing-words";
import { isSpokenLine, type LineCandidate, toAlignmentRequests } from "./line-candidates";
import { findMainCandidate, type OtherSpeakers } from "./other-speakers";
import type { ScriptedContext, ScriptedRecording } from "./script-lines";

/** A span that is removed from a take. */
export type Excision = Span & { match: RuleMatch<"filler.within_line" | "false_start.within_line"> };
export type ExcisedTake = ConfirmedTake & { excisions: Excision[] };

/** A span that may not be part of its take's line. */
type Trial = { take: number; span: Span; rule: Excision["match"]["rule"]; requests: AlignmentRequest[] };

/** Aligns each take with its isolated regions muted, and removes those without which the line aligns as well. */
export function* exciseDisfluencies(
  takes: readonly ConfirmedTake[],
  recording: ScriptedRecording,
): PlanSteps<ExcisedTake[]> {
  const trials: Trial[] = [];
  for (const [index, take] of takes.entries()) {
    if (!isUsableAlignment(take.alignment)) continue;
    for (const { span, rule } of listTrialSpans(take, recording)) {
      const muted = { start: span.start - COMMON.precision, end: span.end + COMMON.precision };
      const requests = toAlignmentRequests(recording.lines[take.line]!, take.window, [...take.mute, muted]);
      trials.push({ take: index, span, rule, requests });
    }
  }
  const results = yield* requestAlignmentsOf(trials);
  const excised: ExcisedTake[] = takes.map((take) => ({ ...take, excisions: [] }));
  for (const [i, { take, span, rule }] of trials.entries()) {
    const without = findBestAlignment(results[i]!);
    const before = takes[take]!.alignment;
    if (!without || !before || without.meanLogProb < before.meanLogProb) continue;
    // Only a line that is spoken in the rest was restarted. A line that differs from the script aligns badly anyway.
    if (rule === "false_start.within_line" && !isSpokenLine(without)) continue;
    const scores = {
      alignment: before.meanLogProb,
      alignmentWithout: without.meanLogProb,
      duration: durationOf(span),
    };
    excised[take]!.excisions.push({ ...span, match: { rule, scores } });
    if (without.meanLogProb >= excised[take]!.alignment!.meanLogProb) excised[take]!.alignment = without;
  }
  return excised;
}

function listTrialSpans(take: ConfirmedTake, recording: ScriptedRecording): { span: Span; rule: Trial["rule"] }[] {
  const regions = findOverlapping(recording.activity.speechRegions, take.window).filter(
    (region) => !take.mute.some((span) => overlapDuration(span, region) > 0),
  );
  // Replacement words do not align with the line, so muting them never makes the alignment worse.
  const differing = [...listDifferingWords(take, recording), ...(take.review ? listUnspokenWords(take) : [])];
  const isBeyondLine = (span: Span) => !differing.some((word) => overlapDuration(word, span) > durationOf(word) / 2);
  const fillers = findFillerRegions(take, regions, recording).filter(isBeyondLine);
  const falseStarts = findFalseStarts(regions).filter(isBeyondLine);
  return [
    ...fillers.map((span) => ({ span, rule: "filler.within_line" as const })),
    ...falseStarts.map((span) => ({ span, rule: "false_start.within_line" as const })),
  ];
}

/** Returns the short isolated regions in which at most one word of the line was recognized. */
function findFillerRegions(take: ConfirmedTake, regions: readonly Span[], recording: ScriptedRecording): Span[] {
  if (regions.length < 2) return [];
  const paired = new Set(take.pairs);
  return regions.filter((region, i) => {
    const before = region.start - (regions[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (regions[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const length = durationOf(region);
    if (length < COMMON.minDuration || length > FILLERS.maxWordlessFiller) return false;
    if (Math.min(before, after) < COMMON.minDuration) return false;
    // A line that differs from the speech aligns badly with and without each of its sounds.
    if (!take.isAligned && !hasFiller(take, region, recording)) return false;
    return countLineWords(take, paired, region, recording) <= 1;
  });
}

/** Returns whether a filler was recognized in a region. */
const hasFiller = ({ from, to }: ConfirmedTake, region: Span, { tokens, words, lexicon }: ScriptedRecording): boolean =>
  tokens
    .slice(from, to)
    .some((token) => overlapDuration(token, region) > 0 && isFillerText(words[token.word]!.text, lexicon));

/** Returns how many words of the line, not counting fillers, are mostly in a region. */
function countLineWords(
  { from, to }: ConfirmedTake,
  paired: ReadonlySet<number>,
  region: Span,
  { tokens, words, lexicon }: ScriptedRecording,
): number {
  let count = 0;
  for (let k = from; k < to; k++) {
    const token = tokens[k]!;
    const isInside = overlapDuration(token, region) > durationOf(token) / 2;
    if (isInside && paired.has(k) && !isFillerText(words[token.word]!.text, lexicon)) count++;
  }
  return count;
}

/** Returns the parts before the first pauses: the line may restart after a pause, even if transcribed once. */
function findFalseStarts(regions: readonly Span[]): Span[] {
  const start = regions[0]?.start ?? 0;
  const ends = regions.flatMap((region, i) => {
    const next = regions[i + 1];
    const isBeforePause = next && next.start - region.end >= COMMON.minDuration;
    return isBeforePause ? [region.end] : [];
  });
  return ends.slice(0, RETAKES.maxEarlierStarts).map((end) => ({ start, end }));
}

/**
 * Returns the words of the kept takes, as in the script, and the other words of the transcript with the rule that
 * removes them. `retaken` lists takes whose lines were moved to their retakes, `others` marks words of other speakers.
 */
export function decideScriptedWords(
  takes: readonly ExcisedTake[],
  candidates: readonly LineCandidate[][],
  path: SettledPath,
  retaken: readonly EarlierTake[],
  others: OtherSpeakers,
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
    const other = others.get(i);
    if (other) {
      out.push({ start, end, text, removal: null, reviews: [other] });
      continue;
    }
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
  { words, tokens, lexicon }: ScriptedRecording,
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
  // The alignment of a line with wrong words does not show that another phrase is not said.
  const isOther = (word: Word) =>
    word.text !== "" && !isFillerText(word.text, lexicon) && spoken.includes(word) && !isAligned(word);
  const phrases = take.review ? dividePhrases(words.slice(tokens[take.from]!.word, tokens[take.to - 1]!.word + 1)) : [];
  const beyond = phrases.filter((phrase) => phrase.every(isOther)).flat();
  const other = new Set([...differing.filter((word) => !isAligned(word)), ...beyond]);
  const said = aligned.length > 0 ? [...aligned, ...other] : spoken;
  const kept = said.map(({ start, end, text }) => ({ start, end, text }));
  return [
    ...kept.map((word) => ({ ...word, removal: null, reviews })),
    ...take.excisions.map(({ start, end, match }) => ({ start, end, text: "", removal: match, reviews: [] })),
  ];
}

/** Divides words at pauses. */
function dividePhrases(words: readonly Word[]): Word[][] {
  const out: Word[][] = [];
  for (const [i, word] of words.entries()) {
    if (i === 0 || pauseBefore(words, i) >= COMMON.minPause) out.push([word]);
    else out.at(-1)!.push(word);
  }
  return out;
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
