/** The child process of a job. Everything that parses uploaded media, or spends long on it, runs here. */
import { AppError } from "../../domain/errors";
import { JobKilled } from "../../domain/jobs";
import type { RenderRequest, ResolvedOutput } from "../../domain/media";
import { type PlanJson, planSegments, planToJson } from "../../domain/plan-json";
import type { ForcedAlignment, Recognition, RecognitionRequest } from "../../domain/speech";
import { type Operations, serveCalls, type WorkerCall } from "../../lib/ipc-calls";
import type { Semaphore } from "../../lib/semaphore";
import { countKernelKills } from "../../media/ffmpeg";
import type { IncompleteFile } from "../../media/packets/incomplete-files";
import {
  readProbed,
  readSpeechAnalysis,
  readVoiceActivity,
  requireProbed,
  writeProbed,
} from "../assets/prepared-files";
import { findRecognizerLanguage, measureRecognitions } from "../cuts/recognized-again";
import { jobErrorCodec } from "./error-codec";
import type { JobOperations } from "./operations";

type Implementation = {
  [Name in keyof JobOperations]: (
    input: JobOperations[Name]["input"],
    call: WorkerCall,
  ) => Promise<JobOperations[Name]["result"]>;
};

/** Serves operations from standard input until the parent closes it or ends. */
export async function runJobWorker(): Promise<void> {
  const output = Bun.stdout.writer();
  await serveCalls({
    input: Bun.stdin.stream(),
    send: (frame) => {
      output.write(frame);
      void output.flush();
    },
    operations: Object.fromEntries(
      Object.entries<Operations[string]>(OPERATIONS).map(([name, run]) => [name, withKillDetection(run)]),
    ),
    errors: jobErrorCodec,
  });
}

/**
 * Throws `JobKilled` when the kernel killed an ffmpeg process of the operation, whatever error the operation reported.
 */
function withKillDetection(run: Operations[string]): Operations[string] {
  return async (input, call) => {
    const before = countKernelKills();
    try {
      return await run(input, call);
    } catch (error) {
      throw countKernelKills() > before && !call.signal.aborted ? new JobKilled() : error;
    }
  };
}

const MAX_SNIFFED_BYTES = 64 * 1024;

