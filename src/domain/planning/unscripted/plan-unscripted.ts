/** Plans a recording without a script: pauses, fillers and retakes are removed. What is not surely one of them stays. */
import type { Candidate, Plan } from "../../plan";
import type { Transcript } from "../../speech";
import { fromSeconds, type Span } from "../../time";
import { assembleSegments } from "../assemble-segments";
import { type AudioActivity, detectActivity, estimateEdgeMargin } from "../audio-activity";
import type { PlanContext, PlanSteps } from "../context";
import { type DecidedWord, type Decision, KEEP, toDecidedSpans } from "../decided-spans";
import { findFillers } from "../fillers/filler-words";
import { type FillerMatch, findUnwrittenFillers, type UnwrittenFillers } from "../fillers/unwritten-fillers";
import { findAcousticRepetitions } from "../retakes/acoustic-repetitions";
import { findRetakes } from "../retakes/find-retakes";
import { groupTakesByLine } from "../retakes/takes-by-line";
import { findOverlapping, overlapDuration } from "../spans";
import { type LineTakes, listTakes } from "../take-list";
import { sortWords, type Token, tokenize } from "../tokens";
import { decideNoise, findUnrecognizedSpeech, unrecognizedSpeech } from "../unrecognized-speech";
import { findDuplicatedWords, trimWordsAtPauses } from "../word-timing";
import { chooseTakes, type RatedLine, type RatedTake } from "./choose-takes";

/** Shorter voice without words is part of a word. */
const MIN_UNRECOGNIZED_TICKS = fromSeconds(0.25);

/** Plans without a script. */
export function* planUnscripted(context: PlanContext): PlanSteps<Plan> {
  const { analysis, clock, options } = context;
  const activity = detectActivity({ ...analysis, duration: clock.duration });
  const { words, fillers, lines } = analysis.transcript
    ? yield* decideWords(analysis.transcript, activity, context)
    : { words: analysis.speech.map((span) => ({ ...span, ...KEEP, text: "" })), fillers: [], lines: [] };
  const spans = toDecidedSpans(words, activity, (region, noise) =>
    decideWordlessRegion(region, noise, fillers, context),
  );
  const assembled = assembleSegments(spans, clock, options, estimateEdgeMargin(activity));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assembled,
    takes: listTakes(lines, assembled.segments).filter((take) => take.candidates.length > 1),
    missing: [],
    warnings: analysis.transcript
      ? []
      : ["No speech model knows this language: the cut is made from voice activity alone."],
  };
}

type DecidedTranscript = { words: DecidedWord[]; fillers: UnwrittenFillers["spans"]; lines: LineTakes[] };

function* decideWords(
  transcript: Transcript,
  activity: AudioActivity,
  context: PlanContext,
): PlanSteps<DecidedTranscript> {
  const { options, language, clock, analysis } = context;
  const transcribed = sortWords(transcript.words);
  const trimmed = trimWordsAtPauses(transcribed, activity);
  const unwritten: UnwrittenFillers = options.remove_fillers
    ? yield* findUnwrittenFillers(trimmed, activity)
    : { spans: [], words: new Map() };
  const known = transcribed.map((word, i) =>
    spansDistantFiller(unwritten.spans, word, trimmed[i]!) ? trimmed[i]! : word,
  );
  const fillers = new Map<Span, FillerMatch>();
  const written = options.remove_fillers ? findFillers(known) : [];
  for (const [i, match] of [...unwritten.words, ...written]) fillers.set(known[i]!, match);
  const unrecognized = findUnrecognizedSpeech(known, activity, analysis, MIN_UNRECOGNIZED_TICKS, unwritten.spans);
  const words = sortWords([...known, ...unrecognized]);
  const decided: DecidedWord[] = words.map((word) => {
    const { start, end, text } = word;
    const reviews = text === "" ? [unrecognizedSpeech(word, analysis)] : [];
    const removal = fillers.get(word) ?? null;
    return { start, end, text, removal, reviews: removal ? [] : reviews };
  });
  if (!options.remove_retakes) return { words: decided, fillers: unwritten.spans, lines: [] };
  const duplicated = findDuplicatedWords(known, activity);
  const tokens = tokenize(words, language).filter(
    ({ word }) => !fillers.has(words[word]!) && !duplicated.has(words[word]!),
  );
  const acousticRepetitions = yield* findAcousticRepetitions(words, tokens, clock.duration);
  const { retakes, possible } = yield* findRetakes(words, tokens, acousticRepetitions);
  for (const { from, to, match } of retakes) {
    for (let i = from; i < to; i++) if (!fillers.has(words[i]!)) decided[i] = { ...decided[i]!, removal: match };
  }
  for (const { from, to, match } of possible) {
    for (let i = from; i < to; i++) decided[i] = { ...decided[i]!, reviews: [...decided[i]!.reviews, match] };
  }
  const rated = chooseTakes(
    groupTakesByLine(words, tokens, retakes),
    { words, tokens, activity },
    (i) => decided[tokens[i]!.word]!.removal !== null,
  );
  for (const line of rated) keepChosenTake(decided, tokens, line);
  return { words: decided, fillers: unwritten.spans, lines: rated.map(toLineTakes) };
}

/** Keeps the chosen take, and removes the last one, where that is another. */
function keepChosenTake(decided: DecidedWord[], tokens: readonly Token[], { text, takes, chosen }: RatedLine): void {
  const last = takes[takes.length - 1]!;
  const best = takes[chosen]!;
  if (best === last) return;
  const scores = { line: text, quality: last.score, keptQuality: best.score, keptAt: best.start };
  const removal = { rule: "retake.worse_take", scores } as const;
  for (const { word } of tokens.slice(last.from, last.to)) decided[word] = { ...decided[word]!, removal };
  for (const { word } of tokens.slice(best.from, best.to)) decided[word] = { ...decided[word]!, removal: null };
}

const toLineTakes = ({ text, takes, chosen }: RatedLine): LineTakes => ({
  line: text,
  chosen: toCandidate(takes[chosen]!),
  others: takes.filter((_, i) => i !== chosen).map(toCandidate),
});

const toCandidate = ({ start, end, score, complete }: RatedTake): Candidate => ({ start, end, score, complete });

/** Returns whether a word extends into a filler on the far side of a pause. */
const spansDistantFiller = (fillers: readonly Span[], word: Span, trimmed: Span): boolean =>
  findOverlapping(fillers, word).some((span) => overlapDuration(span, trimmed) === 0);

function decideWordlessRegion(
  region: Span,
  noise: boolean,
  fillers: UnwrittenFillers["spans"],
  { analysis }: PlanContext,
): Decision {
  const filler = fillers.find((span) => overlapDuration(span, region) > 0);
  if (filler) return { removal: filler.match, reviews: [] };
  const removal = decideNoise(region, noise, analysis);
  if (removal) return { removal, reviews: [] };
  return { removal: null, reviews: analysis.transcript ? [unrecognizedSpeech(region, analysis)] : [] };
}
