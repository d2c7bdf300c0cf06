/** Decides whether a script belongs to another recording. */
import { measureWordDistance } from "../../text/normalize";
import { isUsableAlignment } from "../context";
import { isContentWord } from "../lexicon/lexicon";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import type { Token } from "../tokens";
import type { ConfirmedTake } from "./confirm-takes";
import { isSpokenLine } from "./line-candidates";
import type { PathTake } from "./path-takes";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/** Returns whether a take shows that its line is spoken. Half of a short line may be there by coincidence. */
const isSpoken = (take: ConfirmedTake | null | undefined, found: number, line: ScriptLine): boolean =>
  (take != null && (!isUsableAlignment(take.alignment) || isSpokenLine(take.alignment))) ||
  found >= COMMON.minCompleteShare * line.words.length;

/** Returns how many words of the line resemble the tokens in their places. Replacement words do not count. */
const countFoundWords = (take: PathTake, line: ScriptLine, tokens: readonly Token[]): number =>
  line.words.filter((word, k) => {
    const token = tokens[take.pairs[k]!];
    return token !== undefined && measureWordDistance(word, token.normal) < 1;
  }).length;

/**
 * Returns whether the path has a long content word of a line exactly as the line has it. Without a lexicon, no word is
 * known to be one.
 */
const hasWord = (take: PathTake | null | undefined, line: ScriptLine, { tokens, lexicon }: ScriptedRecording) =>
  lexicon.articles.size > 0 &&
  line.words.some(
    (word, k) =>
      word.length >= COMMON.longWordCharacters &&
      word === tokens[take?.pairs[k] ?? -1]?.normal &&
      isContentWord(word, lexicon),
  );

/**
 * Returns whether the script is that of another recording: few of its words are spoken, few of the spoken words are in
 * it, and most of its lines have no long content word on the path. `found`: the path's takes before moves to retakes.
 */
export function isScriptMismatch(
  recording: ScriptedRecording,
  takes: readonly (ConfirmedTake | null)[],
  found: readonly (PathTake | null)[],
): boolean {
  const { lines, tokens } = recording;
  const scriptWords = lines.reduce((sum, line) => sum + (line.optional ? 0 : line.words.length), 0);
  const [spoken, matched]: [number[], number[]] = [[], []];
  for (const [i, line] of lines.entries()) {
    const take = takes[i];
    const before = found[i] && found[i].score >= RETAKES.minSimilarShare ? found[i] : null;
    const count = Math.max(...[take, before].map((one) => (one ? countFoundWords(one, line, tokens) : 0)));
    if (!line.optional) spoken.push(isSpoken(take, count, line) ? line.words.length : 0);
    const isWhole = take?.isAligned && take.alignment !== null && isSpokenLine(take.alignment);
    matched.push(isWhole ? line.words.length : count);
  }
  // Noise hides most words of a recording, but those of another one's script are not found line after line.
  const isFound = (line: ScriptLine, i: number) => [takes[i], found[i]].some((take) => hasWord(take, line, recording));
  const count = lines.filter((line, i) => !line.optional && isFound(line, i)).length;
  if (count > Math.max(COMMON.maxSlipWords, COMMON.minSameShare * spoken.length)) return false;
  return !isMuch(spoken, scriptWords) && !isMuch(matched, tokens.length);
}

/**
 * Returns whether the words counted in each line are much of a total. Recordings of a series share their first and last
 * lines, so a smaller part counts if most of it is in other lines.
 */
function isMuch(counts: readonly number[], total: number): boolean {
  const sumOf = (some: readonly number[]) => some.reduce((sum, count) => sum + count, 0);
  const first = counts.indexOf(0);
  const inner = first < 0 ? counts : counts.slice(first, counts.lastIndexOf(0));
  const isSpread = sumOf(inner) >= COMMON.minSameShare * sumOf(counts);
  return sumOf(counts) >= (isSpread ? SCRIPT.minSpreadShare : SCRIPT.minScriptShare) * total;
}
