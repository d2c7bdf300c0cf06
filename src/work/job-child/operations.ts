/** The operations of a job child: their inputs and results as plain data. Files are given as paths. */
import type { MediaInfo, RenderResult, ResolvedOutput, SniffedMedia } from "../../domain/media";
import type { CutOptions } from "../../domain/plan";
import type { EditedSegment } from "../../domain/plan-edit";
import type { Finding } from "../../domain/planning/rules";
import type { ExportOptions } from "../../domain/timeline";
import type { Ffmpeg } from "../../media/ffmpeg";
import type { ProbeLimits } from "../../media/probe";
import type { CompletedCut, PlanFile, SubtitleOptions } from "../plan-outputs";
import type { AnalysisPaths } from "../prepared-files";
import type { RecognizedAgain } from "../recognized-again";

/** A probed source. `probed` is the path of the file that the operation `probe` writes. */
type ProbedSource = { ffmpeg: Ffmpeg; source: string; probed: string };

type JobOperation<Input, Result> = { input: Input; result: Result };

export type JobOperations = {
  /** Sniffs and probes. Writes the result to the file `probed`, or reads it from there when it exists. */
  probe: JobOperation<ProbedSource & { limits: ProbeLimits }, { sniffed: SniffedMedia; info: MediaInfo }>;
  extract: JobOperation<ProbedSource & { outputPath: string }, null>;
  waveform: JobOperation<{ audio: string; outputPath: string }, null>;
  poster: JobOperation<ProbedSource & { outputPath: string }, null>;
  filmstrip: JobOperation<ProbedSource & { outputPath: string }, null>;
  preview: JobOperation<ProbedSource & { outputPath: string }, null>;
  /** `audio` is the analysis audio. Calls back `forcedAlign` and `recognize`. Returns a `PlanJson` as text, and its findings when `explain` is set. */
  plan: JobOperation<
    {
      paths: AnalysisPaths;
      audio: string;
      script: string;
      options: CutOptions;
      language: string | null;
      explain: boolean;
    },
    { plan: string; findings: Finding[]; recognized: RecognizedAgain }
  >;
  export: JobOperation<CompletedCut & { options: ExportOptions }, PlanFile>;
  subtitle: JobOperation<CompletedCut & { options: SubtitleOptions }, PlanFile>;
  /** Returns a `PlanJson` as text. */
  edit: JobOperation<CompletedCut & { segments: EditedSegment[] }, string>;
  /** Calls back `acquirePermit` and `releasePermit`. `plan` is a `PlanJson` as text; null renders the whole source. */
  render: JobOperation<
    ProbedSource & {
      plan: string | null;
      output: ResolvedOutput;
      workDir: string;
      outputPath: string;
      encoder: string;
      jobs: number;
    },
    RenderResult
  >;
};
