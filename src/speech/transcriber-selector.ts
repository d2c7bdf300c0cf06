/**
 * Selects the transcriber for each recording. Installed models are loaded on demand; only one at a time is in memory.
 */
import {
  chooseModel,
  findLanguageDetector,
  type InstalledModel,
  type ModelChoice,
  readInstalledModels,
  toLanguageCode,
} from "./models/installed-models";
import type { SpeechSegment } from "./segmentation";
import {
  type LanguageDetector,
  loadLanguageDetector,
  loadRecognizer,
  loadSherpa,
  type RecognizerCapabilities,
  type SherpaModule,
  type SpeechRecognizer,
} from "./sherpa";
import { detectLanguage, transcribeWithSherpa } from "./sherpa-transcribe";
import type { Checkpoint, TaskWork } from "./task-control";
import type { AudioWithEnergy, SegmentTexts } from "./transcribe";

/** A transcriber that uses an installed model. Its results have the shape of the built-in recognizer's. */
export type SherpaTranscriber = {
  capabilities: RecognizerCapabilities;
  transcribe(audio: AudioWithEnergy, segments: SpeechSegment[], work: TaskWork): Promise<SegmentTexts>;
};

/** `share` is the share of the probed speech in which it was detected, 0 to 1; null if it was given or assumed. */
export type SpokenLanguage = { code: string; share: number | null };

/** Used when the language is neither given nor detected. */
const DEFAULT_LANGUAGE = "en";
const THREADS = 2;

/** Creates the selector for a folder of models (null: none). sherpa-onnx is loaded with the first model. */
export function createTranscriberSelector(modelsDir: string | null, load: () => Promise<SherpaModule> = loadSherpa) {
  let library: Promise<SherpaModule> | null = null;
  const module = () => {
    library ??= load();
    return library;
  };
  const listInstalled = () => (modelsDir === null ? [] : readInstalledModels(modelsDir).installed);
  const recognizers = createLatestCache<SpeechRecognizer>();
  const detectors = createLatestCache<LanguageDetector>();

  const createTranscriber = async (model: InstalledModel, language: string): Promise<SherpaTranscriber> => {
    const make = async () => loadRecognizer(await module(), model, language, THREADS);
    // Called again before each segment: a task that was paused in between must not keep a second model in memory.
    const getRecognizer = () => recognizers(`${getModelIdentity(model)} ${language}`, make);
    const { capabilities } = await getRecognizer();
    return {
      capabilities,
      transcribe: (audio, segments, work) => transcribeWithSherpa(getRecognizer, audio, segments, language, work),
    };
  };
  const detect = async (
    audio: AudioWithEnergy,
    segments: SpeechSegment[],
    check: Checkpoint,
  ): Promise<SpokenLanguage | null> => {
    const model = findLanguageDetector(listInstalled());
    if (!model || segments.length === 0) return null;
    const loading = detectors(getModelIdentity(model), async () =>
      loadLanguageDetector(await module(), model, THREADS),
    );
    const detector = await loading.catch((error: Error) => {
      // Transcribing an English recording must not fail because of this.
      process.stderr.write(`${model.manifest.name} cannot detect languages: ${error.message}\n`);
      return null;
    });
    return detector && detectLanguage(detector, audio, segments, check);
  };
  return {
    /** Returns the given language, otherwise the detected one, otherwise English. `check` may throw to stop. */
    detect: async (
      language: string | null,
      audio: AudioWithEnergy,
      segments: SpeechSegment[],
      check: Checkpoint,
    ): Promise<SpokenLanguage> =>
      (language === null ? await detect(audio, segments, check) : null) ?? {
        code: language ?? DEFAULT_LANGUAGE,
        share: null,
      },
    /** Returns whether `select` returns the built-in recognizer, without loading a model. */
    usesBuiltIn: (language: string): boolean => chooseModel(language, listInstalled())?.use === "built-in",
    /**
     * Returns the transcriber of a language: `installed` null is the built-in recognizer. Null if no model supports it.
     */
    async select(language: string): Promise<{ installed: SherpaTranscriber | null } | null> {
      const choice: ModelChoice = chooseModel(language, listInstalled());
      if (choice?.use !== "installed") return choice && { installed: null };
      return { installed: await createTranscriber(choice.model, toLanguageCode(language)) };
    },
  };
}

export type TranscriberSelector = ReturnType<typeof createTranscriberSelector>;

/** Returns a text that changes when the model's files change. */
const getModelIdentity = ({ manifest, folder }: InstalledModel): string =>
  [folder, ...manifest.files.map((file) => file.sha256)].join(" ");

/** Creates a cache of the latest value only, because models are large. A failed load is retried the next time. */
function createLatestCache<T>(): (key: string, make: () => Promise<T>) => Promise<T> {
  let kept: { key: string; value: Promise<T> } | null = null;
  return (key, make) => {
    if (kept?.key === key) return kept.value;
    const value = make();
    const mine = { key, value };
    kept = mine;
    value.catch(() => {
      if (kept === mine) kept = null;
    });
    return value;
  };
}
