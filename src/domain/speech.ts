/** The contract between the product and a speech recogniser, and the data that goes between. Plain data, no I/O. */
import type { Span, Ticks } from "./time";

/** A spoken word. `confidence` is 0 to 1. */
export type Word = { text: string; start: Ticks; end: Ticks; confidence: number };

/** A stretch of speech as it was recognised in one piece; `words` are also in the transcript. */
export type Utterance = Span & { text: string; meanLogProb: number };

/**
 * What was said. `forcing` false: the recogniser that heard it cannot hold a text against the sound. `wordTimes` `estimated`: it gave no
 * times, and the words are spread over the sound; their edges at pauses are right, those between may be a quarter of a second off.
 */
export type Transcript = {
  language: string | null;
  words: Word[];
  utterances: Utterance[];
  forcing?: false;
  wordTimes?: "estimated";
};

/** Loudness of a recording: one value in dB (full scale 0) for each 5 ms, the first centred at 2.5 ms. */
export type EnergyContour = Float32Array;
export const ENERGY_HOP: Ticks = 5_000;
/** Levels are whole steps of 1/128 dB, so that a stored contour is the same as a measured one. */
export const ENERGY_STEPS_PER_DB = 128;

/** What listening to a recording gives. `speech` is voice activity: sorted, disjoint. `transcript` is null when no model knows the language. */
export type SpeechAnalysis = { duration: Ticks; speech: Span[]; energy: EnergyContour; transcript: Transcript | null };

/** A text to hold against a stretch of the recording; `mute` spans are silenced first. */
export type AlignmentRequest = { window: Span; text: string; mute?: Span[] };

export type AlignedWord = Word & { logProb: number };

/**
 * How well a text fits a stretch. `meanLogProb` over the text's tokens (spoken: about -0.1 to -0.5; another sentence: below -3);
 * `tailLogProb` is the lowest among the last tokens before the end: low when the sentence was broken off.
 */
export type ForcedAlignment = { words: AlignedWord[]; meanLogProb: number; tailLogProb: number };

/** Analysis audio: 16 kHz, mono, 16 bit, losslessly compressed (`lib/analysis-audio`); sample 0 is the source's clock 0. */
export type PcmFile = { path: string };
export const PCM_SAMPLE_RATE_HZ = 16_000;

/** `owner`: whose work it is. The engine divides its time between owners, and does the work of each in the order it came. */
export type SpeechOptions = { owner?: string; signal?: AbortSignal };
export type AnalyzeOptions = SpeechOptions & {
  language: string | null;
  onProgress?: (share: number) => void;
  /** A file that keeps what is done, for a later run on the same recording. The caller removes it in the end. */
  progressPath?: string;
  /** Something was written there. */
  onSaved?: () => void;
};

/** A recogniser. Errors: `AppError` `processing_failed` when a recording crashes it repeatedly, the signal's reason when aborted. */
export type SpeechEngine = {
  /** Whether some model here can transcribe the language (null: not known, the default model decides). */
  canTranscribe(language: string | null): boolean;
  analyze(pcm: PcmFile, options: AnalyzeOptions): Promise<SpeechAnalysis>;
  /** Results in the order of the requests. */
  forcedAlign(pcm: PcmFile, requests: AlignmentRequest[], options?: SpeechOptions): Promise<ForcedAlignment[]>;
  /** Ends the child process, if one runs. */
  close(): Promise<void>;
};
