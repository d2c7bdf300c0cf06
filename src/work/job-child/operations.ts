/** The operations of a job child: their inputs and results as plain data. Files are given as paths. */

import type { MediaInfo, RenderResult, ResolvedOutput, SniffedMedia } from "../../domain/media";
import type { CutOptions } from "../../domain/plan";
import type { StageChange } from "../../domain/planning/context";
import type { Finding } from "../../domain/planning/rules";
import type { Storyboard } from "../../domain/preview";
import type { ExportOptions } from "../../domain/timeline";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import type { MeasuredPaths } from "../../media/analysis-audio";
import type { ChunkCheck } from "../../media/chunks/check";
import type { VideoEncoder } from "../../media/encoder-arguments";
import type { Ffmpeg } from "../../media/ffmpeg";
import type { IncompleteFile } from "../../media/packets/incomplete-files";
import type { CleanAudioRequest } from "../../media/preview/clean-audio";
import type { IndexedSource } from "../../media/preview/source-index";
import type { IndexedTracks } from "../../media/preview/write-index";
import type { ProbeLimits } from "../../media/probe";
import type { RenderCacheFiles } from "../../media/render-cache/cache-file";
import type { RenderCheck } from "../../media/render-check";
import type { SplitOptions, SplitPlan, SplitSettings, SplitTask } from "../../media/split-render";
import type { SentPreparedFiles } from "../assets/prepared-check";
import type { AnalysisPaths } from "../assets/prepared-files";
import type { KeptCut } from "../cuts/kept-edits";
import type { PlanEdit } from "../cuts/plan-edits";
import type {
  CompletedCut,
  CutBasis,
  EditedPlanTexts,
  PlanFile,
  SubtitleOptions,
  TranscriptOptions,
  WholeRecording,
} from "../cuts/plan-outputs";
import type { RecognizedAgain } from "../cuts/recognized-again";

/** A probed source. `probed` is the path of the file that the operation `probe` writes. */
type ProbedSource = { ffmpeg: Ffmpeg; source: string; probed: string };

/** The path of the file of the speech analysis, for noise reduction only. */
type SpeechSource = { speechAnalysis: string | null };

/** `incomplete`: parts of the source are fetched when they are read; null for a source that is complete. */
type IncompleteSource = { incomplete: IncompleteFile | null };

type JobOperation<Input, Result> = { input: Input; result: Result };

