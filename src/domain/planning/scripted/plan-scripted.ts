/** Plans a recording with its script: keeps one take of each line, and nothing that is not in the script. */
import type { Plan } from "../../plan";
import { measureWordDistance } from "../../text/normalize";
import { fromSeconds, type Span } from "../../time";
import { isUsableAlignment } from "../alignments";
import { assembleSegments } from "../assemble-segments";
import { detectActivity, estimateEdgeMargin } from "../audio-activity";
import type { PlanSteps } from "../context";
import { type Decision, toDecidedSpans } from "../decided-spans";
import { findRetakes, isTake, type Retake } from "../retakes/find-retakes";
import { findEarlierTakes } from "../retakes/takes-by-line";
import { durationOf } from "../spans";
import { listTakes } from "../take-list";
import { sortWords, type Token, tokenize } from "../tokens";
import { decideNoise, findUnrecognizedSpeech, toVoiceScores } from "../unrecognized-speech";
import { checkMatches } from "./check-matches";
import { type ConfirmedTake, confirmTakes, isWeak, MIN_SURE_SIMILARITY } from "./confirm-takes";
import { decideScriptedWords } from "./decide-words";
import { keepDifferingWords } from "./differing-words";
import { exciseDisfluencies } from "./excise-disfluencies";
import { findPath } from "./find-path";

import { completeLines } from "./incomplete-lines";
import type { LineCandidate } from "./line-candidates";
import { listLineTakes } from "./list-line-takes";
import { matchLines } from "./match-lines";
import { createLineBias, findLineBounds } from "./path-knowledge";
import { listPathTakes, type PathTake, withAdjacentTokens } from "./path-takes";
import { addReplacedLines } from "./replaced-lines";
import { rescueLines } from "./rescue-lines";
import { moveToRetakes } from "./retaken-lines";
import type { ScriptLine } from "./script-lines";
import type { ScriptedContext, ScriptedRecording } from "./scripted-recording";
import { settlePath } from "./settle-path";
import { splitCompounds } from "./split-compounds";
import { addOutOfOrder, addParaphrases } from "./unmatched-lines";

/** Below both shares, of spoken script and of scripted speech, the script belongs to another recording. */
const MIN_SPOKEN_SCRIPT_SHARE = 0.25;
const MIN_SCRIPTED_SPEECH_SHARE = 0.25;
/** A line that does not align counts as spoken if this share of its words is recognized. */
const MIN_SPOKEN_SIMILARITY = 0.8;
/** Shorter voice without words is a filler, or the end of a word. */
const MIN_UNRECOGNIZED_TICKS = fromSeconds(0.5);
const MAX_FILLER_TICKS = fromSeconds(0.9);

/** Plans with a script; `mismatch` if the script does not match the speech. */
export function* planScripted(context: ScriptedContext): PlanSteps<Plan | "mismatch"> {
  const { analysis, clock, options, language, transcript } = context;
  const activity = detectActivity({ ...analysis, duration: clock.duration });
  const known = sortWords(transcript.words);
  const words = sortWords([...known, ...findUnrecognizedSpeech(known, activity, analysis, MIN_UNRECOGNIZED_TICKS)]);
  const { lines, tokens } = splitCompounds(context.lines, tokenize(words, language));
  const recording: ScriptedRecording = { words, tokens, activity, lines };

  const matches = yield* matchLines(lines, tokens);
  const candidates = yield* checkMatches(matches, recording);
  const { retakes } = yield* findRetakes(words, tokens);
  const repeated = markRepeated(recording, retakes);
  const knowledge = () => ({
    repeated,
    bias: createLineBias(candidates, tokens.length),
    boundsOf: findLineBounds(lines, candidates, tokens.length),
  });
  let path = yield* findPath(lines, tokens, knowledge());
  const rescued = yield* rescueLines(listPathTakes(lines, path, tokens), candidates, recording);
  if (rescued.candidates.length > 0) {
    for (const candidate of rescued.candidates) insertCandidate(candidates[candidate.line]!, candidate);
    path = yield* findPath(lines, tokens, knowledge());
  }
  path = withAdjacentTokens(settlePath(path, recording, candidates), tokens, repeated);
  const earlierTakes = findEarlierTakes(words, tokens, retakes).takes;
  const retaken = yield* moveToRetakes(path, candidates, earlierTakes, recording);
  const completed = yield* completeLines(retaken.path, recording, repeated);
  const settled = yield* keepDifferingWords(completed, recording, repeated);

  const confirmed = yield* confirmTakes(listPathTakes(lines, settled, tokens), candidates, recording);
  const takes = confirmed.map((take) => (take && isWeak(take) ? null : take));
  if (isMismatch(recording, takes, listPathTakes(lines, path, tokens))) return "mismatch";
  const outOfOrder = addOutOfOrder(takes, candidates, lines);
  addParaphrases(takes, rescued.partialAlignments, recording);
  for (const [i, take] of confirmed.entries()) takes[i] ??= take;
  yield* addReplacedLines(takes, candidates, settled, recording, repeated);
  const kept = takes.filter((take) => take !== null);
  const excised = yield* exciseDisfluencies(kept, recording, options);

  const decided = decideScriptedWords(excised, candidates, settled, retaken.retaken, recording, context);
  const spans = toDecidedSpans(decided, activity, (region, noise) => decideWordlessRegion(region, noise, context));
  const assembled = assembleSegments(spans, clock, options, estimateEdgeMargin(activity));
  const lineTakes = listLineTakes(recording, candidates, takes, earlierTakes);
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lineTakes, assembled.segments),
    missing: lines.filter((line, i) => !takes[i] && !line.optional).map((line) => line.text),
    warnings: outOfOrder.map((line) => `Recorded out of order and left in place: ${lines[line]!.text}`),
    language: context.language,
  };
}

