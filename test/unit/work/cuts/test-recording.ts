/** Synthetic recordings for the planner's tests, as a perfect recognizer would transcribe them. */
import { findOverlapping } from "../../../../src/domain/planning/spans";
import type {
  AlignmentRequest,
  AudioPair,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  SpeechAnalysis,
  Word,
} from "../../../../src/domain/speech";
import { normalizeWords } from "../../../../src/domain/text/normalize";
import { fromSeconds, type Span } from "../../../../src/domain/time";
import type { VoiceFeatures } from "../../../../src/domain/voice";

/**
 * Spoken text, seconds of silence, or a sound without words of a duration in seconds: voiced (`hum`) or not (`click`).
 */
export type Moment = string | number | { hum: number } | { click: number };

export type TestRecording = {
  analysis: SpeechAnalysis;
  forcedAlign: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
  /** Finds the words in each window. */
  recognize: (requests: RecognitionRequest[]) => Promise<Recognition[]>;
  /** The same voice everywhere. */
  measureVoices: (spans: Span[]) => Promise<VoiceFeatures[]>;
  /** No sounds are alike. */
  compareAudio: (pairs: AudioPair[]) => Promise<null[]>;
  /** The alignment requests so far. */
  requests: AlignmentRequest[];
  /** Returns the time of the n-th word with this spelling. */
  findWord: (text: string, nth?: number) => Span;
};

const SECONDS_PER_LETTER = 0.055;
const LOUD = -20;
const QUIET = -75;
/** Between two words the voice is a little softer. */
const BETWEEN_WORDS = -24;
const HOPS_BETWEEN_WORDS = 4;

/** Creates a recording of moments in a row. Words of one text follow each other without a pause. */
export function createRecording(...moments: Moment[]): TestRecording {
  const words: Word[] = [];
  const speech: Span[] = [];
  const loud: Span[] = [];
  let at = 0;
  for (const moment of moments) {
    if (typeof moment === "number") at += fromSeconds(moment);
    else if (typeof moment === "string") {
      const start = at;
      for (const text of moment.split(" ")) {
        const length = fromSeconds(Math.max(0.12, SECONDS_PER_LETTER * text.length));
        words.push({ text, start: at, end: at + length, confidence: 0.95 });
        at += length;
      }
      speech.push({ start, end: at });
      loud.push({ start, end: at });
    } else {
      const length = fromSeconds("hum" in moment ? moment.hum : moment.click);
      if ("hum" in moment) speech.push({ start: at, end: at + length });
      loud.push({ start: at, end: at + length });
      at += length;
    }
  }
  const energy = new Float32Array(Math.ceil(at / 5_000)).fill(QUIET);
  for (const sound of loud) energy.fill(LOUD, Math.round(sound.start / 5_000), Math.round(sound.end / 5_000));
  for (const [i, word] of words.entries()) {
    if (words[i + 1]?.start !== word.end) continue;
    const hop = Math.round(word.end / 5_000) - HOPS_BETWEEN_WORDS / 2;
    energy.fill(BETWEEN_WORDS, hop, hop + HOPS_BETWEEN_WORDS);
  }
  const requests: AlignmentRequest[] = [];
  return {
    analysis: { duration: at, speech, energy, transcript: { language: "en", words, utterances: [] } },
    requests,
    forcedAlign: async (batch) => {
      requests.push(...batch);
      return batch.map((request) => alignText(words, loud, request));
    },
    recognize: async (batch) =>
      batch.map(({ window }) => ({
        words: findOverlapping(words, window).filter((word) => inside(word, window)),
        meanLogProb: -0.2,
      })),
    measureVoices: async (spans) => spans.map(() => ({ pitch: 120, level: LOUD, voiced: 0 })),
    compareAudio: async (pairs) => pairs.map(() => null),
    findWord: (text, nth = 0) => words.filter((word) => word.text === text)[nth]!,
  };
}

const inside = (span: Span, other: Span) =>
  Math.min(span.end, other.end) - Math.max(span.start, other.start) > (span.end - span.start) / 2;

/**
 * Aligns a text: words that are spoken in the window, in this order, align; the others do not. A sound without words
 * aligns with "um".
 */
function alignText(
  words: readonly Word[],
  loud: readonly Span[],
  { window, text, mute = [] }: AlignmentRequest,
): ForcedAlignment {
  const isSpoken = (word: Word) => inside(word, window) && !mute.some((span) => inside(word, span));
  const spoken = findOverlapping(words, window).filter(isSpoken);
  const textWords = text.split(" ").filter((word) => normalizeWords(word).length > 0);
  const textNormals = textWords.map((word) => normalizeWords(word).join());
  const normals = spoken.map((word) => normalizeWords(word.text).join());
  const same = (i: number, j: number) => textNormals[i] === normals[j];
  const longest = Array.from({ length: textWords.length + 1 }, () => new Array<number>(spoken.length + 1).fill(0));
  for (let i = textWords.length - 1; i >= 0; i--)
    for (let j = spoken.length - 1; j >= 0; j--)
      longest[i]![j] = same(i, j) ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  let j = 0;
  let at = window.start;
  const hum = spoken.length === 0 && loud.some((sound) => inside(sound, window) && sound.end - sound.start < 900_000);
  const aligned = textWords.map((word, i) => {
    while (j < spoken.length && !(same(i, j) && longest[i]![j] === longest[i + 1]![j + 1]! + 1)) {
      if (longest[i + 1]![j] === longest[i]![j]) break;
      j++;
    }
    const found = j < spoken.length && same(i, j) ? spoken[j++]! : null;
    const fits = found !== null || (hum && /^(?:um|uh|hmm)\b/i.test(word));
    const start = found?.start ?? at;
    at = found?.end ?? Math.min(window.end, at + 10_000);
    return {
      text: word,
      start,
      end: Math.max(at, start + 1),
      confidence: fits ? 0.9 : 0.01,
      logProb: fits ? -0.1 : -9,
    };
  });
  const logProbs = aligned.map((word) => word.logProb);
  const mean = logProbs.reduce((sum, value) => sum + value, 0) / Math.max(1, logProbs.length);
  return { words: aligned, meanLogProb: mean, tailLogProb: Math.min(...logProbs.slice(-3)) };
}