/** Operations import their code on demand, so that planning does not load the media libraries. */
const OPERATIONS: Implementation = {
  async probe({ ffmpeg, source, probed, limits }, { signal }) {
    const [{ sniffMedia }, { probeMedia }] = await Promise.all([
      import("../../media/probing/sniff"),
      import("../../media/probe"),
    ]);
    const head = new Uint8Array(await Bun.file(source).slice(0, MAX_SNIFFED_BYTES).arrayBuffer());
    const sniffed = await sniffMedia(head);
    if (!sniffed) throw new AppError("unsupported_media", "File is not audio or video in a supported format.");
    let found = await readProbed(probed);
    if (found === null) {
      found = await probeMedia({ path: source, sniffed, ffmpeg, limits, signal });
      await writeProbed(probed, found);
    }
    return { sniffed, info: found.info };
  },
  async extract({ source, probed, ...files }, { signal, progress }) {
    const { extractAnalysisAudio } = await import("../../media/analysis-audio");
    const found = await requireProbed(probed);
    await extractAnalysisAudio({ ...files, path: source, probed: found, signal, onProgress: progress });
    return null;
  },
  async indexSource({ source, probed, outputPath }, { signal }) {
    const { writeSourceIndex } = await import("../../media/preview/source-index");
    return writeSourceIndex({ path: source, probed: await requireProbed(probed), outputPath, signal });
  },
  async storyboard({ ffmpeg, source, probed, outputDir }, { signal }) {
    const { createSourceStoryboard } = await import("../../media/preview/storyboard");
    return createSourceStoryboard({ ffmpeg, path: source, probed: await requireProbed(probed), outputDir, signal });
  },
  async poster({ ffmpeg, source, probed, outputPath }, { signal }) {
    const { createPoster } = await import("../../media/thumbnails");
    await createPoster({ ffmpeg, path: source, probed: await requireProbed(probed), outputPath, signal });
    return null;
  },
  async filmstrip({ ffmpeg, source, probed, outputPath }, { signal, log }) {
    const { createFilmstrip } = await import("../../media/thumbnails");
    await createFilmstrip({ ffmpeg, path: source, probed: await requireProbed(probed), outputPath, signal, log });
    return null;
  },
  async peaks({ audio, outputPath }, { signal }) {
    const { createPeaks } = await import("../../media/waveform");
    await createPeaks({ audio: { path: audio }, outputPath, signal });
    return null;
  },
  async loudness({ ffmpeg, source, info, outputPath }, { signal }) {
    const { writeRecordingLoudness } = await import("../../media/audio/loudness");
    await writeRecordingLoudness({ ffmpeg, path: source, info, outputPath, signal });
    return null;
  },
  async cleanAudio({ source, speechAnalysis, ...request }, { signal }) {
    const { encodeCleanAudio } = await import("../../media/preview/clean-audio");
    const voice = await readVoiceActivity(speechAnalysis);
    const bytes = await encodeCleanAudio({ ...request, voice, path: source }, signal);
    const { user, system } = process.cpuUsage();
    return { adts: Buffer.from(bytes).toString("base64"), cpuSeconds: (user + system) / 1e6 };
  },
  indexPreview: async ({ preview, outputPath }) =>
    (await import("../../media/preview/write-index")).writePreviewIndex(preview, outputPath),
  async plan({ paths, audio, script, options, language, vocabulary, explain, keepEditsOf }, { signal, callBack, log }) {
    const [{ planCut }, { measureVoices }, { compareAudio }, { packBasis }, { keepEdits }, { replaceInPlan }] =
      await Promise.all([
        import("../cuts/plan-cut"),
        import("../cuts/voice-meter"),
        import("../cuts/audio-comparer"),
        import("../cuts/stored-basis"),
        import("../cuts/kept-edits"),
        import("../vocabulary/replace-in-plan"),
      ]);
    const probed = await requireProbed(paths.probed);
    const analysis = await readSpeechAnalysis(paths);
    if (!analysis) throw new AppError("no_speech", "Recording has no audio track.");
    const forcedAlign = async (requests: unknown) =>
      (await callBack("forcedAlign", requests, signal)) as ForcedAlignment[];
    const recognizer = findRecognizerLanguage(analysis.transcript);
    const recognize = async (requests: RecognitionRequest[]) =>
      (await callBack("recognize", { requests, language: recognizer }, signal)) as Recognition[];
    const { recognize: recognizeAgain, recognized } = measureRecognitions(recognize);
    const planned = await planCut({
      analysis,
      probed,
      script,
      options,
      language,
      forcedAlign,
      recognize: recognizeAgain,
      measureVoices: (spans) => measureVoices({ path: audio }, spans),
      compareAudio: (pairs) => compareAudio({ path: audio }, pairs),
    });
    const { transcript } = analysis;
    const speech = { forcedAlign, recognize };
    const plan = await replaceInPlan(planned, { transcript, entries: vocabulary, script, options, speech });
    if (recognized.windows > 0) log("plan.recognized_again", recognized);
    const explanation = explain ? { findings: plan.findings, stages: plan.listStages() } : { findings: [], stages: [] };
    const computed = planToJson(plan);
    const {
      plan: json,
      texts,
      items,
    } = keepEditsOf === undefined
      ? { plan: computed, texts: [], items: null }
      : keepEdits(computed, plan.basis, keepEditsOf, { words: analysis.transcript?.words ?? null, probed });
    const basis = packBasis({ ...plan.basis, texts }, json);
    return { plan: JSON.stringify(json), basis, items, ...explanation, recognized };
  },
  export: async ({ options, ...cut }) => (await import("../cuts/plan-outputs")).formatTimeline(cut, options),
  subtitle: async ({ options, ...cut }) => (await import("../cuts/plan-outputs")).formatSubtitle(cut, options),
  transcript: async ({ options, ...cut }) => (await import("../cuts/plan-outputs")).formatTranscript(cut, options),
  checkPlan: async ({ path }) => (await import("../../domain/plan-file")).checkPlanBytes(await Bun.file(path).bytes()),
  edit: async ({ edit, basis, ...cut }) =>
    (await import("../cuts/plan-outputs")).createEditedPlan(cut, { basis }, edit),
  explain: async ({ basis, options, ...cut }) =>
    (await import("../cuts/plan-outputs")).createExplanation(cut, { basis, options }),
  keepAll: async (input) => (await import("../cuts/plan-outputs")).createWholePlan(input),
  async render({ jobs, ffmpeg, cache: cacheFiles, ...input }, call) {
    const [{ renderMedia }, { openRenderCache }] = await Promise.all([
      import("../../media/render"),
      import("../../media/render-cache/cache-file"),
    ]);
    const cache = cacheFiles === null ? undefined : await openRenderCache(cacheFiles);
    try {
      return await renderMedia(await readRenderRequest(input), {
        ffmpeg,
        chooseEncoder: async () => String(await call.callBack("chooseEncoder", null, call.signal)),
        maxProcesses: jobs,
        signal: call.signal,
        shouldYield: call.shouldYield,
        encoderSemaphore: createSharedSemaphore(call),
        onProgress: call.progress,
        log: call.log,
        cache,
      });
    } finally {
      await cache?.close();
    }
  },
  async planSplit({ ffmpeg, encoder, places, sizes, incomplete, ...input }, call) {
    const { signal } = call;
    const { planSplit } = await import("../../media/split-render");
    await openIncompleteSource(input.source, incomplete, call);
    return planSplit(await readRenderRequest(input), { ffmpeg, encoder, places, sizes, signal });
  },
  async encodeChunk({ ffmpeg, source, probed, settings, chunk, workDir, jobs, incomplete }, call) {
    const { signal, progress } = call;
    const { encodeSplitChunk } = await import("../../media/split-render");
    await openIncompleteSource(source, incomplete, call);
    return encodeSplitChunk({
      ffmpeg,
      sourcePath: source,
      probed: await requireProbed(probed),
      settings,
      chunk,
      workDir,
      maxProcesses: jobs,
      signal,
      onProgress: progress,
    });
  },
  async encodeAudio({ ffmpeg, name, ...input }, { signal, progress }) {
    const { encodeSplitAudio } = await import("../../media/split-render");
    await encodeSplitAudio(await readRenderRequest(input), { ffmpeg, name, signal, onProgress: progress });
    return null;
  },
  checkChunk: async (check, { signal }) =>
    (await import("../../media/chunks/check")).findChunkProblem({ ...check, signal }),
  async hashFile({ path, bytesPerSecond }, { signal }) {
    const { hashFile } = await import("../../lib/hash");
    try {
      return { sha256: await hashFile(path, signal, bytesPerSecond), error: null };
    } catch (error) {
      signal.throwIfAborted();
      return { sha256: null, error: (error as NodeJS.ErrnoException).code ?? "unknown error" };
    }
  },
  checkPrepared: async (files) => (await import("../assets/prepared-check")).findPreparedProblem(files),
  async checkRender({ path, ...input }, { signal }) {
    const { checkRenderedFile } = await import("../../media/render-check");
    return checkRenderedFile(await readRenderRequest(input), path, signal);
  },
};

