/** Stage 9: keeps words that were said once in place of missing lines: the script differs, or was not understood. */
import { createYieldCounter, type PlanSteps } from "../context";
import type { TokenRange } from "../tokens";
import { type ConfirmedTake, differsFromScript } from "./confirm-takes";
import { listNewPhrases, type SettledPath } from "./differing-words";
import { type LineCandidate, toLineWindow } from "./line-candidates";
import { toSkippedSpan } from "./path-takes";
import type { ScriptedRecording } from "./scripted-recording";

/** Bounds of the number of words that replace lines, as a share of theirs. */
const MIN_LENGTH_RATIO = 0.4;
const MAX_LENGTH_RATIO = 1.6;
/** A line ends with the phrase that completes this share of its words. */
const MIN_LINE_SHARE = 0.75;

/** Required lines without a take, between the same takes of other lines, and the tokens `[from, to)` in between. */
type MissingLines = TokenRange & { lines: number[]; isInside: boolean };

/** Adds takes for required lines without one, from the words between the takes of the surrounding lines. */
export function* addReplacedLines(
  takes: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
): PlanSteps<void> {
  const isYieldDue = createYieldCounter();
  for (const missing of listMissingLines(takes, recording)) {
    const phrases = yield* listNewPhrases(missing, { ...recording, path, repeated, isYieldDue });
    // Before the first line and after the last one, anything may be said, so it must resemble the line.
    const said = missing.isInside ? phrases : phrases.filter(createResemblance(missing, candidates, recording));
    const wordCount = missing.lines.reduce((sum, line) => sum + recording.lines[line]!.words.length, 0);
    // The latest phrases are kept, up to the maximum length.
    let left = MAX_LENGTH_RATIO * wordCount;
    const kept = said.reverse().filter(({ from, to }) => {
      left -= to - from;
      return left >= 0;
    });
    if (kept.reduce((sum, { from, to }) => sum + to - from, 0) < MIN_LENGTH_RATIO * wordCount) continue;
    for (const take of divideAmongLines(kept.reverse(), missing.lines, recording)) takes[take.line] = take;
  }
}

function listMissingLines(
  takes: readonly (ConfirmedTake | null)[],
  { lines, tokens }: ScriptedRecording,
): MissingLines[] {
  const ends = new Int32Array(lines.length + 1);
  const starts = new Int32Array(lines.length + 1).fill(tokens.length);
  for (const [i, take] of takes.entries()) ends[i + 1] = Math.max(ends[i]!, take?.to ?? 0);
  for (let i = lines.length - 1; i >= 0; i--) starts[i] = Math.min(starts[i + 1]!, takes[i]?.from ?? tokens.length);
  const out: MissingLines[] = [];
  for (const [i, line] of lines.entries()) {
    if (takes[i] || line.optional) continue;
    const [from, to] = [ends[i]!, starts[i + 1]!];
    const last = out.at(-1);
    if (last && last.from === from && last.to === to) last.lines.push(i);
    else if (from < to) out.push({ from, to, lines: [i], isInside: from > 0 && to < tokens.length });
  }
  return out;
}

/** Returns a function that returns whether a phrase is in a candidate of the lines. */
function createResemblance(
  { lines }: MissingLines,
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedRecording,
): (phrase: TokenRange) => boolean {
  const resembles = new Uint8Array(tokens.length);
  for (const line of lines) for (const { from, to } of candidates[line]!) resembles.fill(1, from, to);
  return ({ from, to }) => resembles.subarray(from, to).includes(1);
}

/** Returns a take for each line, while there are phrases. The last line gets the remaining ones. */
function divideAmongLines(
  phrases: readonly TokenRange[],
  lines: readonly number[],
  recording: ScriptedRecording,
): ConfirmedTake[] {
  const out: ConfirmedTake[] = [];
  let own: TokenRange[] = [];
  for (const [n, phrase] of phrases.entries()) {
    own.push(phrase);
    const line = lines[out.length]!;
    const words = own.reduce((sum, { from, to }) => sum + to - from, 0);
    const isLast = out.length === lines.length - 1;
    const isComplete = !isLast && words >= MIN_LINE_SHARE * recording.lines[line]!.words.length;
    if (!isComplete && n + 1 < phrases.length) continue;
    out.push(toTake(own, line, recording));
    own = [];
  }
  return out;
}

function toTake(phrases: readonly TokenRange[], line: number, recording: ScriptedRecording): ConfirmedTake {
  const { lines, tokens, activity } = recording;
  const range = { from: phrases[0]!.from, to: phrases.at(-1)!.to };
  const skipped = phrases.slice(1).flatMap((phrase, n) => {
    const end = phrases[n]!.to;
    return phrase.from > end ? [{ from: end, to: phrase.from }] : [];
  });
  return {
    line,
    ...range,
    pairs: new Int32Array(lines[line]!.words.length).fill(-1),
    score: 0,
    skipped,
    differs: true,
    window: toLineWindow(range, tokens, activity),
    mute: skipped.map((one) => toSkippedSpan(one, tokens)),
    alignment: null,
    isAligned: false,
    quality: 0,
    complete: true,
    review: differsFromScript(lines[line]!.text, 0, null),
  };
}
