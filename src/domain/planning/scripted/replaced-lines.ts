/** Stage 9: keeps what was said once in place of lines that were not found. The script differs there, or nothing was understood. */
import type { TokenRange } from "../tokens";
import { type ConfirmedTake, differsFromScript } from "./confirm-takes";
import { listNewPhrases, type SettledPath } from "./differing-words";
import { type LineCandidate, toLineWindow } from "./line-candidates";
import { toSkippedSpan } from "./path-takes";
import type { ScriptedRecording } from "./scripted-recording";

/** Number of words said in place of lines, as a share of theirs. */
const MIN_LENGTH_RATIO = 0.4;
const MAX_LENGTH_RATIO = 1.6;
/** A line ends with the phrase that completes this share of its words. */
const MIN_LINE_SHARE = 0.75;

/** Consecutive lines without a take, `[from, to)`. */
type LineRange = { from: number; to: number };

/** Adds takes for required lines without one, from the words between the takes of the lines around them. */
export function addReplacedLines(
  takes: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
): void {
  const { lines, tokens } = recording;
  for (const group of listMissingLines(takes, recording)) {
    const before = takes[group.from - 1];
    const after = takes.slice(group.to).find((take) => take !== null);
    const run = { from: before?.to ?? 0, to: after?.from ?? tokens.length };
    const phrases = listNewPhrases(run, { ...recording, path, repeated });
    // Before the first line and after the last one anything can be said: there it must resemble the line.
    const isCandidate = (phrase: TokenRange) =>
      candidates
        .slice(group.from, group.to)
        .some((row) => row.some((one) => one.from < phrase.to && phrase.from < one.to));
    const isInside = before !== undefined && before !== null && after !== undefined;
    const said = isInside ? phrases : phrases.filter(isCandidate);
    const wordCount = lines.slice(group.from, group.to).reduce((sum, line) => sum + line.words.length, 0);
    // Of several versions the last one is kept.
    let left = MAX_LENGTH_RATIO * wordCount;
    const kept = said.reverse().filter(({ from, to }) => {
      left -= to - from;
      return left >= 0;
    });
    if (kept.reduce((sum, { from, to }) => sum + to - from, 0) < MIN_LENGTH_RATIO * wordCount) continue;
    for (const take of divideAmongLines(kept.reverse(), group, recording)) takes[take.line] = take;
  }
}

function listMissingLines(takes: readonly (ConfirmedTake | null)[], { lines }: ScriptedRecording): LineRange[] {
  const out: LineRange[] = [];
  for (const [i, line] of lines.entries()) {
    if (takes[i] || line.optional) continue;
    const last = out.at(-1);
    if (last && last.to === i) last.to = i + 1;
    else out.push({ from: i, to: i + 1 });
  }
  return out;
}

/** Returns a take of each line, as long as there are phrases; the last line has the rest. */
function divideAmongLines(
  phrases: readonly TokenRange[],
  group: LineRange,
  recording: ScriptedRecording,
): ConfirmedTake[] {
  const out: ConfirmedTake[] = [];
  let own: TokenRange[] = [];
  let line = group.from;
  for (const [n, phrase] of phrases.entries()) {
    own.push(phrase);
    const words = own.reduce((sum, { from, to }) => sum + to - from, 0);
    const isComplete = line + 1 < group.to && words >= MIN_LINE_SHARE * recording.lines[line]!.words.length;
    if (!isComplete && n + 1 < phrases.length) continue;
    out.push(toTake(own, line, recording));
    own = [];
    line++;
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
