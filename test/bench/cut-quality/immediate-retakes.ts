/**
 * Counts retakes without a pause that are found: `bun test/bench/cut-quality/immediate-retakes.ts [SHARED]`. A reader
 * says 3 to 8 words and says them again at once, up to 0.12 s later, at another pace, and reads on. 40 are made from
 * readings in `media/real` of SHARED (or `OFFCUT_SHARED`), 20 are spoken by synthetic voices. A retake is found when
 * one of the two attempts stays. False alarms are words removed elsewhere.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toSeconds } from "../../../src/domain/time";
import { concatenate, decodeAudio, openBenchVoice, SENTENCES, toPcmBytes, VOICES } from "../speech/material";
import { findSharedFolder } from "./corpus";
import { openAnalyzer, toSpans } from "./recording";
import type { Span } from "./score";

const RATE = 16_000;
const REAL_COUNT = 40;
const SYNTHETIC_COUNT = 20;
const MIN_WORDS = 3;
const GAPS = [0, 0.05, 0.12];
const PACES = [0.93, 0.97, 1.04, 1.08];
/** Words that are read on after the phrase. */
const MIN_WORDS_AFTER = 3;
/** Seconds of silence around a reading. */
const SILENCE = 0.6;
/** Shares of an attempt from which it stays or is removed. */
const [MAX_LEFT, MIN_LEFT] = [0.35, 0.75];

type SaidWord = Span & { text: string };
type Retake = { name: string; samples: Float32Array; attempts: [Span, Span]; others: SaidWord[]; text: string };

const shared = findSharedFolder(process.argv[2]);
const recordings = await openAnalyzer();
const retakes = [...(shared ? await createFromReadings(join(shared, "media/real")) : []), ...createSynthetic()];

const gaps = new Map<number, { found: number; count: number }>();
let [found, alarms, words, confused] = [0, 0, 0, 0];
for (const [i, retake] of retakes.entries()) {
  const { analysis, cut, close } = await recordings.analyze(retake.name, retake.samples);
  const plan = await cut("");
  await close();
  const segments = toSpans(plan);
  const [first, second] = retake.attempts.map((attempt) => keptShare(attempt, segments)) as [number, number];
  const isFound = Math.min(first, second) <= MAX_LEFT && Math.max(first, second) >= MIN_LEFT;
  const lost = retake.others.filter((word) => keptShare(word, segments) < 0.5);
  const gap = GAPS[i % GAPS.length]!;
  const { found: before, count } = gaps.get(gap) ?? { found: 0, count: 0 };
  gaps.set(gap, { found: before + Number(isFound), count: count + 1 });
  found += Number(isFound);
  confused += Number(!isFound && Math.min(first, second) < MIN_LEFT);
  alarms += lost.length;
  words += retake.others.length;
  if (isFound && lost.length === 0) continue;
  const spoken = analysis.transcript?.words.map(({ text, start }) => `${text}@${toSeconds(start).toFixed(2)}`);
  const [from, again] = retake.attempts;
  console.log(
    `${retake.name}: "${retake.text}" ${from.start.toFixed(2)}, again ${again.start.toFixed(2)}-${again.end.toFixed(2)}: ${percent(first)}, ${percent(second)} stay`,
  );
  console.log(`    recognized: ${spoken?.join(" ")}`);
  console.log(
    `    removed: ${plan.removed
      .filter(({ reason }) => reason !== "silence")
      .map(
        ({ start, end, rule, text }) => `${toSeconds(start).toFixed(2)}-${toSeconds(end).toFixed(2)} ${rule} ${text}`,
      )
      .join("; ")}; marked: ${plan.segments.filter(({ review }) => review).length}`,
  );
  if (lost.length > 0)
    console.log(`    lost: ${lost.map(({ text, start }) => `${text}@${start.toFixed(2)}`).join(" ")}`);
}
await recordings.close();
console.log(
  `${found} of ${retakes.length} immediate retakes are found; ${confused} others lose a part; ${alarms} of ${words} other words are removed`,
);
for (const [gap, { found: some, count }] of gaps)
  console.log(`${gap.toFixed(2)} s before the retake: ${some} of ${count}`);
process.exit(0);

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

function keptShare(span: Span, segments: readonly Span[]): number {
  const kept = segments.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.end, span.end) - Math.max(one.start, span.start)),
    0,
  );
  return kept / (span.end - span.start);
}

/** Changes the pace of samples, not their pitch. */
function changePace(samples: Float32Array, pace: number): Float32Array {
  const raw = ["-f", "s16le", "-ar", "16000", "-ac", "1"];
  const command = ["ffmpeg", "-v", "error", ...raw, "-i", "-", "-af", `atempo=${pace}`, ...raw, "-"];
  const { stdout } = Bun.spawnSync(command, { stdin: toPcmBytes(samples), stdout: "pipe" });
  return Float32Array.from(new Int16Array(new Uint8Array(stdout).buffer), (value) => value / 32_768);
}

