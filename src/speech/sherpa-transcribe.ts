/** Transcribes segments with an installed model. The results have the shape of the built-in recognizer's. */
import { TICKS_PER_SECOND } from "../domain/time";
import { findLengthWithoutLoop } from "./loop-detection";
import type { SpeechSegment } from "./segmentation";
import type { LanguageDetector, SherpaResult, SpeechRecognizer } from "./sherpa";
import { estimateWords, splitWords, timeTokens, UNKNOWN_LOG_PROB } from "./sherpa-words";
import { snapWordEdges } from "./snapping";
import type { Checkpoint, TaskWork } from "./task-control";
import {
  type AudioWithEnergy,
  joinSegments,
  type RecognizedSegment,
  readSamples,
  type SegmentTexts,
  sliceEnergy,
} from "./transcribe";
import { type TimedWord, toRecordingWords } from "./word-timing";

/** More than anyone can speak: a text with more words is a hallucination. */
const MAX_WORDS_PER_SECOND = 9;

/**
 * Transcribes the segments and calls `onProgress` with the finished share of the work, and `onWords` after each
 * segment. Utterances and words are in order and not empty. `check` is called between segments and may throw to stop.
 */
export async function transcribeWithSherpa(
  getRecognizer: () => Promise<SpeechRecognizer>,
  audio: AudioWithEnergy,
  segments: SpeechSegment[],
  language: string,
  { check, onProgress, onWords, log }: TaskWork,
): Promise<SegmentTexts> {
  const total = segments.reduce((sum, s) => sum + s.end - s.start, 0);
  const all: RecognizedSegment[] = [];
  let done = 0;
  for (const [n, segment] of segments.entries()) {
    await check();
    const saved = log.takeJson<RecognizedSegment[]>(`added ${language} ${n}`);
    const recognized = saved ?? (await recognize(segment));
    if (saved === null) await log.putJson(`added ${language} ${n}`, recognized);
    all.push(...recognized);
    done += segment.end - segment.start;
    onProgress(done / total);
    const { words } = joinSegments(recognized);
    if (words.length > 0) onWords?.(words);
  }
  return joinSegments(all);

  async function recognize(segment: SpeechSegment): Promise<RecognizedSegment[]> {
    const recognizer = await getRecognizer();
    const result = removeLoop(await recognizer.recognize(await readSamples(audio, segment)), language);
    const timed = timeSherpaWords(result, segment, sliceEnergy(audio.energy, segment), language);
    const voicedSeconds = segment.speech.reduce((sum, s) => sum + s.end - s.start, 0) / TICKS_PER_SECOND;
    if (timed.length === 0 || timed.length > Math.max(3, voicedSeconds * MAX_WORDS_PER_SECOND)) return [];
    const { start, end } = segment;
    const utterance = { start, end, text: result.text, meanLogProb: computeMeanLogProb(result.logProbs) };
    return [{ utterance, words: toRecordingWords(timed, segment) }];
  }
}

function timeSherpaWords(
  result: SherpaResult,
  segment: SpeechSegment,
  energy: Float32Array,
  language: string,
): TimedWord[] {
  const onSegment = (ticks: number) => (ticks - segment.start) / TICKS_PER_SECOND;
  const fromTokens = timeTokens(result, onSegment(segment.end), language);
  if (fromTokens) return snapWordEdges(fromTokens, energy);
  const speech = segment.speech.map((s) => ({ start: onSegment(s.start), end: onSegment(s.end) }));
  return estimateWords(result.text, speech, energy, language);
}

/** Keeps one repetition of a phrase that the model repeats endlessly. Token times are dropped with the others. */
function removeLoop(result: SherpaResult, language: string): SherpaResult {
  const words = splitWords(result.text, language);
  const ids = new Map<string, number>();
  const sequence = words.map(({ text }) => {
    const key = text.toLowerCase();
    if (!ids.has(key)) ids.set(key, ids.size);
    return ids.get(key)!;
  });
  const keptWords = findLengthWithoutLoop(sequence);
  if (keptWords === null) return result;
  const text = result.text.slice(0, words[keptWords - 1]?.to ?? 0);
  return { ...result, text, tokens: [], timestamps: [], durations: [], logProbs: [] };
}

const computeMeanLogProb = (values: number[]): number =>
  values.length === 0 ? UNKNOWN_LOG_PROB : values.reduce((a, b) => a + b, 0) / values.length;

/** Number of segments, the longest of the recording, in which the language is detected. */
const MAX_PROBED_SEGMENTS = 5;

/**
 * Returns the language that was detected in more than half of the probed audio with a known language, with this share,
 * or null.
 */
export async function detectLanguage(
  detect: LanguageDetector,
  audio: AudioWithEnergy,
  segments: SpeechSegment[],
  check: Checkpoint,
): Promise<{ code: string; share: number } | null> {
  const longest = [...segments].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, MAX_PROBED_SEGMENTS);
  const votes = new Map<string, number>();
  for (const segment of longest) {
    await check();
    const language = await detect(await readSamples(audio, segment));
    if (language !== null) votes.set(language, (votes.get(language) ?? 0) + segment.end - segment.start);
  }
  const total = [...votes.values()].reduce((a, b) => a + b, 0);
  const [most] = [...votes]
    .map(([code, weight]) => ({ code, share: weight / total }))
    .filter(({ share }) => share > 0.5);
  return most ?? null;
}
