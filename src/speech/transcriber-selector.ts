/** The added models as the listening child uses them: found for each recording, loaded when needed, one of them at a time in memory. */
import type { Utterance, Word } from "../domain/speech";
import {
  chooseModel,
  findLanguageDetector,
  type InstalledModel,
  type ModelChoice,
  readInstalledModels,
  toLanguageCode,
} from "./models/installed-models";
import type { RecordLog } from "./record-log";
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
import type { Checkpoint } from "./task-control";
import type { AudioWithEnergy } from "./transcribe";

/** Transcribes as the built-in recogniser does. */
export type SherpaTranscriber = {
  capabilities: RecognizerCapabilities;
  transcribe(
    sound: AudioWithEnergy,
    segments: SpeechSegment[],
    onHeard: (share: number) => void,
    check: Checkpoint,
    log?: RecordLog,
  ): Promise<{ words: Word[]; utterances: Utterance[] }>;
};

/** What a recording is transcribed with: `added` null means the built-in recogniser. The whole is null when no model knows the language. */
export type SelectedTranscriber = { language: string; added: SherpaTranscriber | null } | null;

export type TranscriberSelector = {
  /** `language` null: the one that is heard, when a model can tell, else English. `check` may throw to stop. */
  select(
    language: string | null,
    sound: AudioWithEnergy,
    segments: SpeechSegment[],
    check: Checkpoint,
  ): Promise<SelectedTranscriber>;
};

/** Spoken when nothing says otherwise. */
const DEFAULT_LANGUAGE = "en";
const THREADS = 2;

/** The models of a folder (null: none). The library is loaded with the first that is used. */
export function createTranscriberSelector(
  modelsDir: string | null,
  load: () => Promise<SherpaModule> = loadSherpa,
): TranscriberSelector {
  let library: Promise<SherpaModule> | null = null;
  const module = () => {
    library ??= load();
    return library;
  };
  const recognisers = createLatestCache<SpeechRecognizer>();
  const detectors = createLatestCache<LanguageDetector>();

  const added = async (model: InstalledModel, language: string): Promise<SherpaTranscriber> => {
    const make = async () => loadRecognizer(await module(), model, language, THREADS);
    // Asked for again before each segment: an order that was paused meanwhile must not keep a second model in memory.
    const recogniser = () => recognisers(`${getModelIdentity(model)} ${language}`, make);
    const { capabilities } = await recogniser();
    return {
      capabilities,
      transcribe: (sound, segments, onHeard, check, log) =>
        transcribeWithSherpa(recogniser, sound, segments, language, onHeard, check, log),
    };
  };
  const heard = async (
    installed: InstalledModel[],
    sound: AudioWithEnergy,
    segments: SpeechSegment[],
    check: Checkpoint,
  ) => {
    const model = findLanguageDetector(installed);
    if (!model || segments.length === 0) return null;
    const loading = detectors(getModelIdentity(model), async () =>
      loadLanguageDetector(await module(), model, THREADS),
    );
    const detect = await loading.catch((error: Error) => {
      // A recording in English must not fail for it.
      process.stderr.write(`${model.manifest.name} cannot tell languages: ${error.message}\n`);
      return null;
    });
    return detect && detectLanguage(detect, sound, segments, check);
  };
  return {
    async select(language, sound, segments, check) {
      const { installed } = modelsDir === null ? { installed: [] } : readInstalledModels(modelsDir);
      const spoken = language ?? (await heard(installed, sound, segments, check)) ?? DEFAULT_LANGUAGE;
      const choice: ModelChoice = chooseModel(spoken, installed);
      if (!choice) return null;
      return {
        language: spoken,
        added: choice.use === "added" ? await added(choice.model, toLanguageCode(spoken)) : null,
      };
    },
  };
}

/** Changes when the model's files do. */
const getModelIdentity = ({ manifest, folder }: InstalledModel): string =>
  [folder, ...manifest.files.map((file) => file.sha256)].join(" ");

/** Keeps what was made last: models are large. What failed is tried again the next time. */
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
