/**
 * The recognizer of the product: a child process that is started on demand, kept while there is work, and started again when it
 * crashes.
 */
import { AppError } from "../domain/errors";
import type { AnalyzeOptions, ForcedAlignment, SpeechAnalysis, SpeechEngine, SpeechOptions } from "../domain/speech";
import { DETECT_LANGUAGE, type SpeechTask } from "./ipc-protocol";
import { chooseModel, findLanguageDetector, readInstalledModels } from "./models/installed-models";
import { startSpeechProcess, type TaskOutcome } from "./speech-process";
import { createTaskQueue } from "./task-queue";

export type SpeechEngineOptions = {
  /** Program and arguments of the child, which must call `runSpeechWorker`. */
  command: string[];
  /** The child's whole environment. */
  env?: Record<string, string>;
  /** Where added models are. They may come and go while the engine is there. */
  modelsDir?: string;
  /** Seconds without work after which the child is ended; default 300. */
  idleSeconds?: number;
  /** How far one owner's work may get ahead of another's that waits, in milliseconds. */
  quantumMs?: number;
  log?: (event: string, fields: object) => void;
};

type WithoutId<Kind> = Kind extends SpeechTask ? Omit<Kind, "id"> : never;

/** Makes the engine; no child is started yet. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const queue = createTaskQueue({
    start: () => startSpeechProcess(options.command, options.env ?? {}),
    idleMs: (options.idleSeconds ?? 300) * 1000,
    ...(options.quantumMs === undefined ? {} : { quantumMs: options.quantumMs }),
    log: options.log ?? (() => {}),
  });
  let closed = false;
  let nextId = 1;

  const request = <T>(
    order: WithoutId<SpeechTask>,
    pick: (outcome: TaskOutcome) => T | null,
    { owner = "", signal }: SpeechOptions,
    { onProgress = () => {}, onSaved = () => {} }: Pick<AnalyzeOptions, "onProgress" | "onSaved"> = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (closed) return reject(new AppError("processing_failed", "The speech engine is closed."));
      const withdraw = queue.add({
        order: { ...order, id: nextId++ },
        owner,
        onProgress,
        onSaved,
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
  const unknown = () => (findLanguageDetector(installed()) ? DETECT_LANGUAGE : "en");

  return {
    canTranscribe,
    analyze: ({ path }, { language, onProgress, onSaved, progressPath = null, ...given }) => {
      const known = canTranscribe(language) ? (language ?? unknown()) : null;
      const pick = (o: TaskOutcome): SpeechAnalysis | null => (o.ended === "listened" ? o.listening : null);
      const order = { order: "listen" as const, path, language: known, modelsDir, progressPath };
      return request(order, pick, given, { onProgress: createIncreasingProgress(onProgress), onSaved });
    },
    forcedAlign: ({ path }, requests, given = {}) => {
      if (requests.length === 0) return Promise.resolve([]);
      const pick = (o: TaskOutcome): ForcedAlignment[] | null => (o.ended === "forced" ? o.forced : null);
      return request({ order: "force", path, requests }, pick, given);
    },
    async close() {
      closed = true;
      await queue.close();
    },
  };
}

/** Progress that never falls, also when a crashed attempt begins again. */
function createIncreasingProgress(report: ((share: number) => void) | undefined): (share: number) => void {
  let highest = 0;
  return (share) => {
    if (share <= highest) return;
    highest = share;
    report?.(share);
  };
}

function toAppError(outcome: TaskOutcome): AppError {
  const cause = outcome.ended === "crashed" ? outcome.detail : outcome.ended === "failed" ? outcome.message : undefined;
  return new AppError("processing_failed", "Speech recognition failed.", { cause });
}