/** Adds a candidate in order of time. It replaces overlapping ones that were not accepted. */
function insertCandidate(row: LineCandidate[], candidate: LineCandidate): void {
  const others = row.filter((one) => one.accepted || one.to <= candidate.from || one.from >= candidate.to);
  row.splice(0, row.length, ...others, candidate);
  row.sort((a, b) => a.from - b.from);
}

/** Returns 1 for each token that is repeated immediately. */
function markRepeated({ words, tokens }: ScriptedRecording, retakes: readonly Retake[]): Uint8Array {
  const repeatedWords = new Uint8Array(words.length);
  for (const retake of retakes) if (isTake(retake)) repeatedWords.fill(1, retake.from, retake.to);
  return Uint8Array.from(tokens, (token) => repeatedWords[token.word]!);
}

function decideWordlessRegion(region: Span, noise: boolean, { analysis }: ScriptedContext): Decision {
  const scores = toVoiceScores(region, analysis);
  const rule = durationOf(region) <= MAX_FILLER_TICKS ? "filler.wordless_voice" : "off_script.unrecognized";
  return { removal: decideNoise(region, noise, analysis) ?? { rule, scores }, reviews: [] };
}

/** Returns whether a take shows that its line is spoken. Half of a short line may be there by coincidence. */
const isSpoken = (take: ConfirmedTake | null | undefined, found: number, line: ScriptLine): boolean =>
  (take != null && (take.isAligned || !isUsableAlignment(take.alignment))) ||
  found >= MIN_SPOKEN_SIMILARITY * line.words.length;

/** Returns how many words of the line resemble the tokens in their places. Replacement words do not count. */
const countFoundWords = (take: PathTake, line: ScriptLine, tokens: readonly Token[]): number =>
  line.words.filter((word, k) => {
    const token = tokens[take.pairs[k]!];
    return token !== undefined && measureWordDistance(word, token.normal) < 1;
  }).length;

/** Returns whether the script is that of another recording. `found`: the path's takes before moves to retakes. */
function isMismatch(
  { lines, tokens }: ScriptedRecording,
  takes: readonly (ConfirmedTake | null)[],
  found: readonly (PathTake | null)[],
): boolean {
  let scriptWords = 0;
  let spokenWords = 0;
  let matchedTokens = 0;
  for (const [i, line] of lines.entries()) {
    if (!line.optional) scriptWords += line.words.length;
    const take = takes[i];
    const before = found[i] && found[i].score >= MIN_SURE_SIMILARITY ? found[i] : null;
    const count = Math.max(...[take, before].map((one) => (one ? countFoundWords(one, line, tokens) : 0)));
    if (!line.optional && isSpoken(take, count, line)) spokenWords += line.words.length;
    matchedTokens += take?.isAligned ? line.words.length : count;
  }
  return (
    spokenWords < MIN_SPOKEN_SCRIPT_SHARE * scriptWords && matchedTokens < MIN_SCRIPTED_SPEECH_SHARE * tokens.length
  );
}
