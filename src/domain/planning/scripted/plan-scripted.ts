/** The plan of a recording with its script: of each line the take that is kept, and nothing that is not in the script. */

import type { Plan } from "../../plan";
import { fromSeconds } from "../../time";
import { edgeBlur, hearSound } from "../audio-activity";
import type { PlanSteps } from "../context";
import { makePieces, type Verdict } from "../decided-spans";
import { findRetakes, type Retake } from "../retakes/find-retakes";
import { attemptsOf } from "../retakes/takes-by-line";
import { assemble } from "../segments-from-spans";
import { listTakes } from "../take-list";
import { heardWords, inOrder } from "../tokens";
import { isVoiced, notUnderstood } from "../unrecognized-speech";
import { checkMatches } from "./check-matches";
import { confirmTakes, isWeak, type SpokenLine } from "./confirm-takes";
import { wordsOfTakes } from "./decide-words";
import { excise } from "./excise-disfluencies";
import { findPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { spokenTakes } from "./list-line-takes";
import { matchLines } from "./match-lines";
import { biasOf, reachOf, takesOf, withFringes } from "./path-takes";
import { rescueLines } from "./rescue-lines";
import type { ScriptLine } from "./script-lines";
import type { Hearing, ScriptContext } from "./scripted-input";
import { settledPath } from "./settle-path";
import { splitCompounds } from "./split-compounds";
import { addOutOfOrder, addParaphrases } from "./unmatched-lines";

/** Below both shares, of the script that is spoken and of the speech that is script, the script belongs to another recording. */
const LEAST_SCRIPT = 0.25;
const LEAST_SPEECH = 0.25;
/** Shorter voice without words is a hesitation, or the end of a word. */
const SHORTEST_UNHEARD = fromSeconds(0.5);
const LONGEST_HESITATION = fromSeconds(0.9);

/** Plans with a script; `mismatch` when the script is not what is spoken. */
export function* planByScript(context: ScriptContext): PlanSteps<Plan | "mismatch"> {
  const { listening, clock, options, language, transcript } = context;
  const sound = hearSound({ ...listening, duration: clock.duration });
  const known = inOrder(transcript.words);
  const words = inOrder([...known, ...notUnderstood(known, sound, listening, SHORTEST_UNHEARD)]);
  const { lines, heard } = splitCompounds(context.lines, heardWords(words, language));
  const hearing: Hearing = { words, heard, sound, lines };
  const matches = yield* matchLines(lines, heard);
  const candidates = yield* checkMatches(matches, hearing);
  const repeats = (yield* findRetakes(words, heard)).retakes;
  const again = saidAgain(hearing, repeats);
  const search = () => ({
    again,
    bias: biasOf(candidates, heard.length),
    reach: reachOf(lines, candidates, heard.length),
  });
  let path = yield* findPath(lines, heard, search());
  const rescued = yield* rescueLines(takesOf(lines, path, heard), candidates, hearing);
  if (rescued.candidates.length > 0) {
    for (const candidate of rescued.candidates) addInOrder(candidates[candidate.line]!, candidate);
    path = yield* findPath(lines, heard, search());
  }
  path = withFringes(settledPath(path, lines, candidates, heard), heard, again);
  const confirmed = yield* confirmTakes(takesOf(lines, path, heard), candidates, hearing);
  const spoken = confirmed.map((take) => (take && isWeak(take) ? null : take));
  if (isMismatch(lines, spoken, heard.length)) return "mismatch";
  const outOfOrder = addOutOfOrder(spoken, candidates, lines);
  addParaphrases(spoken, rescued.traces, hearing);
  for (const [i, take] of confirmed.entries()) spoken[i] ??= take;

  const refined = yield* excise(
    spoken.filter((take) => take !== null),
    hearing,
    options,
  );
  const pieces = makePieces(
    wordsOfTakes(refined, candidates, path, hearing, options),
    hearing.sound,
    (island, noise): Verdict => {
      if (noise || !isVoiced(island, listening)) return { keep: false, reason: "noise", review: null };
      const short = island.end - island.start <= LONGEST_HESITATION;
      return { keep: false, reason: short ? "filler" : "off_script", review: null };
    },
  );
  const assembled = assemble(pieces, clock, options, edgeBlur(sound));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(
      spokenTakes(hearing, candidates, spoken, attemptsOf(words, heard, repeats).attempts),
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
function saidAgain({ words, heard }: Hearing, repeats: readonly Retake[]): Uint8Array {
  const again = new Uint8Array(heard.length);
  const gone = new Uint8Array(words.length);
  for (const { from, to, kind } of repeats) if (kind === "retake") gone.fill(1, from, to);
  for (const [j, word] of heard.entries()) again[j] = gone[word.word]!;
  return again;
}

function isMismatch(lines: readonly ScriptLine[], spoken: readonly (SpokenLine | null)[], heardCount: number): boolean {
  let total = 0;
  let found = 0;
  let used = 0;
  for (const [i, line] of lines.entries()) {
    if (!line.optional) total += line.words.length;
    const take = spoken[i];
    if (!take) continue;
    if (!line.optional) found += line.words.length;
    used += take.pairs.filter((heard) => heard >= 0).length;
  }
  return found < LEAST_SCRIPT * total && used < LEAST_SPEECH * heardCount;
}
