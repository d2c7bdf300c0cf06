/** The plan of a recording without a script: pauses, hesitations and retakes go; what is not surely one of them stays. */

import type { Candidate, Plan } from "../../plan";
import { joinReviews } from "../../segments";
import type { Transcript } from "../../speech";
import { fromSeconds, type Span } from "../../time";
import { edgeBlur, hearSound, islandsIn, overlap, type Sound } from "../audio-activity";
import type { PlanContext, PlanSteps } from "../context";
import { type JudgedWord, makePieces, type Verdict } from "../decided-spans";
import { findFillers } from "../fillers/filler-words";
import { type Hesitations, hearHesitations } from "../fillers/unwritten-fillers";
import { hearEchoes } from "../retakes/acoustic-repetitions";
import { findRetakes } from "../retakes/find-retakes";
import { attemptedLines } from "../retakes/takes-by-line";
import { assemble } from "../segments-from-spans";
import { type ListedLine, listTakes } from "../take-list";
import { type HeardWord, heardWords, inOrder } from "../tokens";
import { isVoiced, notUnderstood } from "../unrecognized-speech";
import { echoedWords, wordsAtHome } from "../word-timing";
import { chooseTakes, type RatedLine, type RatedTake } from "./choose-takes";

const NOT_UNDERSTOOD = "speech that was not understood";
const SHORTEST_SPEECH = fromSeconds(0.25);
const KEEP: Verdict = { keep: true, reason: "silence", review: null };

/** Plans without a script. */
export function* planBySpeech(context: PlanContext): PlanSteps<Plan> {
  const { listening, clock, options } = context;
  const sound = hearSound({ ...listening, duration: clock.duration });
  const { words, hesitations, lines } = listening.transcript
    ? yield* judgeWords(listening.transcript, sound, context)
    : { words: listening.speech.map((span) => ({ ...span, ...KEEP, text: "" })), hesitations: [], lines: [] };
  const pieces = makePieces(words, sound, (island, noise) => judgeWordless(island, noise, hesitations, context));
  const assembled = assemble(pieces, clock, options, edgeBlur(sound));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lines, assembled.segments).filter((take) => take.candidates.length > 1),
    missing: [],
    warnings: listening.transcript
      ? []
      : ["No speech model knows this language: the cut is made from voice activity alone."],
  };
}

type Judged = { words: JudgedWord[]; hesitations: Span[]; lines: ListedLine[] };

function* judgeWords(transcript: Transcript, sound: Sound, context: PlanContext): PlanSteps<Judged> {
  const { options, language, clock } = context;
  const stretched = inOrder(transcript.words);
  const home = wordsAtHome(stretched, sound);
  const hesitations: Hesitations = options.remove_fillers
    ? yield* hearHesitations(home, sound)
    : { spans: [], words: new Set() };
  const known = stretched.map((word, i) => (reachesInto(hesitations.spans, word, home[i]!) ? home[i]! : word));
  const spelled = options.remove_fillers ? findFillers(known) : new Set<number>();
  const isFiller = new Set([...spelled, ...hesitations.words].map((i) => known[i]!));
  const words = inOrder([
    ...known,
    ...notUnderstood(known, sound, context.listening, SHORTEST_SPEECH, hesitations.spans),
  ]);
  const judged: JudgedWord[] = words.map((word) => {
    const { start, end, text } = word;
    if (isFiller.has(word)) return { start, end, text, keep: false, reason: "filler", review: null };
    return { start, end, text, ...KEEP, review: text === "" ? NOT_UNDERSTOOD : null };
  });
  if (!options.remove_retakes) return { words: judged, hesitations: hesitations.spans, lines: [] };
  const echoed = echoedWords(known, sound);
  const spoken = heardWords(words, language).filter(
    ({ word }) => !isFiller.has(words[word]!) && !echoed.has(words[word]!),
  );
  const echoes = yield* hearEchoes(words, spoken, clock.duration);
  const { retakes, doubts } = yield* findRetakes(words, spoken, echoes);
  for (const { from, to, kind } of retakes) {
    const reason = kind === "retake" ? "retake" : "off_script";
    for (let i = from; i < to; i++) if (!isFiller.has(words[i]!)) judged[i] = { ...judged[i]!, keep: false, reason };
  }
  for (const { from, to, review } of doubts) {
    for (let i = from; i < to; i++) judged[i] = { ...judged[i]!, review: joinReviews([judged[i]!.review, review]) };
  }
  const rated = chooseTakes(
    attemptedLines(words, spoken, retakes),
    { words, heard: spoken, sound },
    (i) => !judged[spoken[i]!.word]!.keep,
  );
  for (const { takes, chosen } of rated) swap(judged, spoken, takes, chosen);
  return { words: judged, hesitations: hesitations.spans, lines: rated.map(listed) };
}

/** Keeps the chosen take where it is not the last. */
function swap(judged: JudgedWord[], heard: readonly HeardWord[], takes: readonly RatedTake[], chosen: number): void {
  const last = takes[takes.length - 1]!;
  const best = takes[chosen]!;
  if (best === last) return;
  for (const [take, keep] of [[last, false] as const, [best, true] as const]) {
    for (const { word } of heard.slice(take.from, take.to)) judged[word] = { ...judged[word]!, keep, reason: "retake" };
  }
}

const listed = ({ text, takes, chosen }: RatedLine): ListedLine => ({
  line: text,
  chosen: candidateOf(takes[chosen]!),
  others: takes.filter((_, i) => i !== chosen).map(candidateOf),
});

const candidateOf = ({ start, end, score, complete }: RatedTake): Candidate => ({ start, end, score, complete });

/** Whether a word reaches into a hesitation that lies on the far side of a pause. */
const reachesInto = (spans: readonly Span[], word: Span, home: Span): boolean =>
  islandsIn(spans, word).some((span) => overlap(span, home) === 0);

function judgeWordless(
  island: Span,
  noise: boolean,
  hesitations: readonly Span[],
  { listening }: PlanContext,
): Verdict {
  if (hesitations.some((span) => overlap(span, island) > 0)) return { keep: false, reason: "filler", review: null };
  if (noise || !isVoiced(island, listening)) return { keep: false, reason: "noise", review: null };
  return { ...KEEP, review: listening.transcript ? NOT_UNDERSTOOD : null };
}
