/**
 * Word times against exact ones: `bun test/bench/speech/word-times.ts`. Four synthetic voices speak sentences with pauses; the whole path listens
 * (voice activity, segments, text, attention, snapping), and the same sentences are also forced. Needs Debian's libflite1.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { analyze } from "../../../src/speech/analyze";
import { forcedAlign } from "../../../src/speech/forced-alignment";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openPcm } from "../../../src/speech/pcm";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { joined, pcmBytes, SENTENCES, VOICES, voiceOf } from "./material";
import { plainWords } from "./word-errors";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const PAUSES = [0.7, 0.45, 0.9, 0.6];
const MANNERS = [
  { stretch: 1, pitch: 1 },
  { stretch: 0.92, pitch: 1.05 },
  { stretch: 1.1, pitch: 0.96 },
];
/** A quiet room. */
const NOISE = 0.0005;
/** A gap in the truth from which its edges count as lying next to a pause. */
const PAUSE_SECONDS = 0.1;

type Timed = { text: string; start: number; end: number };
type Errors = { all: number[]; atPauses: number[]; missed: number; words: number };

/** Pairs of true and heard words, by the longest common subsequence of their texts. */
function pairs(truth: Timed[], heard: Timed[]): [number, number][] {
  const plain = (w: Timed) => plainWords(w.text).join("");
  const a = truth.map(plain);
  const b = heard.map(plain);
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

function compare(truth: Timed[], heard: Timed[], errors: Errors): void {
  const matched = pairs(truth, heard);
  errors.words += truth.length;
  errors.missed += truth.length - matched.length;
  for (const [i, j] of matched) {
    const said = truth[i]!;
    const word = heard[j]!;
    const startError = Math.abs(said.start - word.start);
    const endError = Math.abs(said.end - word.end);
    errors.all.push(startError, endError);
    if (said.start - (truth[i - 1]?.end ?? -1) >= PAUSE_SECONDS) errors.atPauses.push(startError);
    if ((truth[i + 1]?.start ?? Number.POSITIVE_INFINITY) - said.end >= PAUSE_SECONDS) errors.atPauses.push(endError);
  }
}

/** One voice's talk: samples, words and sentences with exact times in seconds. */
function talkOf(voice: (typeof VOICES)[number], seed: number) {
  const speak = voiceOf(voice);
  const parts: (Float32Array | number)[] = [0.5];
  const words: Timed[] = [];
  const sentences: Timed[] = [];
  let at = 0.5;
  for (const [i, text] of SENTENCES.entries()) {
    const spoken = speak(text, MANNERS[(i + seed) % MANNERS.length]!);
    const seconds = spoken.samples.length / 16_000;
    sentences.push({ text, start: at, end: at + seconds });
    for (const w of spoken.words) words.push({ text: w.word, start: at + w.start, end: at + w.end });
    const pause = PAUSES[i % PAUSES.length]!;
    parts.push(spoken.samples, pause);
    at += seconds + pause;
  }
  const samples = joined(...parts);
  let state = seed + 1;
  for (let i = 0; i < samples.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    samples[i]! += (state / 2 ** 31 - 1) * NOISE;
  }
  return { samples, words, sentences };
}

const milliseconds = (values: number[], share: number): string => {
  const sorted = [...values].sort((a, b) => a - b);
  return (1000 * (sorted[Math.floor(sorted.length * share)] ?? Number.NaN)).toFixed(0).padStart(6);
};

function print(name: string, e: Errors): void {
  const columns = [
    milliseconds(e.all, 0.5),
    milliseconds(e.all, 0.9),
    milliseconds(e.atPauses, 0.5),
    milliseconds(e.atPauses, 0.9),
  ];
  console.log(`${name.padEnd(22)} ${columns.join("  ")}   ${e.missed}/${e.words}`);
}

async function main() {
  await prepareSpeechGraphs(GRAPHS);
  const models = { moonshine: await loadMoonshine(GRAPHS, 2), detector: await loadVoiceDetector(GRAPHS) };
  const scratch = await mkdtemp(join(tmpdir(), "offcut-times-"));
  const none = (): Errors => ({ all: [], atPauses: [], missed: 0, words: 0 });
  const totals = { heard: none(), forced: none() };
  const nothing = () => {};
  const seconds = (w: { text: string; start: number; end: number }) => ({
    ...w,
    start: w.start / 1e6,
    end: w.end / 1e6,
  });
  console.log("ms                     median     p90  pause median  p90   unmatched");
  for (const [seed, voice] of VOICES.entries()) {
    const talk = talkOf(voice, seed);
    const path = join(scratch, `${voice}.pcm`);
    await writeFile(path, pcmBytes(talk.samples));
    const pcm = await openPcm({ path });
    const own = { heard: none(), forced: none() };
    const { transcript } = await analyze(models, pcm, "en", nothing, nothing);
    const requests = talk.sentences.map((s) => ({
      text: s.text,
      window: { start: Math.round((s.start - 0.15) * 1e6), end: Math.round((s.end + 0.15) * 1e6) },
    }));
    const forced = await forcedAlign(models.moonshine, pcm, requests, new Map(), voice, nothing);
    for (const errors of [own, totals]) {
      compare(talk.words, transcript!.words.map(seconds), errors.heard);
      compare(talk.words, forced.flatMap((f) => f.words).map(seconds), errors.forced);
    }
    print(`${voice}, heard`, own.heard);
    print(`${voice}, forced`, own.forced);
    await pcm.close();
  }
  print("all, heard", totals.heard);
  print("all, forced", totals.forced);
  await rm(scratch, { recursive: true });
}

await main();
