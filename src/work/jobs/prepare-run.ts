/**
 * Prepares a recording: probes it, then processes audio and video in parallel. Audio is extracted and transcribed;
 * video gets a poster and a filmstrip. Each file is complete or absent, so a later attempt resumes after the last
 * complete one.
 */
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getMediaFolder, type MediaFolder } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import type { MediaInfo, SniffedMedia } from "../../domain/media";
import { SOURCE_INDEX_VERSION, type SourceFacts } from "../../domain/preview";
import type { DetectedLanguage } from "../../domain/speech";
import { toSeconds } from "../../domain/time";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import { createFolders, writeAtomic } from "../../lib/atomic-file";
import { runTogether } from "../../lib/run-together";
import type { Ffmpeg } from "../../media/ffmpeg";
import { getSheetName } from "../../media/preview/storyboard";
import type { ProbeLimits } from "../../media/probe";
import { hasSpeechAnalysis, hasTranscript, readDetectedLanguage } from "../assets/prepared-files";
import { type JobChild, openRunChild } from "../job-child/child";
import { getProbeTimeLimits } from "../job-child/limits";
import { toMediaOptions } from "../job-child/plan-child";
import { commitFile, openScratchFolder, type ScratchFolder } from "../job-child/scratch";
import { isValidSource, readSourceFacts } from "../previews/files";
import { analyzeSpeech, type WordsCheckpoint } from "./analyze-speech";
import { listBlobs, removePartFiles } from "./blob-files";
import type { BlobRef, JobOutput, JobStage, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";
import { checkPlanFile } from "./plan-file-check";

export type PrepareInput = {
  blobs: { source: BlobRef };
  /** Null: detected. */
  language: string | null;
  limits: ProbeLimits;
  /** Names and terms with which the transcript is corrected. */
  vocabulary: readonly VocabularyEntry[];
  /**
   * `analysis` omits the files that are for clients only: waveform, poster and filmstrip. `voice` omits the transcript,
   * too. `probe` only probes. `images` probes and makes poster and filmstrip. `plan`: the source is the plan of a cut,
   * which is only checked.
   */
  scope: "all" | "analysis" | "voice" | "probe" | "images" | "plan";
};

/**
 * Intermediate results. `blobs` are the files that are complete by then; none for `words`, the next ones that were
 * recognized.
 */
export type PrepareCheckpoint =
  | WordsCheckpoint
  | (JobOutput & { kind: "probed"; info: MediaInfo; sniffed: SniffedMedia })
  | (JobOutput & { kind: "indexed" })
  | (JobOutput & { kind: "audio"; hasWaveform: boolean; hasTranscript: boolean; language: DetectedLanguage | null })
  | (JobOutput & { kind: "video"; hasPoster: boolean });

/** `blobs` are all files in the output folder but the source. `keptSeconds`: of a plan. */
export type PrepareOutput = JobOutput & { keptSeconds?: number };

type PrepareTools = Pick<MediaTools, "ffmpeg" | "jobCommand" | "maxFileBytes" | "sandbox" | "sharedChild" | "speech">;
type PrepareContext = RunContext<PrepareCheckpoint>;

/** The share of each stage. */
const STAGE_SHARES = { probing: 0.05, extracting: 0.1, transcribing: 0.7, video: 0.15 } as const;
type PrepareStage = keyof typeof STAGE_SHARES & JobStage;

/**
 * Prepares the recording. Errors: `AppError` `unsupported_media`, `corrupt_media`, `no_media_streams`,
 * `media_limits_exceeded`, `processing_failed`; `JobYielded`; `JobKilled`; the signal's reason when aborted.
 */
export async function runPrepare(
  tools: PrepareTools,
  input: PrepareInput,
  context: PrepareContext,
): Promise<PrepareOutput> {
  if (input.scope === "plan") {
    return { blobs: [], keptSeconds: await checkPlanFile(tools, input.blobs.source, context) };
  }
  const { outputDir, workDir } = context;
  const files = { ...getMediaFolder(outputDir), source: context.getInputPath(input.blobs.source.name) };
  await createFolders(outputDir);
  await removePartFiles(outputDir);
  await removeOldFormats(files);
  await using scratch = await openScratchFolder(join(workDir, "scratch"));
  await using child = openRunChild(tools.sharedChild, {
    ...toMediaOptions(tools, input.blobs.source.bytes),
    view: { readOnly: [files.source, outputDir], writable: [scratch.path], devices: false },
    limitCode: "corrupt_media",
  });
  // The models load while the recording is probed.
  const hasTranscription = input.scope === "all" || input.scope === "analysis";
  if (hasTranscription && !(await hasSpeechAnalysis(files))) tools.speech.warmUp();
  const report = createReporter(context);
  const listOutputs = () => listBlobs(outputDir, input.blobs.source.name);
  report("probing")(0);
  const { sniffed, info } = await probeSource(tools, input, { files, child, scratch, signal: context.signal });
  report("probing")(1);
  await context.checkpoint({ kind: "probed", blobs: await listOutputs(), info, sniffed });
  if (input.scope === "probe") return { blobs: await listOutputs() };

  // Speech recognition takes the longest and does not need the child.
  let childUsers = 2;
  const releaseChild = () => {
    childUsers--;
    if (childUsers === 0) void child.end();
  };
  const canYield = () => childUsers === 0 && context.shouldYield();
  const { promise: audioDecoded, resolve: endDecoding } = Promise.withResolvers<void>();
  const branch: Omit<Branch, "signal"> = {
    input,
    context,
    files,
    child,
    scratch,
    source: { ffmpeg: tools.ffmpeg, source: files.source, probed: files.probed },
    info,
    report,
    listOutputs,
    releaseChild,
    canYield,
    audioDecoded,
  };
  await runTogether(context.signal, [
    (signal) => prepareAudio(tools, { ...branch, signal }, endDecoding).finally(endDecoding),
    (signal) => prepareVideo({ ...branch, signal }),
  ]);
  return { blobs: await listOutputs() };
}

/** Removes files that an older version left of an unfinished preparation. */
async function removeOldFormats(files: MediaFolder): Promise<void> {
  for (const path of [files.rawAudio, join(dirname(files.rawAudio), "listening.progress")])
    await rm(path, { force: true });
}

/** Returns a function for each stage that reports the stage's share, and with it the share of the whole. */
function createReporter(context: PrepareContext): (stage: PrepareStage) => (stageShare: number) => void {
  const done: Record<PrepareStage, number> = { probing: 0, extracting: 0, transcribing: 0, video: 0 };
  return (stage) => (stageShare) => {
    done[stage] = stageShare;
    const share = Object.entries(STAGE_SHARES).reduce(
      (sum, [name, part]) => sum + part * done[name as PrepareStage],
      0,
    );
    context.progress({ share, stage, stageShare });
  };
}

/** Probes the source. Writes the file `probed` unless an earlier attempt has. */
async function probeSource(
  tools: PrepareTools,
  input: PrepareInput,
  { files, child, scratch, signal }: Pick<Branch, "files" | "child" | "scratch" | "signal">,
): Promise<{ sniffed: SniffedMedia; info: MediaInfo }> {
  const isProbed = await Bun.file(files.probed).exists();
  const probed = isProbed ? files.probed : join(scratch.path, basename(files.probed));
  const found = await child.run(
    "probe",
    { ffmpeg: tools.ffmpeg, source: files.source, probed, limits: input.limits },
    { signal, limits: getProbeTimeLimits(input.blobs.source.bytes) },
  );
  if (!isProbed) await commitFile(probed, files.probed);
  return found;
}

/** Shared by the audio and video branches. */
type Branch = {
  input: PrepareInput;
  context: PrepareContext;
  /** The source, and the output files by their names in an asset's folder. */
  files: MediaFolder;
  child: JobChild;
  scratch: ScratchFolder;
  /** The part of the child's input that all operations have. */
  source: { ffmpeg: Ffmpeg; source: string; probed: string };
  info: MediaInfo;
  signal: AbortSignal;
  report: ReturnType<typeof createReporter>;
  listOutputs(): Promise<BlobRef[]>;
  /** Called by each branch when it no longer needs the child. */
  releaseChild: () => void;
  /** Resolves when the audio has been decoded, or never will be. */
  audioDecoded: Promise<void>;
  /** Whether the job was asked to yield and no operation of the child, whose work would be lost, is running. */
  canYield: () => boolean;
};

async function prepareAudio(tools: PrepareTools, branch: Branch, endDecoding: () => void): Promise<void> {
  const { input, context, files, child, scratch, source, info, signal, report } = branch;
  if (info.audio.length === 0 || input.scope === "images") {
    branch.releaseChild();
    report("extracting")(1);
    report("transcribing")(1);
    if (input.scope === "images") return;
    const blobs = await branch.listOutputs();
    return context.checkpoint({ kind: "audio", blobs, hasWaveform: false, hasTranscript: false, language: null });
  }
  const options = { signal, recordingSeconds: toSeconds(info.duration) };
  report("extracting")(0);
  const isAnalyzed = await hasSpeechAnalysis(files);
  const transcribes = input.scope !== "voice";
  const hasWaveform = input.scope === "all";
  const { analysisAudio, waveform, peaks, loudness } = files;
  await scratch.createTogether(hasWaveform ? [waveform, peaks, loudness, analysisAudio] : [analysisAudio], (toPath) =>
    child.run(
      "extract",
      {
        ...source,
        outputPath: toPath(analysisAudio),
        measured: hasWaveform ? { waveform: toPath(waveform), peaks: toPath(peaks), loudness: toPath(loudness) } : null,
      },
      { ...options, onProgress: report("extracting") },
    ),
  );
  endDecoding();
  report("extracting")(1);
  branch.releaseChild();
  // Detecting speech is quick, and no stage of its own.
  const onProgress = transcribes ? report("transcribing") : () => {};
  onProgress(0);
  const canYield = branch.canYield;
  const { language: requested, vocabulary } = input;
  const speech = {
    engine: tools.speech,
    context,
    files,
    signal,
    language: requested,
    vocabulary,
    transcribes,
    canYield,
  };
  const reportsWords = input.scope === "all";
  const analyzed = async () => (await analyzeSpeech({ ...speech, reportsWords, onProgress })).language;
  const language = isAnalyzed ? await readDetectedLanguage(files) : await analyzed();
  onProgress(1);
  const blobs = await branch.listOutputs();
  await context.checkpoint({
    kind: "audio",
    blobs,
    hasWaveform,
    hasTranscript: await hasTranscript(files),
    language: language ?? null,
  });
}

async function prepareVideo(branch: Branch): Promise<void> {
  const { input, context, files, child, scratch, source, info, signal, report } = branch;
  if (input.scope === "analysis" || input.scope === "voice") return branch.releaseChild();
  const options = { signal, recordingSeconds: toSeconds(info.duration) };
  if (input.scope === "all") await indexSource(branch, options);
  const hasPoster = info.video !== null;
  if (hasPoster) {
    await scratch.createOnce(files.poster, (outputPath) => child.run("poster", { ...source, outputPath }, options));
    await scratch.createOnce(files.filmstrip, (outputPath) =>
      child.run("filmstrip", { ...source, outputPath }, { ...options, onLog: context.log }),
    );
  }
  branch.releaseChild();
  report("video")(1);
  await context.checkpoint({ kind: "video", blobs: await branch.listOutputs(), hasPoster });
}

/**
 * Makes the recording playable in browsers that can decode it, then a storyboard, unless an earlier attempt has.
 * Playback does not wait for the storyboard, which reads the whole recording.
 */
async function indexSource(branch: Branch, options: { signal: AbortSignal; recordingSeconds: number }): Promise<void> {
  const { context, files, child, scratch, source, info } = branch;
  const known = await readSourceFacts(files);
  const facts = known ?? (await writeSourceIndex(branch, options));
  const sheets = Array.from({ length: facts.storyboard?.sheets ?? 0 }, (_, n) => files.storyboardSheet(n));
  const indexed = [files.sourceIndex, files.sourceFacts, ...sheets].map((path) => basename(path));
  // A worker sends them before the facts are replaced.
  const blobs = (await branch.listOutputs()).filter(({ name }) => indexed.includes(name));
  await context.checkpoint({ kind: "indexed", blobs });
  // The poster is made after the storyboard, which may have failed.
  if (info.video === null || facts.storyboard !== null || (await Bun.file(files.poster).exists())) return;
  // Recognition, which takes the longest, starts sooner when the storyboard does not slow down the decoder.
  await branch.audioDecoded;
  const outputDir = join(scratch.path, "sheets");
  const storyboard = await child.run("storyboard", { ...source, outputDir }, options);
  if (storyboard === null) return;
  const text = toSourceFactsText({ ...facts, storyboard });
  for (let n = 0; n < storyboard.sheets; n++)
    await commitFile(join(outputDir, getSheetName(n)), files.storyboardSheet(n));
  await writeAtomic(files.sourceFacts, text);
}

async function writeSourceIndex(
  { context, files, child, scratch, source }: Branch,
  options: { signal: AbortSignal; recordingSeconds: number },
): Promise<SourceFacts> {
  const index = join(scratch.path, basename(files.sourceIndex));
  const { reasons, video, audio } = await child.run("indexSource", { ...source, outputPath: index }, options);
  if (reasons.length > 0) context.log("source.not_playable", { reasons });
  const facts: SourceFacts = { version: SOURCE_INDEX_VERSION, video, audio, storyboard: null };
  const text = toSourceFactsText(facts);
  await commitFile(index, files.sourceIndex);
  await writeAtomic(files.sourceFacts, text);
  return facts;
}

/** Throws `AppError` `processing_failed` for facts that cannot be true: the child has parsed the file. */
function toSourceFactsText(facts: SourceFacts): string {
  if (!isValidSource(facts)) throw new AppError("processing_failed", "The recording could not be indexed.");
  return JSON.stringify(facts);
}
