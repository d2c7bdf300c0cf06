/** Stage 7: keeps speech next to an incomplete line that does not align: it may be its rest, or its retake. */
import { createYieldCounter, type PlanSteps } from "../context";
import type { TokenRange } from "../tokens";
import { MIN_SIMILARITY, MIN_SURE_SIMILARITY } from "./confirm-takes";
import { listNewPhrases, type SettledPath } from "./differing-words";
import { type LinePlace, listLinePlaces, listMisaligned, measureFoundShare } from "./line-places";
import type { ScriptedRecording } from "./scripted-recording";

/** A line is incomplete below the first share of its words. With the adjacent speech, it has at most the second. */
const MIN_LENGTH_RATIO = 0.75;
const MAX_LENGTH_RATIO = 1.6;

/** Returns the path with phrases after, then before, each incomplete line, until they are about as long as the line. */
export function* completeLines(
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
): PlanSteps<SettledPath> {
  const isYieldDue = createYieldCounter();
  const { lines } = recording;
  const kept = path.kept.slice();
  const differing = path.differing.slice();
  const incomplete = listLinePlaces(path.pairs, lines).filter((one) => isIncomplete(one, recording));
  for (const { line, place } of yield* listMisaligned(incomplete, recording)) {
    const phrases: TokenRange[] = [];
    for (const run of listRunsBeside(place, kept)) {
      const found = yield* listNewPhrases(run, { ...recording, path, repeated, isYieldDue });
      phrases.push(...(run.from === place.to ? found : found.reverse()));
    }
    const wordCount = lines[line]!.words.length;
    let length = place.to - place.from;
    for (const { from, to } of phrases) {
      if (length >= MIN_LENGTH_RATIO * wordCount) break;
      if (length + to - from > MAX_LENGTH_RATIO * wordCount) continue;
      length += to - from;
      kept.fill(1, from, to);
      differing.fill(1, from, to);
    }
  }
  return { pairs: path.pairs, kept, differing };
}

/** Returns whether a line hardly resembles its place, and the place is too short for it. */
function isIncomplete({ line: index, place, pairs }: LinePlace, { lines, tokens }: ScriptedRecording): boolean {
  const line = lines[index]!;
  const isShort = place.to - place.from < MIN_LENGTH_RATIO * line.words.length;
  const isKept = pairs.filter((token) => token >= 0).length >= MIN_SIMILARITY * line.words.length;
  return isShort && isKept && measureFoundShare(line, pairs, tokens) < MIN_SURE_SIMILARITY;
}

/** Returns the tokens after and before a place, up to kept ones. At the ends of the script, anything may be said. */
function listRunsBeside(place: TokenRange, kept: Uint8Array): TokenRange[] {
  const next = kept.indexOf(1, place.to);
  const before = place.from === 0 ? -1 : kept.lastIndexOf(1, place.from - 1);
  const runs: TokenRange[] = [];
  if (next > place.to) runs.push({ from: place.to, to: next });
  if (before >= 0 && before + 1 < place.from) runs.push({ from: before + 1, to: place.from });
  return runs;
}
