/** The plan of a recording without a script: pauses, hesitations and retakes go; what is not surely one of them stays. */

import { assemble } from "../cut-policy";
import type { Plan } from "../plan";
import { joinReviews } from "../segments";
import type { Transcript } from "../speech";
import { fromSeconds, type Span } from "../time";
import { hearEchoes } from "./echoes";
import { findFillers } from "./fillers";
import { heardWords, inOrder } from "./heard";
import { type Hesitations, hearHesitations } from "./hesitations";
import { type JudgedWord, makePieces, type Verdict } from "./pieces";
import { findRetakes } from "./retakes";
import { hearSound, overlap, type Sound } from "./sound";
import type { PlanContext, PlanSteps } from "./steps";
import { isVoiced, notUnderstood } from "./unheard";

const NOT_UNDERSTOOD = "speech that was not understood";
const SHORTEST_SPEECH = fromSeconds(0.25);
const KEEP: Verdict = { keep: true, reason: "silence", review: null };

/** Plans without a script. */
export function* planBySpeech(context: PlanContext): PlanSteps<Plan> {
  const { listening, clock, options } = context;
  const sound = hearSound({ ...listening, duration: clock.duration });
  const { words, hesitations } = listening.transcript
    ? yield* judgeWords(listening.transcript, sound, context)
    : { words: listening.speech.map((span) => ({ ...span, ...KEEP, text: "" })), hesitations: [] };
  const pieces = makePieces(words, sound, (island, noise) => judgeWordless(island, noise, hesitations, context));
  return {
    sourceDuration: clock.duration,
    frameRate: context.frameRate,
    ...assemble(pieces, clock, options),
    takes: [],
    missing: [],
    warnings: listening.transcript
      ? []
      : ["No speech model knows this language: the cut is made from voice activity alone."],
  };
}

type Judged = { words: JudgedWord[]; hesitations: Span[] };

function* judgeWords(transcript: Transcript, sound: Sound, context: PlanContext): PlanSteps<Judged> {
  const { options, language, clock } = context;
  const known = inOrder(transcript.words);
  const hesitations: Hesitations = options.remove_fillers
    ? yield* hearHesitations(known, sound)
    : { spans: [], words: new Set() };
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
  if (!options.remove_retakes) return { words: judged, hesitations: hesitations.spans };
  const spoken = heardWords(words, language).filter((word) => !isFiller.has(words[word.word]!));
  const echoes = yield* hearEchoes(words, spoken, clock.duration);
  const { retakes, doubts } = findRetakes(words, spoken, echoes);
  for (const { from, to, kind } of retakes) {
    const reason = kind === "retake" ? "retake" : "off_script";
    for (let i = from; i < to; i++) if (!isFiller.has(words[i]!)) judged[i] = { ...judged[i]!, keep: false, reason };
  }
  for (const { from, to, review } of doubts) {
    for (let i = from; i < to; i++) judged[i] = { ...judged[i]!, review: joinReviews([judged[i]!.review, review]) };
  }
  return { words: judged, hesitations: hesitations.spans };
}

function judgeWordless(
  island: Span,
  noise: boolean,
  hesitations: readonly Span[],
  { listening }: PlanContext,
): Verdict {
  if (noise || !isVoiced(island, listening)) return { keep: false, reason: "noise", review: null };
  if (hesitations.some((span) => overlap(span, island) > 0)) return { keep: false, reason: "filler", review: null };
  return { ...KEEP, review: listening.transcript ? NOT_UNDERSTOOD : null };
}
