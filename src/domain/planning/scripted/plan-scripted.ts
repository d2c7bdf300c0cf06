/** The plan of a recording with its script: of each line the take that is kept, and nothing that is not in the script. */

import type { Plan } from "../../plan";
import { fromSeconds } from "../../time";
import { detectActivity, estimateEdgeMargin } from "../audio-activity";
import type { PlanSteps } from "../context";
import { type Decision, toDecidedSpans } from "../decided-spans";
import { findRetakes, type Retake } from "../retakes/find-retakes";
import { findEarlierTakes } from "../retakes/takes-by-line";
import { assembleSegments } from "../segments-from-spans";
import { listTakes } from "../take-list";
import { sortWords, tokenize } from "../tokens";
import { findUnrecognizedSpeech, isVoiced } from "../unrecognized-speech";
import { checkMatches } from "./check-matches";
import { type ConfirmedTake, confirmTakes, isWeak } from "./confirm-takes";
import { decideScriptedWords } from "./decide-words";
import { exciseDisfluencies } from "./excise-disfluencies";
import { findPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { listLineTakes } from "./list-line-takes";
import { matchLines } from "./match-lines";
import { createLineBias, findLineBounds, listPathTakes, withAdjacentWords } from "./path-takes";
import { rescueLines } from "./rescue-lines";
import type { ScriptLine } from "./script-lines";
import type { ScriptedContext, ScriptedInput } from "./scripted-input";
import { settlePath } from "./settle-path";
import { splitCompounds } from "./split-compounds";
import { addOutOfOrder, addParaphrases } from "./unmatched-lines";

/** Below both shares, of the script that is spoken and of the speech that is script, the script belongs to another recording. */
const LEAST_SCRIPT = 0.25;
const LEAST_SPEECH = 0.25;
/** Shorter voice without words is a hesitation, or the end of a word. */
const SHORTEST_UNHEARD = fromSeconds(0.5);
const LONGEST_HESITATION = fromSeconds(0.9);

/** Plans with a script; `mismatch` when the script is not what is spoken. */
export function* planScripted(context: ScriptedContext): PlanSteps<Plan | "mismatch"> {
  const { listening, clock, options, language, transcript } = context;
  const activity = detectActivity({ ...listening, duration: clock.duration });
  const known = sortWords(transcript.words);
  const words = sortWords([...known, ...findUnrecognizedSpeech(known, activity, listening, SHORTEST_UNHEARD)]);
  const { lines, tokens } = splitCompounds(context.lines, tokenize(words, language));
  const input: ScriptedInput = { words, tokens, activity, lines };
  const matches = yield* matchLines(lines, tokens);
  const candidates = yield* checkMatches(matches, input);
  const retakes = (yield* findRetakes(words, tokens)).retakes;
  const repeated = saidAgain(input, retakes);
  const search = () => ({
    repeated,
    bias: createLineBias(candidates, tokens.length),
    boundsOf: findLineBounds(lines, candidates, tokens.length),
  });
  let path = yield* findPath(lines, tokens, search());
  const rescued = yield* rescueLines(listPathTakes(lines, path, tokens), candidates, input);
  if (rescued.candidates.length > 0) {
    for (const candidate of rescued.candidates) addInOrder(candidates[candidate.line]!, candidate);
    path = yield* findPath(lines, tokens, search());
  }
  path = withAdjacentWords(settlePath(path, lines, candidates, tokens), tokens, repeated);
  const confirmed = yield* confirmTakes(listPathTakes(lines, path, tokens), candidates, input);
  const spoken = confirmed.map((take) => (take && isWeak(take) ? null : take));
  if (isMismatch(lines, spoken, tokens.length)) return "mismatch";
  const outOfOrder = addOutOfOrder(spoken, candidates, lines);
  addParaphrases(spoken, rescued.partialAlignments, input);
  for (const [i, take] of confirmed.entries()) spoken[i] ??= take;

  const refined = yield* exciseDisfluencies(
    spoken.filter((take) => take !== null),
    input,
    options,
  );
  const decidedSpans = toDecidedSpans(
    decideScriptedWords(refined, candidates, path, input, options),
    input.activity,
    (region, noise): Decision => {
      if (noise || !isVoiced(region, listening)) return { keep: false, reason: "noise", review: null };
      const short = region.end - region.start <= LONGEST_HESITATION;
      return { keep: false, reason: short ? "filler" : "off_script", review: null };
    },
  );
  const assembled = assembleSegments(decidedSpans, clock, options, estimateEdgeMargin(activity));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(
      listLineTakes(input, candidates, spoken, findEarlierTakes(words, tokens, retakes).takes),
      assembled.segments,
    ),
    missing: lines.filter((line, i) => !spoken[i] && !line.optional).map((line) => line.text),
    warnings: outOfOrder.map((line) => `Recorded out of order, and left where it is: ${lines[line]!.text}`),
  };
}

/** A candidate replaces those that it overlaps: they did not fit. */
function addInOrder(row: LineCandidate[], candidate: LineCandidate): void {
  const others = row.filter((one) => one.accepted || one.to <= candidate.from || one.from >= candidate.to);
  row.splice(0, row.length, ...others, candidate);
  row.sort((a, b) => a.from - b.from);
}

/** Which heard words are said again right after. */
function saidAgain({ words, tokens }: ScriptedInput, retakes: readonly Retake[]): Uint8Array {
  const repeated = new Uint8Array(tokens.length);
  const repeatedWords = new Uint8Array(words.length);
  for (const { from, to, kind } of retakes) if (kind === "retake") repeatedWords.fill(1, from, to);
  for (const [j, word] of tokens.entries()) repeated[j] = repeatedWords[word.word]!;
  return repeated;
}

function isMismatch(
  lines: readonly ScriptLine[],
  spoken: readonly (ConfirmedTake | null)[],
  tokenCount: number,
): boolean {
  let total = 0;
  let found = 0;
  let used = 0;
  for (const [i, line] of lines.entries()) {
    if (!line.optional) total += line.words.length;
    const take = spoken[i];
    if (!take) continue;
    if (!line.optional) found += line.words.length;
    used += take.pairs.filter((tokens) => tokens >= 0).length;
  }
  return found < LEAST_SCRIPT * total && used < LEAST_SPEECH * tokenCount;
}
