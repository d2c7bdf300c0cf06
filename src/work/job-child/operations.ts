/** What a job child does: the inputs and results of its operations, as plain data. Files travel as paths. */
import type { MediaFolder } from "../../blobs/folders";
import type { MediaInfo, RenderResult, ResolvedOutput, SniffedMedia } from "../../domain/media";
import type { CutOptions } from "../../domain/plan";
import type { EditedSegment } from "../../domain/plan-edit";
import type { ExportOptions } from "../../domain/timeline";
import type { Ffmpeg } from "../../media/ffmpeg";
import type { ProbeLimits } from "../../media/probe";
import type { CompletedCut, PlanFile, SubtitleOptions } from "../plan-outputs";

/** A source that has been probed; `probed` is the file that `probe` wrote. */
type ProbedSource = { ffmpeg: Ffmpeg; source: string; probed: string };

type JobOperation<Input, Result> = { input: Input; result: Result };

export type JobOperations = {
  /** Sniffs and probes, and stores what was found in the file `probed`, unless that is there. */
  probe: JobOperation<ProbedSource & { limits: ProbeLimits }, { sniffed: SniffedMedia; info: MediaInfo }>;
  extract: JobOperation<ProbedSource & { outputPath: string }, null>;
  waveform: JobOperation<{ pcm: string; outputPath: string }, null>;
  poster: JobOperation<ProbedSource & { outputPath: string }, null>;
  filmstrip: JobOperation<ProbedSource & { outputPath: string }, null>;
  preview: JobOperation<ProbedSource & { outputPath: string }, null>;
  /** Asks `force`. Returns the plan as its JSON text. */
  plan: JobOperation<{ folder: MediaFolder; script: string; options: CutOptions; language: string | null }, string>;
  export: JobOperation<CompletedCut & { options: ExportOptions }, PlanFile>;
  subtitle: JobOperation<CompletedCut & { options: SubtitleOptions }, PlanFile>;
  /** Returns the edited plan as its JSON text. */
  edit: JobOperation<CompletedCut & { segments: EditedSegment[] }, string>;
  /** Asks `acquirePermit` and `releasePermit`. `plan` is a plan's JSON text; null renders the whole source. */
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
