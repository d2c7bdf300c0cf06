/** Plans a cut from the prepared files. A child process creates the plan; the speech model runs in another one. */

import { AppError } from "../../domain/errors";
import type { CutOptions } from "../../domain/plan";
import type { StageChange } from "../../domain/planning/context";
import type { Finding } from "../../domain/planning/rules";
import type { AlignmentRequest, RecognitionRequest } from "../../domain/speech";
import { type Ticks, toSeconds } from "../../domain/time";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import type { KeptCut } from "../cuts/kept-edits";
import type { RecognizedAgain } from "../cuts/recognized-again";
import { openPlanChild } from "../job-child/plan-child";
import type { BlobRef, JobOutput, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";

export type CutInput = {
  /** All but `probed` are null for a recording without audio. */
  blobs: { probed: BlobRef; speechAnalysis: BlobRef | null; energy: BlobRef | null; audio: BlobRef | null };
  script: string;
  options: CutOptions;
  /** The cut whose edits are applied again; null if it was deleted, missing without one. */
  keepEditsOf?: KeptCut | null;
  /** Null: the language of the transcript. */
  language: string | null;
  /** Names and terms with which the texts are corrected. */
  vocabulary: readonly VocabularyEntry[];
  duration: Ticks;
  /** Return the findings of the plan (the rules and scores behind each decision), and what each stage changed. */
  explain: boolean;
};

/**
 * `plan` is a `PlanJson` as text, `basis` its compressed basis. `items`: the review items of an edited plan, taken from
 * the plan before the edits. `findings` and `stages` are empty unless the input asks for them.
 */
export type CutOutput = JobOutput & {
  plan: string;
  basis: string | null;
  items: string | null;
  findings: Finding[];
  stages: StageChange[];
  recognized: RecognizedAgain;
};

type RecognizeCall = { requests: RecognitionRequest[]; language: string | null };

/**
 * Plans the cut. Errors: those of `planCut`; `AppError` `no_speech` without audio; the signal's reason when aborted.
 */
export async function runCut(
  tools: Pick<MediaTools, "jobCommand" | "sandbox" | "speech" | "sharedChild">,
  input: CutInput,
  context: RunContext,
): Promise<CutOutput> {
  const { signal, owner, getInputPath } = context;
  const { probed, speechAnalysis, energy, audio } = input.blobs;
  if (speechAnalysis === null || energy === null || audio === null)
    throw new AppError("no_speech", "Recording has no audio track.");
  context.progress({ share: 0.1, stage: "planning", stageShare: 0 });
  const paths = {
    probed: getInputPath(probed.name),
    speechAnalysis: getInputPath(speechAnalysis.name),
    energy: getInputPath(energy.name),
  };
  const audioFile = { path: getInputPath(audio.name) };
  await using child = openPlanChild(tools, [...Object.values(paths), audioFile.path]);
  const { script, options, language, vocabulary, explain, keepEditsOf } = input;
  const result = await child.run(
    "plan",
    {
      paths,
      audio: audioFile.path,
      script,
      options,
      language,
      vocabulary,
      explain,
      ...(keepEditsOf !== undefined && { keepEditsOf }),
    },
    {
      signal,
      recordingSeconds: toSeconds(input.duration),
      onLog: context.log,
      callbacks: {
        forcedAlign: (requests: AlignmentRequest[], cancelled) =>
          tools.speech.forcedAlign(audioFile, requests, { owner, signal: cancelled }),
        recognize: ({ requests, language: recognizer }: RecognizeCall, cancelled) =>
          tools.speech.recognize(audioFile, requests, { owner, signal: cancelled, language: recognizer }),
      },
    },
  );
  return { blobs: [], ...result };
}
