/** The added models as the listening child uses them: found for each recording, loaded when needed, one of them at a time in memory. */
import type { Utterance, Word } from "../domain/speech";
import { type Choice, choiceFor, type InstalledModel, languageCode, languageDetector, readShelf } from "./models/shelf";
import type { Checkpoint } from "./order-control";
import type { RecordLog } from "./record-log";
import type { Segment } from "./segmentation";
import {
  type Capabilities,
  type LanguageDetector,
  loadDetector,
  loadRecogniser,
  loadSherpa,
  type Recogniser,
  type SherpaModule,
} from "./sherpa";
import { detectLanguage, transcribeAdded } from "./sherpa-transcribe";
import type { Sound } from "./transcribe";

/** Transcribes as the built-in recogniser does. */
export type AddedTranscriber = {
  capabilities: Capabilities;
  transcribe(
    sound: Sound,
    segments: Segment[],
    onHeard: (share: number) => void,
    check: Checkpoint,
    log?: RecordLog,
  ): Promise<{ words: Word[]; utterances: Utterance[] }>;
};

/** What a recording is transcribed with: `added` null means the built-in recogniser. The whole is null when no model knows the language. */
export type Chosen = { language: string; added: AddedTranscriber | null } | null;

export type AddedModels = {
  /** `language` null: the one that is heard, when a model can tell, else English. `check` may throw to stop. */
  choose(language: string | null, sound: Sound, segments: Segment[], check: Checkpoint): Promise<Chosen>;
};

/** Spoken when nothing says otherwise. */
const DEFAULT_LANGUAGE = "en";
const THREADS = 2;

/** The models of a folder (null: none). The library is loaded with the first that is used. */
export function createAddedModels(
  modelsDir: string | null,
  load: () => Promise<SherpaModule> = loadSherpa,
): AddedModels {
  let library: Promise<SherpaModule> | null = null;
  const module = () => {
    library ??= load();
    return library;
  };
  const recognisers = latest<Recogniser>();
  const detectors = latest<LanguageDetector>();

  const added = async (model: InstalledModel, language: string): Promise<AddedTranscriber> => {
    const make = async () => loadRecogniser(await module(), model, language, THREADS);
    // Asked for again before each segment: an order that was paused meanwhile must not keep a second model in memory.
    const recogniser = () => recognisers(`${identity(model)} ${language}`, make);
    const { capabilities } = await recogniser();
    return {
      capabilities,
      transcribe: (sound, segments, onHeard, check, log) =>
        transcribeAdded(recogniser, sound, segments, language, onHeard, check, log),
    };
  };
  const heard = async (installed: InstalledModel[], sound: Sound, segments: Segment[], check: Checkpoint) => {
    const model = languageDetector(installed);
    if (!model || segments.length === 0) return null;
    const loading = detectors(identity(model), async () => loadDetector(await module(), model, THREADS));
    const detect = await loading.catch((error: Error) => {
      // A recording in English must not fail for it.
      process.stderr.write(`${model.manifest.name} cannot tell languages: ${error.message}\n`);
      return null;
    });
    return detect && detectLanguage(detect, sound, segments, check);
  };
  return {
    async choose(language, sound, segments, check) {
      const { installed } = modelsDir === null ? { installed: [] } : readShelf(modelsDir);
      const spoken = language ?? (await heard(installed, sound, segments, check)) ?? DEFAULT_LANGUAGE;
      const choice: Choice = choiceFor(spoken, installed);
      if (!choice) return null;
      return {
        language: spoken,
        added: choice.use === "added" ? await added(choice.model, languageCode(spoken)) : null,
      };
    },
  };
}

/** Changes when the model's files do. */
const identity = ({ manifest, folder }: InstalledModel): string =>
  [folder, ...manifest.files.map((file) => file.sha256)].join(" ");

/** Keeps what was made last: models are large. What failed is tried again the next time. */
function latest<T>(): (key: string, make: () => Promise<T>) => Promise<T> {
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
