/** The speech engine: a child process that starts on demand, stays while there is work and restarts after a crash. */
import { AppError } from "../domain/errors";
import type {
  AnalyzeOptions,
  ForcedAlignment,
  Recognition,
  SpeechAnalysis,
  SpeechEngine,
  SpeechOptions,
} from "../domain/speech";
import { createIncreasingProgress } from "../lib/progress";
import { DETECT_LANGUAGE, type SpeechTask } from "./ipc-protocol";
import { chooseModel, findLanguageDetector, readInstalledModels } from "./models/installed-models";
import { startSpeechProcess, type TaskOutcome } from "./speech-process";
import { createTaskQueue } from "./task-queue";

export type SpeechEngineOptions = {
  /** Program and arguments of the speech process, which must call `runSpeechProcess`. */
  command: string[];
  /** Added to the environment of the speech process, which is otherwise `PROGRAM_ENV` without telemetry. */
  env?: Record<string, string>;
  /** The folder of installed models. Models may be added and removed while the engine runs. */
  modelsDir?: string;
  /** Number of idle seconds after which the process is stopped. Default: 300. */
  idleSeconds?: number;
  /** Maximum lead of one owner's work over that of a waiting owner, in milliseconds. Default: 2500. */
  quantumMs?: number;
  /** Milliseconds that a task has to pause for another owner's before both run. Default: 1000. */
  maxPausingMs?: number;
  log?: (event: string, fields: object) => void;
};

type TaskReports = Pick<AnalyzeOptions, "onProgress" | "onSaved" | "onWords">;

type WithoutId<Kind> = Kind extends SpeechTask ? Omit<Kind, "id"> : never;

const QUANTUM_MS = 2_500;

/** Creates the engine. The speech process starts with the first task. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const queue = createTaskQueue({
    start: () => startSpeechProcess(options.command, options.env ?? {}),
    idleMs: (options.idleSeconds ?? 300) * 1000,
    quantumMs: options.quantumMs ?? QUANTUM_MS,
    maxPausingMs: options.maxPausingMs,
    log: options.log ?? (() => {}),
  });
  let closed = false;
  let nextId = 1;

  const request = <T>(
    task: WithoutId<SpeechTask>,
    pick: (outcome: TaskOutcome) => T | null,
    { owner = "", signal }: SpeechOptions,
    { onProgress = () => {}, onSaved = () => {}, onWords = () => {} }: TaskReports = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (closed) return reject(new AppError("processing_failed", "The server is shutting down."));
      const withdraw = queue.add({
        work: { ...task, id: nextId++ },
        owner,
        onProgress,
        onSaved,
        onWords,
        settle(outcome) {
          signal?.removeEventListener("abort", onAbort);
          const value = pick(outcome);
          if (value !== null) resolve(value);
          else reject(toAppError(outcome));
        },
      });
      const onAbort = () => {
        withdraw();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
    });

  const modelsDir = options.modelsDir ?? null;
  const installed = () => (modelsDir === null ? [] : readInstalledModels(modelsDir).installed);
  const canTranscribe = (language: string | null): boolean =>
    language === null || chooseModel(language, installed()) !== null;
  const defaultLanguage = () => (findLanguageDetector(installed()) ? DETECT_LANGUAGE : "en");

  return {
    warmUp: () => {
      if (!closed) queue.warmUp();
    },
    canTranscribe,
    analyze: (
      { path },
      { language, transcribes = true, onProgress = () => {}, onSaved = () => {}, onWords = () => {}, ...options },
    ) => {
      const { progressPath = null } = options;
      const taskLanguage = transcribes && canTranscribe(language) ? (language ?? defaultLanguage()) : null;
      const pick = (o: TaskOutcome): SpeechAnalysis | null => (o.status === "analyzed" ? o.analysis : null);
      const task = { command: "analyze" as const, path, language: taskLanguage, modelsDir, progressPath };
      // A task that is restarted after a crash reports from 0 again.
      return request(task, pick, options, { onProgress: createIncreasingProgress(onProgress), onSaved, onWords });
    },
    forcedAlign: ({ path }, requests, options = {}) => {
      if (requests.length === 0) return Promise.resolve([]);
      const pick = (o: TaskOutcome): ForcedAlignment[] | null => (o.status === "aligned" ? o.alignments : null);
      return request({ command: "align", path, requests }, pick, options);
    },
    recognize: ({ path }, requests, { language = null, ...options } = {}) => {
      if (requests.length === 0) return Promise.resolve([]);
      const pick = (o: TaskOutcome): Recognition[] | null => (o.status === "recognized" ? o.recognitions : null);
      return request({ command: "recognize", path, language, modelsDir, requests }, pick, options);
    },
    async close() {
      closed = true;
      await queue.close();
    },
  };
}

function toAppError(outcome: TaskOutcome): AppError {
  const cause =
    outcome.status === "crashed" ? outcome.detail : outcome.status === "failed" ? outcome.message : undefined;
  return new AppError("processing_failed", "Speech recognition failed.", { cause });
}