/** Makes readers fetch missing parts of the source with a callback. */
async function openIncompleteSource(path: string, incomplete: IncompleteFile | null, call: WorkerCall): Promise<void> {
  if (incomplete === null) return;
  const { registerIncompleteFile } = await import("../../media/packets/incomplete-files");
  registerIncompleteFile(path, incomplete, async (first, last) => {
    await call.callBack("fetchParts", { first, last }, call.signal);
  });
}

/**
 * Returns the request of a render. An operation that writes no finished file has no `outputPath`, one that writes
 * nothing has no `workDir`, and one that does not read the recording has no `source`.
 */
async function readRenderRequest(input: {
  source?: string;
  probed: string;
  speechAnalysis?: string | null;
  plan: string | null;
  output: ResolvedOutput;
  workDir?: string;
  outputPath?: string;
}): Promise<RenderRequest> {
  const { source = "", speechAnalysis = null, plan, output, workDir = "", outputPath = "" } = input;
  const segments = plan === null ? null : planSegments(JSON.parse(plan) as PlanJson);
  const [probed, voice] = await Promise.all([requireProbed(input.probed), readVoiceActivity(speechAnalysis)]);
  return { sourcePath: source, probed, segments, output, voice, workDir, outputPath };
}

/** Returns the semaphore of the parent. Each `run` acquires a permit with one callback and releases it with another. */
function createSharedSemaphore(call: WorkerCall): Semaphore {
  return {
    async run(signal, work) {
      signal?.throwIfAborted();
      const permit = await call.callBack("acquirePermit", null, signal).catch((error) => {
        signal?.throwIfAborted();
        throw error;
      });
      try {
        // The parent may have granted the permit at the moment the callback was cancelled.
        signal?.throwIfAborted();
        return await work();
      } finally {
        void call.callBack("releasePermit", permit).catch(() => {});
      }
    },
  };
}