/** Returns the quietest time near a boundary of words. */
function findQuiet(samples: Float32Array, time: number): number {
  const energyAt = (at: number) =>
    samples
      .subarray(Math.round((at - 0.005) * RATE), Math.round((at + 0.005) * RATE))
      .reduce((sum, x) => sum + x * x, 0);
  let best = time;
  for (let at = time - 0.04; at <= time + 0.04; at += 0.002) if (energyAt(at) < energyAt(best)) best = at;
  return best;
}

/** Says the words from `first` up to `last` twice. */
function repeat(
  name: string,
  samples: Float32Array,
  said: readonly SaidWord[],
  [first, last]: [number, number],
  turn: number,
): Retake {
  const [pace, gap] = [PACES[turn % PACES.length]!, GAPS[turn % GAPS.length]!];
  const from =
    first === 0
      ? Math.max(0, said[0]!.start - 0.03)
      : findQuiet(samples, (said[first - 1]!.end + said[first]!.start) / 2);
  const to = findQuiet(samples, said[last]!.end);
  const head = samples.slice(0, Math.round(to * RATE));
  const again = changePace(samples.slice(Math.round(from * RATE)), pace);
  const shift = SILENCE;
  const restart = shift + to + gap;
  const move = (time: number) => restart + (time - from) / pace;
  const text = said
    .slice(first, last + 1)
    .map((word) => word.text)
    .join(" ");
  return {
    name,
    text,
    samples: concatenate(SILENCE, head, gap, again, SILENCE),
    attempts: [
      { start: shift + from, end: shift + to },
      { start: restart, end: move(to) },
    ],
    others: [
      ...said.slice(0, first).map((word) => ({ ...word, start: shift + word.start, end: shift + word.end })),
      ...said.slice(last + 1).map((word) => ({ ...word, start: move(word.start), end: move(word.end) })),
    ],
  };
}

async function createFromReadings(folder: string): Promise<Retake[]> {
  const readings = (await readdir(folder)).filter((file) => /^\d+-\d+-\d+\.flac$/.test(file)).sort();
  const out: Retake[] = [];
  for (const file of readings) {
    if (out.length === REAL_COUNT) break;
    const samples = decodeAudio(join(folder, file));
    const { analysis, close } = await recordings.analyze(file, samples);
    await close();
    const said = (analysis.transcript?.words ?? []).map(({ text, start, end }) => ({
      text,
      start: toSeconds(start),
      end: toSeconds(end),
    }));
    const phrases = said.flatMap((word, i) => (i === 0 || word.start - said[i - 1]!.end >= 0.1 ? [i] : []));
    const count = MIN_WORDS + (out.length % 6);
    const first = phrases.filter((i) => i + count + MIN_WORDS_AFTER <= said.length).at(out.length % 3);
    if (first !== undefined) out.push(repeat(file, samples, said, [first, first + count - 1], out.length));
  }
  return out;
}

/** Two renderings of a sentence by a synthetic voice, the first one broken off. */
function createSynthetic(): Retake[] {
  return Array.from({ length: SYNTHETIC_COUNT }, (_, i) => {
    const turn = REAL_COUNT + i;
    const speak = openBenchVoice(VOICES[i % VOICES.length]!);
    const sentence = SENTENCES[(i + Math.floor(i / VOICES.length)) % SENTENCES.length]!;
    const [before, after] = [0.97, 1.03].map((stretch, n) => speak(sentence, { stretch, pitch: n ? 1.02 : 0.99 }));
    const count = MIN_WORDS + (i % 6);
    const to = before!.words[count - 1]!.end;
    const gap = GAPS[turn % GAPS.length]!;
    const from = Math.max(0, after!.words[0]!.start - 0.02);
    const restart = SILENCE + to + gap;
    const said = after!.words.map(({ word, start, end }) => ({
      text: word,
      start: restart + start - from,
      end: restart + end - from,
    }));
    return {
      name: `${VOICES[i % VOICES.length]}-${i}`,
      text: sentence.split(" ").slice(0, count).join(" "),
      samples: concatenate(
        SILENCE,
        before!.samples.slice(0, Math.round(to * RATE)),
        gap,
        after!.samples.slice(Math.round(from * RATE)),
        SILENCE,
      ),
      attempts: [
        { start: SILENCE + before!.words[0]!.start, end: SILENCE + to },
        { start: restart, end: said[count - 1]!.end },
      ],
      others: said.slice(count),
    };
  });
}
