/** Recognises segments with an added model: the same words and utterances as the built-in recogniser gives. */
import type { Utterance, Word } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { findLengthWithoutLoop } from "./loop-detection";
import { NO_LOG, type RecordLog } from "./record-log";
import type { SpeechSegment } from "./segmentation";
import type { LanguageDetector, SherpaResult, SpeechRecognizer } from "./sherpa";
import { estimateWords, splitWords, timeTokens, UNKNOWN_LOG_PROB } from "./sherpa-words";
import { snapWordEdges } from "./snapping";
import type { Checkpoint } from "./task-control";
import { type AudioWithEnergy, type RecognizedSegment, readSamples, sliceEnergy } from "./transcribe";
import { type TimedWord, toRecordingTicks } from "./word-timing";

/** Nobody says more words in a second of voice: a text that claims it was not said. */
const MAX_WORDS_PER_SECOND = 9;

/**
 * Recognises the segments, and calls `onHeard` with the share of the work done. Utterances are in order and not empty; their words too.
 * `check` is called between segments and may throw to stop.
 */
export async function transcribeWithSherpa(
  getRecogniser: () => Promise<SpeechRecognizer>,
  sound: AudioWithEnergy,
  segments: SpeechSegment[],
  language: string,
  onHeard: (share: number) => void,
  check: Checkpoint,
  log: RecordLog = NO_LOG,
): Promise<{ words: Word[]; utterances: Utterance[] }> {
  const total = segments.reduce((sum, s) => sum + s.end - s.start, 0);
  const words: Word[] = [];
  const utterances: Utterance[] = [];
  let done = 0;
  for (const [n, segment] of segments.entries()) {
    await check();
    const saved = log.takeJson<RecognizedSegment[]>(`added ${language} ${n}`);
    const found = saved ?? (await recognize(segment));
    if (saved === null) await log.putJson(`added ${language} ${n}`, found);
    for (const text of found) {
      words.push(...text.words);
      utterances.push(text.utterance);
    }
    done += segment.end - segment.start;
    onHeard(done / total);
  }
  return { words, utterances };

  async function recognize(segment: SpeechSegment): Promise<RecognizedSegment[]> {
    const recogniser = await getRecogniser();
    const result = removeLoop(await recogniser.recognize(await readSamples(sound, segment)), language);
    const timed = timeSherpaWords(result, segment, sliceEnergy(sound.energy, segment), language);
    const voiced = segment.speech.reduce((sum, s) => sum + s.end - s.start, 0) / TICKS_PER_SECOND;
    if (timed.length === 0 || timed.length > Math.max(3, voiced * MAX_WORDS_PER_SECOND)) return [];
    const { start, end } = segment;
    const utterance = { start, end, text: result.text, meanLogProb: computeMeanLogProb(result.logProbs) };
    return [
      { utterance, words: timed.map((word) => toRecordingWord(word, segment)).filter((word) => word.end > word.start) },
    ];
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

const toRecordingWord = (word: TimedWord, { start, end }: SpeechSegment): Word => ({
  text: word.text,
  start: toRecordingTicks(word.start, start, end),
  end: toRecordingTicks(word.end, start, end),
  confidence: Math.exp(word.meanLogProb),
});

/** A phrase that a model repeats without end stays once. Tokens' times are given up with it. */
function removeLoop(result: SherpaResult, language: string): SherpaResult {
  const words = splitWords(result.text, language);
  const ids = new Map<string, number>();
  const sequence = words.map(({ text }) => {
    const key = text.toLowerCase();
    if (!ids.has(key)) ids.set(key, ids.size);
    return ids.get(key)!;
  });
  const kept = findLengthWithoutLoop(sequence);
  if (kept === null) return result;
  const text = result.text.slice(0, words[kept - 1]?.to ?? 0);
  return { ...result, text, tokens: [], timestamps: [], durations: [], logProbs: [] };
}

const computeMeanLogProb = (values: number[]): number =>
  values.length === 0 ? UNKNOWN_LOG_PROB : values.reduce((a, b) => a + b, 0) / values.length;

/** Segments that are listened to for the language: the longest ones, from all over the recording. */
const MAX_PROBED_SEGMENTS = 5;

/** The language that more than half of what was listened to is in, as far as it can be told; null when there is no such. */
export async function detectLanguage(
  detect: LanguageDetector,
  sound: AudioWithEnergy,
  segments: SpeechSegment[],
  check: Checkpoint,
): Promise<string | null> {
  const longest = [...segments].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, MAX_PROBED_SEGMENTS);
  const votes = new Map<string, number>();
  for (const segment of longest) {
    await check();
    const language = await detect(await readSamples(sound, segment));
    if (language !== null) votes.set(language, (votes.get(language) ?? 0) + segment.end - segment.start);
  }
  const half = [...votes.values()].reduce((a, b) => a + b, 0) / 2;
  return [...votes].find(([, weight]) => weight > half)?.[0] ?? null;
}
