/**
 * Counts how much foreign speech in English recordings is marked: `bun test/bench/cut-quality/foreign.ts FOLDER
 * [SHARED] [--odd] [--places]`. FOLDER has recordings in other languages. Stretches of them of 5 to 60 s are put
 * before, between or after English readings of `media/real`, 0.2 or 0.7 s away, at the same level; `--odd` uses the
 * other half of the readings. The first run stores the audio and the analyses in FOLDER.
 */
import { deserialize, serialize } from "bun:jsc";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { parseArgs } from "node:util";
import { judgePlan } from "../../../src/domain/pacing/judge-plan";
import { CUT_MODES } from "../../../src/domain/plan";
import { planToJson } from "../../../src/domain/plan-json";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { concatenate, decodeAudio, toPcmBytes } from "../speech/material";
import { findSharedFolder } from "./corpus";
import { openModels, openPcm, planSamples } from "./recording";
import type { Span } from "./score";

const RATE = 16_000;
const LENGTHS = [5, 10, 20, 40, 60];
const PLACES = { start: 0, middle: 1, end: 2 };
const GAPS = [0.2, 0.7];
/** English readings in a recording. */
const READINGS = 2;
/** Level of all speech: root mean square. */
const LEVEL = 0.05;
/** Seconds at the edges of a stretch that count for neither language. */
const EDGE = 0.5;

type Counts = {
  /** Numbers of stretches, and of marks in them. */
  stretches: number;
  marks: number;
  /** Seconds of foreign speech, of it in marks and in the longest mark of each stretch, removed and not marked. */
  foreign: number;
  marked: number;
  inOne: number;
  cut: number;
  /** Seconds of English, and of it in marks. */
  english: number;
  alarms: number;
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { odd: { type: "boolean", default: false }, places: { type: "boolean", default: false } },
});
const [folder] = positionals;
const shared = findSharedFolder(positionals[1]);
if (!folder || !shared) throw new Error("Folders of foreign recordings and of shared recordings are required.");

const stored = join(folder, "mixed");
await mkdir(stored, { recursive: true });
const models = await openModels();
const groups = new Map<string, Counts>();
for await (const { name, length, samples, stretch } of listMixed(folder, join(shared, "media/real"))) {
  const counts = await countMarks(join(stored, name), samples, stretch);
  for (const group of ["all", `${length} s`]) groups.set(group, add(groups.get(group), counts));
  if (values.places) console.log(`${name.padEnd(32)} ${describe(counts)}`);
}
for (const [group, counts] of groups) console.log(`${group.padEnd(32)} ${describe(counts)}`);
process.exit(0);

async function* listMixed(foreign: string, real: string) {
  const names = (await readdir(real)).filter((name) => /^\d+-\d+-\d+\.flac$/.test(name)).sort();
  const readings = names.filter((_, i) => i % 2 === Number(values.odd)).map((name) => decodeAudio(join(real, name)));
  let n = 0;
  for (const file of (await readdir(foreign)).filter((name) => extname(name) !== "").sort()) {
    const source = decodeAudio(join(foreign, file));
    for (const length of LENGTHS.filter((seconds) => seconds * RATE <= source.length)) {
      const from = Math.floor((((7 * n) % 11) / 11) * (source.length - length * RATE));
      const inserted = toLevel(source.slice(from, from + length * RATE));
      const [place, before] = Object.entries(PLACES)[n % 3]!;
      const gap = GAPS[Math.floor(n / 3) % 2]!;
      const english = Array.from({ length: READINGS }, (_, i) => readings[(READINGS * n + i) % readings.length]!);
      const head = concatenate(0.5, ...english.slice(0, before).flatMap((reading) => [toLevel(reading), gap]));
      const tail = english.slice(before).flatMap((reading) => [gap, toLevel(reading)]);
      const stretch = { start: head.length / RATE, end: head.length / RATE + length };
      const name = [basename(file, extname(file)), length, place, gap, Number(values.odd)].join("-");
      yield { name, length, samples: concatenate(head, inserted, ...tail, 0.5), stretch };
      n++;
    }
  }
}

function toLevel(samples: Float32Array): Float32Array {
  const level = Math.sqrt(samples.reduce((total, value) => total + value * value, 0) / samples.length);
  return samples.map((value) => (value * LEVEL) / level);
}

async function countMarks(path: string, samples: Float32Array, stretch: Span): Promise<Counts> {
  if (!existsSync(`${path}.pcm`)) await Bun.write(`${path}.pcm`, toPcmBytes(samples));
  const pcm = await openPcm(`${path}.pcm`);
  if (!existsSync(`${path}.bin`)) await Bun.write(`${path}.bin`, serialize(await models.analyze(pcm)));
  const analysis = deserialize(await Bun.file(`${path}.bin`).arrayBuffer()) as SpeechAnalysis;
  const answer = models.openEngine(pcm, `${path}.pcm`);
  const plan = await planSamples(analysis, samples.length, "", CUT_MODES.natural, answer);
  await pcm.close();
  const { review = [], removed } = judgePlan(planToJson(plan), plan.basis.spans);
  const inner = { start: stretch.start + EDGE, end: stretch.end - EDGE };
  const outer = { start: stretch.start - EDGE, end: stretch.end + EDGE };
  const marks = review.filter(({ rule }) => rule === "review.unrecognized_speech");
  const inside = marks.map((mark) => overlap(mark, inner)).filter((seconds) => seconds > 0);
  const cut = removed.filter(({ reason }) => reason !== "silence" && reason !== "noise");
  const seconds = samples.length / RATE;
  return {
    stretches: 1,
    marks: inside.length,
    foreign: inner.end - inner.start,
    marked: sum(inside),
    inOne: Math.max(0, ...inside),
    cut: sum(cut.map((span) => overlap(span, inner))),
    english: seconds - overlap(outer, { start: 0, end: seconds }),
    alarms: sum(marks.map((mark) => mark.end - mark.start - overlap(mark, outer))),
  };
}

function add(a: Counts | undefined, b: Counts): Counts {
  if (!a) return b;
  return Object.fromEntries(Object.entries(b).map(([key, value]) => [key, value + a[key as keyof Counts]])) as Counts;
}

function describe({ stretches, marks, foreign, marked, inOne, cut, english, alarms }: Counts): string {
  const seconds = (value: number) => value.toFixed(1);
  return `${stretches} stretches, ${marks} marks; of ${seconds(foreign)} s ${seconds(marked)} marked, ${seconds(inOne)} in one mark, ${seconds(cut)} cut; of ${seconds(english)} s English ${seconds(alarms)} marked`;
}

function overlap(a: Span, b: Span): number {
  return Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
