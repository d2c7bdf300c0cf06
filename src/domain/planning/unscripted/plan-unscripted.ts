/** The plan of a recording without a script: pauses, hesitations and retakes go; what is not surely one of them stays. */

import type { Candidate, Plan } from "../../plan";
import { joinReviews } from "../../segments";
import type { Transcript } from "../../speech";
import { fromSeconds, type Span } from "../../time";
import {
  type AudioActivity,
  detectActivity,
  estimateEdgeMargin,
  findOverlapping,
  overlapDuration,
} from "../audio-activity";
import type { PlanContext, PlanSteps } from "../context";
import { type DecidedWord, type Decision, toDecidedSpans } from "../decided-spans";
import { findFillers } from "../fillers/filler-words";
import { findUnwrittenFillers, type UnwrittenFillers } from "../fillers/unwritten-fillers";
import { findAcousticRepetitions } from "../retakes/acoustic-repetitions";
import { findRetakes } from "../retakes/find-retakes";
import { groupTakesByLine } from "../retakes/takes-by-line";
import { assembleSegments } from "../segments-from-spans";
import { type LineTakes, listTakes } from "../take-list";
import { sortWords, type Token, tokenize } from "../tokens";
import { findUnrecognizedSpeech, isVoiced } from "../unrecognized-speech";
import { findDuplicatedWords, trimWordsAtPauses } from "../word-timing";
import { chooseTakes, type RatedLine, type RatedTake } from "./choose-takes";

const NOT_UNDERSTOOD = "speech that was not understood";
const SHORTEST_SPEECH = fromSeconds(0.25);
const KEEP: Decision = { keep: true, reason: "silence", review: null };

/** Plans without a script. */
export function* planUnscripted(context: PlanContext): PlanSteps<Plan> {
  const { listening, clock, options } = context;
  const activity = detectActivity({ ...listening, duration: clock.duration });
  const { words, unwrittenFillers, lines } = listening.transcript
    ? yield* decideWords(listening.transcript, activity, context)
    : { words: listening.speech.map((span) => ({ ...span, ...KEEP, text: "" })), unwrittenFillers: [], lines: [] };
  const decidedSpans = toDecidedSpans(words, activity, (region, noise) =>
    decideWordlessRegion(region, noise, unwrittenFillers, context),
  );
  const assembled = assembleSegments(decidedSpans, clock, options, estimateEdgeMargin(activity));
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

type DecidedTranscript = { words: DecidedWord[]; unwrittenFillers: Span[]; lines: LineTakes[] };

function* decideWords(
  transcript: Transcript,
  activity: AudioActivity,
  context: PlanContext,
): PlanSteps<DecidedTranscript> {
  const { options, language, clock } = context;
  const stretched = sortWords(transcript.words);
  const trimmed = trimWordsAtPauses(stretched, activity);
  const unwrittenFillers: UnwrittenFillers = options.remove_fillers
    ? yield* findUnwrittenFillers(trimmed, activity)
    : { spans: [], words: new Set() };
  const known = stretched.map((word, i) =>
    reachesInto(unwrittenFillers.spans, word, trimmed[i]!) ? trimmed[i]! : word,
  );
  const spelled = options.remove_fillers ? findFillers(known) : new Set<number>();
  const isFiller = new Set([...spelled, ...unwrittenFillers.words].map((i) => known[i]!));
  const words = sortWords([
    ...known,
    ...findUnrecognizedSpeech(known, activity, context.listening, SHORTEST_SPEECH, unwrittenFillers.spans),
  ]);
  const decidedWords: DecidedWord[] = words.map((word) => {
    const { start, end, text } = word;
    if (isFiller.has(word)) return { start, end, text, keep: false, reason: "filler", review: null };
    return { start, end, text, ...KEEP, review: text === "" ? NOT_UNDERSTOOD : null };
  });
  if (!options.remove_retakes) return { words: decidedWords, unwrittenFillers: unwrittenFillers.spans, lines: [] };
  const duplicated = findDuplicatedWords(known, activity);
  const spoken = tokenize(words, language).filter(
    ({ word }) => !isFiller.has(words[word]!) && !duplicated.has(words[word]!),
  );
  const acousticRepetitions = yield* findAcousticRepetitions(words, spoken, clock.duration);
  const { retakes, doubts } = yield* findRetakes(words, spoken, acousticRepetitions);
  for (const { from, to, kind } of retakes) {
    const reason = kind === "retake" ? "retake" : "off_script";
    for (let i = from; i < to; i++)
      if (!isFiller.has(words[i]!)) decidedWords[i] = { ...decidedWords[i]!, keep: false, reason };
  }
  for (const { from, to, review } of doubts) {
    for (let i = from; i < to; i++)
      decidedWords[i] = { ...decidedWords[i]!, review: joinReviews([decidedWords[i]!.review, review]) };
  }
  const rated = chooseTakes(
    groupTakesByLine(words, spoken, retakes),
    { words, tokens: spoken, activity },
    (i) => !decidedWords[spoken[i]!.word]!.keep,
  );
  for (const { takes, chosen } of rated) swap(decidedWords, spoken, takes, chosen);
  return { words: decidedWords, unwrittenFillers: unwrittenFillers.spans, lines: rated.map(listed) };
}

/** Keeps the chosen take where it is not the last. */
function swap(
  decidedWords: DecidedWord[],
  tokens: readonly Token[],
  takes: readonly RatedTake[],
  chosen: number,
): void {
  const last = takes[takes.length - 1]!;
  const best = takes[chosen]!;
  if (best === last) return;
  for (const [take, keep] of [[last, false] as const, [best, true] as const]) {
    for (const { word } of tokens.slice(take.from, take.to))
      decidedWords[word] = { ...decidedWords[word]!, keep, reason: "retake" };
  }
}

const listed = ({ text, takes, chosen }: RatedLine): LineTakes => ({
  line: text,
  chosen: candidateOf(takes[chosen]!),
  others: takes.filter((_, i) => i !== chosen).map(candidateOf),
});

const candidateOf = ({ start, end, score, complete }: RatedTake): Candidate => ({ start, end, score, complete });

/** Whether a word reaches into a hesitation that lies on the far side of a pause. */
const reachesInto = (spans: readonly Span[], word: Span, trimmed: Span): boolean =>
  findOverlapping(spans, word).some((span) => overlapDuration(span, trimmed) === 0);

function decideWordlessRegion(
  region: Span,
  noise: boolean,
  unwrittenFillers: readonly Span[],
  { listening }: PlanContext,
): Decision {
  if (unwrittenFillers.some((span) => overlapDuration(span, region) > 0))
    return { keep: false, reason: "filler", review: null };
  if (noise || !isVoiced(region, listening)) return { keep: false, reason: "noise", review: null };
  return { ...KEEP, review: listening.transcript ? NOT_UNDERSTOOD : null };
}
