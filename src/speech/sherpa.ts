/** Installed models, run by sherpa-onnx. Its library is loaded with the first model, not with this file. */
import { join } from "node:path";
import type { InstalledModel } from "./models/installed-models";
import { type FileRole, getFileName, type ModelKind } from "./models/manifest";
import { padSamples } from "./pcm";

/** The result for a segment. Times are in seconds from its start. Lists that the model does not report are empty. */
export type SherpaResult = {
  text: string;
  tokens: string[];
  timestamps: number[];
  durations: number[];
  logProbs: number[];
  /** The language as the model names it, or "". */
  language: string;
};

/** The source of word times: the model's tokens, or an estimate from the text and the energy contour. */
export type WordTimesSource = "tokens" | "estimated";

export type RecognizerCapabilities = {
  languages: readonly string[];
  wordTimes: WordTimesSource;
  /** Installed models do not support forced alignment. */
  forcing: false;
};

export type SpeechRecognizer = {
  capabilities: RecognizerCapabilities;
  /** Recognizes samples: 16 kHz mono, -1 to 1, at most 30 s. */
  recognize(samples: Float32Array): Promise<SherpaResult>;
};

/** Detects the language of a segment. Returns an ISO 639 code, or null if it is unknown. */
export type LanguageDetector = (samples: Float32Array) => Promise<string | null>;

/** The part of `sherpa-onnx-node` that is used. */
export type SherpaModule = {
  OfflineRecognizer: { createAsync(config: object): Promise<SherpaRecognizer> };
  SpokenLanguageIdentification: new (config: object) => SherpaIdentification;
};
type SherpaStream = { acceptWaveform(wave: { sampleRate: number; samples: Float32Array }): void };
type SherpaRecognizer = { createStream(): SherpaStream; decodeAsync(stream: SherpaStream): Promise<unknown> };
type SherpaIdentification = { createStream(): SherpaStream; compute(stream: SherpaStream): string };

const SAMPLE_RATE_HZ = 16_000;
/** Models reject audio that is only a few frames long. */
const MIN_SAMPLES = SAMPLE_RATE_HZ / 2;

/** Loads the library. Throws if this machine cannot run it: it needs glibc 2.32 or later. */
export async function loadSherpa(): Promise<SherpaModule> {
  try {
    const module: unknown = await import("sherpa-onnx-node");
    return ((module as { default?: SherpaModule }).default ?? module) as SherpaModule;
  } catch (error) {
    throw new Error(`Installed speech models cannot run on this machine: ${(error as Error).message.split("\n")[0]}`, {
      cause: error,
    });
  }
}

/** Returns whether a kind of model reports token times. Published Whisper files lack the output that they need. */
export const getWordTimesSource = (kind: ModelKind): WordTimesSource =>
  kind === "whisper" || kind === "moonshine" ? "estimated" : "tokens";

/** Loads a model for a language (null: the model detects it), in 0.1 s to several seconds. Rejects invalid files. */
export async function loadRecognizer(
  module: SherpaModule,
  model: InstalledModel,
  language: string | null,
  threads: number,
): Promise<SpeechRecognizer> {
  const { manifest } = model;
  const recognizer = await module.OfflineRecognizer.createAsync(createRecognizerConfig(model, language, threads));
  return {
    capabilities: { languages: manifest.languages, wordTimes: getWordTimesSource(manifest.kind), forcing: false },
    async recognize(samples) {
      const stream = recognizer.createStream();
      stream.acceptWaveform({ sampleRate: SAMPLE_RATE_HZ, samples: padSamples(samples, MIN_SAMPLES) });
      return parseResult(await recognizer.decodeAsync(stream));
    },
  };
}

/** Loads a language detector from a Whisper, or from a model that reports the language of its transcript. */
export async function loadLanguageDetector(
  module: SherpaModule,
  model: InstalledModel,
  threads: number,
): Promise<LanguageDetector> {
  if (model.manifest.kind !== "whisper") {
    const recognizer = await loadRecognizer(module, model, null, threads);
    return async (samples) => toIsoCode((await recognizer.recognize(samples)).language);
  }
  const [encoder, decoder] = (["encoder", "decoder"] as const).map((role) => getModelFilePath(model, role));
  const identification = new module.SpokenLanguageIdentification({
    whisper: { encoder, decoder },
    numThreads: threads,
    provider: "cpu",
    debug: 0,
  });
  return async (samples) => {
    const stream = identification.createStream();
    stream.acceptWaveform({ sampleRate: SAMPLE_RATE_HZ, samples: padSamples(samples, MIN_SAMPLES) });
    return toIsoCode(identification.compute(stream));
  };
}

const getModelFilePath = ({ manifest, folder }: InstalledModel, role: FileRole): string =>
  join(folder, getFileName(manifest, role));

function createRecognizerConfig(model: InstalledModel, language: string | null, threads: number): object {
  return {
    featConfig: { sampleRate: SAMPLE_RATE_HZ, featureDim: 80 },
    modelConfig: {
      ...createKindConfig(model, language),
      tokens: getModelFilePath(model, "tokens"),
      numThreads: threads,
      provider: "cpu",
      // The library writes to standard error; 0 keeps the output short.
      debug: 0,
    },
    // Hotwords need `modified_beam_search`, with which Parakeet returns empty or invented text
    // (https://github.com/k2-fsa/sherpa-onnx/issues/3267). The vocabulary is applied to the recognized words instead.
    decodingMethod: "greedy_search",
  };
}

function createKindConfig(model: InstalledModel, language: string | null): object {
  const path = (role: FileRole) => getModelFilePath(model, role);
  switch (model.manifest.kind) {
    case "transducer":
      return {
        transducer: { encoder: path("encoder"), decoder: path("decoder"), joiner: path("joiner") },
        modelType: "nemo_transducer",
      };
    case "whisper": {
      const spoken = language === "jv" ? "jw" : (language ?? "");
      return { whisper: { encoder: path("encoder"), decoder: path("decoder"), language: spoken, task: "transcribe" } };
    }
    case "sense-voice":
      return { senseVoice: { model: path("model"), language: language ?? "auto", useInverseTextNormalization: 1 } };
    case "nemo-ctc":
      return { nemoCtc: { model: path("model") } };
    case "moonshine":
      return { moonshine: { encoder: path("encoder"), mergedDecoder: path("decoder") } };
  }
}

/** Returns the ISO 639 code, such as `de` for `<|de|>` and for `de`, or null. */
function toIsoCode(language: string): string | null {
  const code = /^(?:<\|)?([a-z]{2,3})(?:\|>)?$/.exec(language.trim().toLowerCase())?.[1] ?? null;
  return code === "jw" ? "jv" : code;
}

/** Parses a result of the library. Drops lists whose length differs from the number of tokens. */
export function parseResult(value: unknown): SherpaResult {
  if (typeof value !== "object" || value === null) throw new Error("the model returned no result");
  const data = value as Record<string, unknown>;
  const tokens = Array.isArray(data.tokens) ? data.tokens.map(String) : [];
  const numbers = (list: unknown): number[] => {
    const fits = Array.isArray(list) && list.length === tokens.length && list.every((n) => Number.isFinite(n));
    return fits ? (list as number[]) : [];
  };
  return {
    text: typeof data.text === "string" ? data.text.trim() : "",
    tokens,
    timestamps: numbers(data.timestamps),
    durations: numbers(data.durations),
    logProbs: numbers(data.ys_log_probs),
    language: typeof data.lang === "string" ? data.lang : "",
  };
}