export type JobOperations = {
  /** Sniffs and probes. Writes the result to the file `probed`, or reads it from there when it exists. */
  probe: JobOperation<ProbedSource & { limits: ProbeLimits }, { sniffed: SniffedMedia; info: MediaInfo }>;
  /** Writes the analysis audio, and measures it in the same pass. `measured` null: not. */
  extract: JobOperation<ProbedSource & { outputPath: string; measured: MeasuredPaths | null }, null>;
  /** Writes the index of the packets that browsers may play. `reasons`: why tracks are not playable. */
  indexSource: JobOperation<Pick<ProbedSource, "source" | "probed"> & { outputPath: string }, IndexedSource>;
  /** Writes sheets of keyframes. Returns null if only the preview can have them. */
  storyboard: JobOperation<ProbedSource & { outputDir: string }, Storyboard | null>;
  poster: JobOperation<ProbedSource & { outputPath: string }, null>;
  filmstrip: JobOperation<ProbedSource & { outputPath: string }, null>;
  /** Writes the peaks of the analysis audio `audio` of a recording that an older version prepared, as OCW1. */
  peaks: JobOperation<{ audio: string; outputPath: string }, null>;
  /** Writes the loudness of a source that an older version prepared, as OCL1. */
  loudness: JobOperation<{ ffmpeg: Ffmpeg; source: string; info: MediaInfo; outputPath: string }, null>;
  /** Encodes a part of the source with reduced noise. `adts` in base64; `cpuSeconds`: of the child. */
  cleanAudio: JobOperation<
    Omit<CleanAudioRequest, "path" | "voice"> & SpeechSource & { source: string },
    { adts: string; cpuSeconds: number }
  >;
  indexPreview: JobOperation<{ preview: string; outputPath: string }, IndexedTracks>;
  /**
   * `audio` is the analysis audio. Calls back `forcedAlign` and `recognize`. Returns a `PlanJson` as text with its
   * basis, and its findings and stages when `explain` is set.
   */
  plan: JobOperation<
    {
      paths: AnalysisPaths;
      audio: string;
      script: string;
      options: CutOptions;
      language: string | null;
      vocabulary: readonly VocabularyEntry[];
      explain: boolean;
      keepEditsOf?: KeptCut | null;
    },
    {
      plan: string;
      basis: string;
      items: string | null;
      findings: Finding[];
      stages: StageChange[];
      recognized: RecognizedAgain;
    }
  >;
  export: JobOperation<CompletedCut & { options: ExportOptions }, PlanFile>;
  subtitle: JobOperation<CompletedCut & { options: SubtitleOptions }, PlanFile>;
  transcript: JobOperation<CompletedCut & { options: TranscriptOptions }, PlanFile>;
  /** Checks an uploaded plan, and returns the seconds that it keeps. Throws `unsupported_media`. */
  checkPlan: JobOperation<{ path: string }, number>;
  edit: JobOperation<CompletedCut & Pick<CutBasis, "basis"> & { edit: PlanEdit }, EditedPlanTexts>;
  /** Returns the explanation of the API as JSON text. */
  explain: JobOperation<CompletedCut & CutBasis, string>;
  /** Returns a `PlanJson` that keeps the whole recording, as text. */
  keepAll: JobOperation<WholeRecording, string>;
  /**
   * Calls back `acquirePermit`, `releasePermit` and `chooseEncoder`. `plan` is a `PlanJson` as text; null renders the
   * whole source.
   */
  render: JobOperation<
    ProbedSource &
      SpeechSource & {
        plan: string | null;
        output: ResolvedOutput;
        workDir: string;
        outputPath: string;
        jobs: number;
        /** Segments that earlier renders of the recording have encoded. The new file is complete or missing. */
        cache: RenderCacheFiles | null;
      },
    RenderResult
  >;
  /** Plans a render whose chunks are encoded at several places. `plan` as for `render`. Calls back `fetchParts`. */
  planSplit: JobOperation<
    ProbedSource &
      SpeechSource &
      IncompleteSource & { plan: string | null; output: ResolvedOutput; encoder: VideoEncoder } & Pick<
        SplitOptions,
        "places" | "sizes"
      >,
    SplitPlan
  >;
  /**
   * Encodes a chunk to the file `chunk.name` in `workDir`. `jobs`: how many this machine encodes at the same time.
   * Calls back `fetchParts`.
   */
  encodeChunk: JobOperation<
    ProbedSource & IncompleteSource & { settings: SplitSettings; chunk: SplitTask; workDir: string; jobs: number },
    { repaired: boolean }
  >;
  /** Encodes the audio of a split render to the file `name` in `workDir`. */
  encodeAudio: JobOperation<
    ProbedSource & SpeechSource & { plan: string | null; output: ResolvedOutput; name: string; workDir: string },
    null
  >;
  /** Checks a file of a split render that another machine has sent. Returns its problem; null for a valid file. */
  checkChunk: JobOperation<Omit<ChunkCheck, "signal">, string | null>;
  /** Hashes a file, at most at this many bytes a second. `error`: why it cannot be read, such as `EIO`. */
  hashFile: JobOperation<{ path: string; bytesPerSecond: number }, { sha256: string | null; error: string | null }>;
  /** Reads the files of a preparation that another machine has sent. Returns their problem; null for valid files. */
  checkPrepared: JobOperation<SentPreparedFiles, string | null>;
  /** Reads the tables of a render that another machine has sent. */
  checkRender: JobOperation<{ probed: string; plan: string | null; output: ResolvedOutput; path: string }, RenderCheck>;
};
