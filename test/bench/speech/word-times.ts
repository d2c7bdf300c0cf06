/**
 * Measures the errors of word times: `bun test/bench/speech/word-times.ts`. Four synthetic voices speak sentences with
 * pauses, whose exact times are known. They are transcribed by the whole pipeline and, separately, aligned with their
 * text (forced alignment). Needs libflite1.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { analyze } from "../../../src/speech/analyze";
import { forcedAlign } from "../../../src/speech/forced-alignment";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openAnalysisAudio } from "../../../src/speech/pcm";
import { NO_LOG } from "../../../src/speech/record-log";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { concatenate, openBenchVoice, SENTENCES, toPcmBytes, VOICES } from "./material";
import { normalizeWords } from "./word-errors";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const PAUSES = [0.7, 0.45, 0.9, 0.6];
const VOICE_OPTIONS = [
  { stretch: 1, pitch: 1 },
  { stretch: 0.92, pitch: 1.05 },
  { stretch: 1.1, pitch: 0.96 },
];
/** Amplitude of the background noise: a quiet room. */
const NOISE_AMPLITUDE = 0.0005;
/** Edges of a gap at least this long are next to a pause. */
const MIN_PAUSE_SECONDS = 0.1;

type TimedWord = { text: string; start: number; end: number };
type Errors = { all: number[]; atPauses: number[]; missed: number; words: number };

/** Returns pairs of indexes of reference and recognized words, by the longest common subsequence of their texts. */
function matchWords(reference: TimedWord[], recognized: TimedWord[]): [number, number][] {
  const plain = (w: TimedWord) => normalizeWords(w.text).join("");
  const a = reference.map(plain);
  const b = recognized.map(plain);
  const length = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i]![j] = a[i] === b[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++]);
    else if (length[i + 1]![j]! >= length[i]![j + 1]!) i++;
    else j++;
  }
  return found;
}

function compare(reference: TimedWord[], recognized: TimedWord[], errors: Errors): void {
  const matched = matchWords(reference, recognized);
  errors.words += reference.length;
  errors.missed += reference.length - matched.length;
  for (const [i, j] of matched) {
    const expected = reference[i]!;
    const word = recognized[j]!;
    const startError = Math.abs(expected.start - word.start);
    const endError = Math.abs(expected.end - word.end);
    errors.all.push(startError, endError);
    if (expected.start - (reference[i - 1]?.end ?? -1) >= MIN_PAUSE_SECONDS) errors.atPauses.push(startError);
    if ((reference[i + 1]?.start ?? Number.POSITIVE_INFINITY) - expected.end >= MIN_PAUSE_SECONDS)
      errors.atPauses.push(endError);
  }
}

/** Synthesizes a talk: samples, and words and sentences with exact times in seconds. */
function createTalk(voice: (typeof VOICES)[number], seed: number) {
  const speak = openBenchVoice(voice);
  const parts: (Float32Array | number)[] = [0.5];
  const words: TimedWord[] = [];
  const sentences: TimedWord[] = [];
  let at = 0.5;
  for (const [i, text] of SENTENCES.entries()) {
    const spoken = speak(text, VOICE_OPTIONS[(i + seed) % VOICE_OPTIONS.length]!);
    const seconds = spoken.samples.length / 16_000;
    sentences.push({ text, start: at, end: at + seconds });
    for (const w of spoken.words) words.push({ text: w.word, start: at + w.start, end: at + w.end });
    const pause = PAUSES[i % PAUSES.length]!;
    parts.push(spoken.samples, pause);
    at += seconds + pause;
  }
  const samples = concatenate(...parts);
  let state = seed + 1;
  for (let i = 0; i < samples.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    samples[i]! += (state / 2 ** 31 - 1) * NOISE_AMPLITUDE;
  }
  return { samples, words, sentences };
}

const formatPercentile = (values: number[], share: number): string => {
  const sorted = [...values].sort((a, b) => a - b);
  return (1000 * (sorted[Math.floor(sorted.length * share)] ?? Number.NaN)).toFixed(0).padStart(6);
};

function print(name: string, e: Errors): void {
  const columns = [
    formatPercentile(e.all, 0.5),
    formatPercentile(e.all, 0.9),
    formatPercentile(e.atPauses, 0.5),
    formatPercentile(e.atPauses, 0.9),
  ];
  console.log(`${name.padEnd(22)} ${columns.join("  ")}   ${e.missed}/${e.words}`);
}

async function main() {
  await prepareSpeechGraphs(GRAPHS);
  const models = { moonshine: await loadMoonshine(GRAPHS), detector: await loadVoiceDetector(GRAPHS) };
  const scratch = await mkdtemp(join(tmpdir(), "offcut-times-"));
  const noErrors = (): Errors => ({ all: [], atPauses: [], missed: 0, words: 0 });
  const totals = { transcribed: noErrors(), aligned: noErrors() };
  const noop = () => {};
  const seconds = (w: { text: string; start: number; end: number }) => ({
    ...w,
    start: w.start / 1e6,
    end: w.end / 1e6,
  });
  console.log("ms                     median     p90  pause median  p90   unmatched");
  for (const [seed, voice] of VOICES.entries()) {
    const talk = createTalk(voice, seed);
    const path = join(scratch, `${voice}.pcm`);
    await writeFile(path, toPcmBytes(talk.samples));
    const pcm = await openAnalysisAudio({ path });
    const own = { transcribed: noErrors(), aligned: noErrors() };
    const { transcript } = await analyze(models, pcm, "en", { check: noop, onProgress: noop, log: NO_LOG });
    const requests = talk.sentences.map((s) => ({
      text: s.text,
      window: { start: Math.round((s.start - 0.15) * 1e6), end: Math.round((s.end + 0.15) * 1e6) },
    }));
    const alignments = await forcedAlign(
      { moonshine: models.moonshine, pcm, cache: new Map(), recording: voice },
      requests,
      noop,
    );
    for (const errors of [own, totals]) {
      compare(talk.words, transcript!.words.map(seconds), errors.transcribed);
      compare(talk.words, alignments.flatMap(({ words }) => words).map(seconds), errors.aligned);
    }
    print(`${voice}, transcribed`, own.transcribed);
    print(`${voice}, aligned`, own.aligned);
    await pcm.close();
  }
  print("all, transcribed", totals.transcribed);
  print("all, aligned", totals.aligned);
  await rm(scratch, { recursive: true });
}

await main();
