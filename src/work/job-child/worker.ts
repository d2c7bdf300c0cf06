/** The child process of a job. Everything that parses uploaded media, or spends long on it, runs here. */
import { AppError } from "../../domain/errors";
import { JobKilled } from "../../domain/jobs";
import { type PlanJson, planSegments, planToJson } from "../../domain/plan-json";
import type { ForcedAlignment, Recognition } from "../../domain/speech";
import { type Operations, serveCalls, type WorkerCall } from "../../lib/ipc-calls";
import type { Semaphore } from "../../lib/semaphore";
import { countKernelKills } from "../../media/ffmpeg";
import { readProbed, readSpeechAnalysis, requireProbed, writeProbed } from "../prepared-files";
import { getRecognizerLanguage, measureRecognitions } from "../recognized-again";
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

/** Throws `JobKilled` when the kernel killed an ffmpeg process of the operation, whatever error the operation reported. */
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

/** Each operation imports what it needs, so that planning does not load the media libraries. */
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
  async extract({ ffmpeg, source, probed, outputPath }, { signal, progress }) {
    const { extractAnalysisAudio } = await import("../../media/analysis-audio");
    const found = await requireProbed(probed);
    await extractAnalysisAudio({ ffmpeg, path: source, probed: found, outputPath, signal, onProgress: progress });
    return null;
  },
  async waveform({ audio, outputPath }, { signal }) {
    const { createWaveform } = await import("../../media/waveform");
    await createWaveform({ audio: { path: audio }, outputPath, signal });
    return null;
  },
  async poster({ ffmpeg, source, probed, outputPath }, { signal }) {
    const { createPoster } = await import("../../media/thumbnails");
    await createPoster({ ffmpeg, path: source, probed: await requireProbed(probed), outputPath, signal });
    return null;
  },
  async filmstrip({ ffmpeg, source, probed, outputPath }, { signal }) {
    const { createFilmstrip } = await import("../../media/thumbnails");
    await createFilmstrip({ ffmpeg, path: source, probed: await requireProbed(probed), outputPath, signal });
    return null;
  },
  async preview({ ffmpeg, source, probed, outputPath }, { signal, progress }) {
    const { createPreview } = await import("../../media/preview");
    const found = await requireProbed(probed);
    await createPreview({ ffmpeg, path: source, probed: found, outputPath, signal, onProgress: progress });
    return null;
  },
  async plan({ paths, audio, script, options, language, explain }, { signal, callBack, log }) {
    const [{ planCut }, { measureVoices }] = await Promise.all([import("../plan-cut"), import("../voice-meter")]);
    const probed = await requireProbed(paths.probed);
    const analysis = await readSpeechAnalysis(paths);
    if (!analysis) throw new AppError("no_speech", "Recording has no audio track.");
    const forcedAlign = async (requests: unknown) =>
      (await callBack("forcedAlign", requests, signal)) as ForcedAlignment[];
    const recognizer = getRecognizerLanguage(analysis.transcript);
    const { recognize, recognized } = measureRecognitions(
      async (requests) => (await callBack("recognize", { requests, language: recognizer }, signal)) as Recognition[],
    );
    const plan = await planCut({
      analysis,
      probed,
      script,
      options,
      language,
      forcedAlign,
      recognize,
      measureVoices: (spans) => measureVoices({ path: audio }, spans),
    });
    if (recognized.windows > 0) log("plan.recognized_again", recognized);
    return { plan: JSON.stringify(planToJson(plan)), findings: explain ? plan.findings : [], recognized };
  },
  async export({ options, ...cut }) {
    const { formatTimeline } = await import("../plan-outputs");
    return formatTimeline(cut, options);
  },
  async subtitle({ options, ...cut }) {
    const { formatSubtitle } = await import("../plan-outputs");
    return formatSubtitle(cut, options);
  },
  async edit({ segments, ...cut }) {
    const { createEditedPlan } = await import("../plan-outputs");
    return createEditedPlan(cut, segments);
  },
  async render({ ffmpeg, source, probed, plan, output, workDir, outputPath, encoder, jobs }, call) {
    const { renderMedia } = await import("../../media/render");
    const segments = plan === null ? null : planSegments(JSON.parse(plan) as PlanJson);
    return renderMedia(
      { sourcePath: source, probed: await requireProbed(probed), segments, output, workDir, outputPath },
      {
        ffmpeg,
        encoder,
        maxProcesses: jobs,
        signal: call.signal,
        shouldYield: call.shouldYield,
        encoderSemaphore: createSharedSemaphore(call),
        onProgress: call.progress,
        log: call.log,
      },
    );
  },
};

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
