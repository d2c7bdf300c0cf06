/** The plan of a recording without a script: pauses, hesitations and retakes go; what is not surely one of them stays. */
import { hearEchoes } from "./cut-echoes";
import { heardWords, inOrder } from "./cut-heard";
import { hearHesitations } from "./cut-hesitations";
import { type JudgedWord, makePieces, type Verdict } from "./cut-pieces";
import { assemble } from "./cut-policy";
import { hearSound, overlap, type Sound } from "./cut-sound";
import { findFillers } from "./fillers";
import type { CutOptions, Plan } from "./plan";
import { findRetakes } from "./retakes";
import { type Clock, joinReviews } from "./segments";
import type { Forced, ForceRequest, Listening, Transcript } from "./speech";
import type { Rational, Span } from "./time";

/** What every plan is made of. */
export type PlanContext = {
  listening: Listening;
  clock: Clock;
  frameRate: Rational | null;
  options: CutOptions;
  language: string | null;
};

/** A planner: yields what it wants held against the sound, takes the results, returns the plan. */
export type PlanSteps<Result> = Generator<ForceRequest[], Result, Forced[]>;

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
  const words = inOrder(transcript.words);
  const judged: JudgedWord[] = words.map(({ start, end, text }) => ({ start, end, text, ...KEEP }));
  const heardFillers = options.remove_fillers
    ? yield* hearHesitations(words, sound)
    : { spans: [], words: new Set<number>() };
  const fillers = options.remove_fillers ? findFillers(words).union(heardFillers.words) : heardFillers.words;
  for (const i of fillers) judged[i] = { ...judged[i]!, keep: false, reason: "filler" };
  if (!options.remove_retakes) return { words: judged, hesitations: heardFillers.spans };
  const spoken = heardWords(words, language).filter((word) => !fillers.has(word.word));
  const echoes = yield* hearEchoes(words, spoken, clock.duration);
  const { retakes, doubts } = findRetakes(words, spoken, echoes);
  for (const { from, to, kind } of retakes) {
    for (let i = from; i < to; i++) {
      judged[i] = { ...judged[i]!, keep: false, reason: kind === "retake" ? "retake" : "off_script" };
    }
  }
  for (const { from, to, review } of doubts) {
    for (let i = from; i < to; i++) judged[i] = { ...judged[i]!, review: joinReviews([judged[i]!.review, review]) };
  }
  return { words: judged, hesitations: heardFillers.spans };
}

function judgeWordless(
  island: Span,
  noise: boolean,
  hesitations: readonly Span[],
  { listening }: PlanContext,
): Verdict {
  const voiced = listening.speech.reduce((sum, span) => sum + overlap(span, island), 0);
  if (noise || voiced < (island.end - island.start) / 3) return { keep: false, reason: "noise", review: null };
  if (!listening.transcript) return KEEP;
  if (hesitations.some((span) => overlap(span, island) > 0)) return { keep: false, reason: "filler", review: null };
  return { ...KEEP, review: "speech that was not understood" };
}
