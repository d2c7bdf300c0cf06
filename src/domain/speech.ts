/** The contract between the product and the speech engine, and its data types. Plain data, no I/O. */
import type { Span, Ticks } from "./time";

/** A spoken word. `confidence` is 0 to 1. */
export type Word = { text: string; start: Ticks; end: Ticks; confidence: number };

/** Maximum number of words in a response, or in a checkpoint, while a recording is transcribed. */
export const MAX_PARTIAL_WORDS = 5_000;

/** A segment of speech that was recognized as a unit. Its words are in the transcript. */
export type Utterance = Span & { text: string; meanLogProb: number };

/**
 * A transcript. `forcing` is false if the model does not support forced alignment. `wordTimes` is `estimated` if the
 * model reports no word times: word edges at pauses are accurate, others may be off by a quarter of a second. The names
 * are those of stored files.
 */
export type Transcript = {
  language: string | null;
  words: Word[];
  utterances: Utterance[];
  forcing?: false;
  wordTimes?: "estimated";
};

/** The energy contour of a recording: one level in dBFS per hop of 5 ms, the first centered at 2.5 ms. */
export type EnergyContour = Float32Array;
export const ENERGY_HOP: Ticks = 5_000;
/** Levels are whole steps of 1/128 dB, so that a stored contour equals the measured one. */
export const ENERGY_STEPS_PER_DB = 128;

/** The language of a recording as an ISO 639-1 code, and how likely its speech is in it, 0 to 1. */
export type DetectedLanguage = { code: string; confidence: number };

/**
 * The analysis of a recording. `speech` is voice activity: sorted, disjoint. `transcript` is null without a model.
 * `language` is null if it was neither given nor detected, and missing in files of older versions.
 */
export type SpeechAnalysis = {
  duration: Ticks;
  speech: Span[];
  energy: EnergyContour;
  transcript: Transcript | null;
  language?: DetectedLanguage | null;
};

/** A text to align with a window of the recording. The `mute` spans are silenced first. */
export type AlignmentRequest = { window: Span; text: string; mute?: Span[] };

/** A word of an aligned text. `logProb` is the lowest of its tokens. */
export type AlignedWord = Word & { logProb: number };

/**
 * The alignment of a text with a window. `meanLogProb` is over the tokens of the text (spoken: about -0.1 to -0.5;
 * another sentence: below -3). `tailLogProb` is the lowest of the last three tokens: low when the end of the text was
 * not spoken.
 */
export type ForcedAlignment = { words: AlignedWord[]; meanLogProb: number; tailLogProb: number };

/** Two parts of the recording whose audio is compared: a take, and the recording from its retake on. */
export type AudioPair = { take: Span; retake: Span };

/**
 * The distance of a take from the beginning of its retake, relative to the usual distance between frames of both: on
 * average, and over the fifth of a second that differs most. The same words in the same voice have below 0.5 and 0.65,
 * other words usually above 0.5 and 0.7. `duration` is the length of that beginning.
 */
export type AudioMatch = { distance: number; worst: number; duration: Ticks };

/** A window of the recording to recognize again. A window of more than 30 s is cut off. */
export type RecognitionRequest = { window: Span };

/**
 * The result of recognizing a window. `meanLogProb` is over the tokens of the text (clear speech: above -0.4; garbled:
 * below -0.8), and lowest if no recognizer is available.
 */
export type Recognition = { words: Word[]; meanLogProb: number };

/** Analysis audio: 16 kHz, mono, 16 bit, lossless (`lib/analysis-audio`). Sample 0 is at time 0 of the source. */
export type AnalysisAudioFile = { path: string };
export const PCM_SAMPLE_RATE_HZ = 16_000;

/** `owner` is the user who requested the work. Owners are scheduled fairly, and each one's work runs in order. */
export type SpeechOptions = { owner?: string; signal?: AbortSignal };
export type AnalyzeOptions = SpeechOptions & {
  language: string | null;
  /** False: only detects speech, which needs no recognizer. */
  transcribes?: boolean;
  onProgress?: (share: number) => void;
  /** A file that stores the progress, from which a later call for the same recording resumes. The caller removes it. */
  progressPath?: string;
  /** Called when progress was written to `progressPath`. */
  onSaved?: () => void;
  /** Called with the next words of the transcript. `from` is the index of the first: 0 when recognition restarts. */
  onWords?: (words: Word[], from: number) => void;
};

/** If `language` is null, the built-in recognizer is used, otherwise the model installed for the language. */
export type RecognizeOptions = SpeechOptions & { language?: string | null };

/** The speech engine. Throws `AppError` `processing_failed` for repeated failures, and the signal's reason. */
export type SpeechEngine = {
  /**
   * Starts the speech process and loads its models in the meantime, unless they are: the first analysis then starts
   * sooner.
   */
  warmUp(): void;
  /** Returns whether a model supports the language. Null stands for unknown, which the default model handles. */
  canTranscribe(language: string | null): boolean;
  /** Measures the energy contour, detects speech and transcribes. */
  analyze(audio: AnalysisAudioFile, options: AnalyzeOptions): Promise<SpeechAnalysis>;
  /** Aligns each text and returns the results in the order of the requests. */
  forcedAlign(
    audio: AnalysisAudioFile,
    requests: AlignmentRequest[],
    options?: SpeechOptions,
  ): Promise<ForcedAlignment[]>;
  /** Recognizes each window and returns the results in the order of the requests. */
  recognize(
    audio: AnalysisAudioFile,
    requests: RecognitionRequest[],
    options?: RecognizeOptions,
  ): Promise<Recognition[]>;
  /** Stops the speech process, if it is running. */
  close(): Promise<void>;
};
