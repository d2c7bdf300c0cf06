/**
 * Quality of the cut: `bun test/bench/cut-quality/run.ts [FOLDER]`. Cuts talks of which it is known what a perfect cut keeps, each with its
 * script and without, and fluent readings of which nothing may go. FOLDER (or `OFFCUT_SHARED`, its `eval` and `media/speech`) holds
 * further talks; our own screenplays need only Debian's libflite1 and ffmpeg.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { CUT_MODES, type Plan } from "../../../src/domain/plan";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { fromSeconds, toSeconds } from "../../../src/domain/time";
import { analyze } from "../../../src/speech/analyze";
import { forcedAlign, type WindowCache } from "../../../src/speech/forced-alignment";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openPcm } from "../../../src/speech/pcm";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { planCut } from "../../../src/work/plan-cut";
import { pcmBytes } from "../speech/material";
import { folderNulls, folderTalks, type Null, ownTalks } from "./material";
import { pooled, type Score, type Span, type Summary, scoreSegments } from "./score";
import type { Talk } from "./talk";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const FRAME_RATE = { num: 30, den: 1 };
const RATE = 16_000;
const nothing = () => {};

const given = process.argv[2] ?? (process.env.OFFCUT_SHARED ? join(process.env.OFFCUT_SHARED, "eval") : null);
const besides = given ? join(dirname(given), "media/speech") : null;
const speech = besides && existsSync(besides) ? besides : null;

await prepareSpeechGraphs(GRAPHS);
const models = { detector: await loadVoiceDetector(GRAPHS), moonshine: await loadMoonshine(GRAPHS, 2) };
const scratch = await mkdtemp(join(tmpdir(), "offcut-cut-quality-"));

try {
  if (given) await report(`Talks of ${given}`, await folderTalks(given, speech));
  await report("Own screenplays", await ownTalks());
  if (speech) await reportNulls(await folderNulls(speech));
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.exit(0);

type Hearing = { listening: SpeechAnalysis; cut: (script: string) => Promise<Plan>; close: () => Promise<void> };

/** Listens to samples once; cuts them as often as asked, as a video of 30 frames a second. */
async function hear(name: string, samples: Float32Array): Promise<Hearing> {
  const path = join(scratch, `${name.replace(/\W+/g, "-")}.pcm`);
  await writeFile(path, pcmBytes(samples));
  const pcm = await openPcm({ path });
  const listening = await analyze(models, pcm, "en", nothing, nothing);
  const cache: WindowCache = new Map();
  const duration = fromSeconds(samples.length / RATE);
  const count = Math.floor((samples.length / RATE) * FRAME_RATE.num);
  const probed = {
    info: { type: "video" as const, demuxer: "mov", duration, startPts: 0, video: null, audio: [], timecode: null },
    frames: { kind: "constant" as const, rate: FRAME_RATE, first: 0, count },
  };
  const cut = (script: string) =>
    planCut({
      analysis: listening,
      probed,
      script,
      options: CUT_MODES.natural,
      forcedAlign: (requests) => forcedAlign(models.moonshine, pcm, requests, cache, path, nothing),
      language: "en",
    });
  return { listening, cut, close: () => pcm.close() };
}

async function report(title: string, talks: readonly Talk[]): Promise<void> {
  console.log(`\n${title}`);
  const scores = { with: [] as Score[], without: [] as Score[] };
  for (const talk of talks) {
    const { cut, close } = await hear(talk.name, talk.samples);
    const scripted = scoreSegments(talk.events, secondsOf(await cut(talk.script)));
    const unscripted = scoreSegments(talk.events, secondsOf(await cut("")), ["remark"]);
    await close();
    scores.with.push(scripted);
    scores.without.push(unscripted);
    print(talk.name, "script", scripted);
    print(talk.name, "without", unscripted);
  }
  console.log(row("all", "script", pooled(scores.with)));
  console.log(row("all", "without", pooled(scores.without)));
}

function print(name: string, run: string, score: Score): void {
  console.log(row(name, run, pooled([score])));
  if (score.lost.length > 0) console.log(`    lost: ${score.lost.join(" ")}`);
  if (score.leaked.length > 0) console.log(`    leaked: ${score.leaked.join(" ")}`);
}

function secondsOf(plan: Plan): Span[] {
  return plan.segments.map((segment) => ({ start: toSeconds(segment.start), end: toSeconds(segment.end) }));
}

function row(name: string, run: string, summary: Summary): string {
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`;
  const span = ([low, high]: [number, number]) => `[${percent(low)}, ${percent(high)}]`;
  const pool = name === "all";
  return [
    `${name} ${run}`.padEnd(38),
    `kept ${percent(summary.kept)}${pool ? ` ${span(summary.keptInterval)}` : ""}`,
    `leaked ${percent(summary.leaked)}${pool ? ` ${span(summary.leakedInterval)}` : ""}`,
    `dead air ${summary.deadAir.toFixed(2)}`,
    `margin p1/median ${(1000 * summary.marginP1).toFixed(0)}/${(1000 * summary.marginMedian).toFixed(0)} ms`,
    `breathless ${percent(summary.breathless)}`,
    `corrections/min ${summary.correctionsPerMinute.toFixed(2)}`,
  ].join("  ");
}

/** Words of the transcript that a cut of a fluent reading loses. */
async function reportNulls(nulls: readonly Null[]): Promise<void> {
  console.log("\nFluent readings: nothing may go");
  let words = 0;
  const lost = { with: 0, without: 0 };
  for (const reading of nulls) {
    const { listening, cut, close } = await hear(reading.name, reading.samples);
    const heard = listening.transcript?.words ?? [];
    const missing = async (script: string) => {
      const { segments } = await cut(script);
      return heard.filter((word) => {
        const middle = (word.start + word.end) / 2;
        return !segments.some((segment) => segment.start <= middle && middle < segment.end);
      });
    };
    const withScript = await missing(reading.script);
    const withoutScript = await missing("");
    await close();
    words += heard.length;
    lost.with += withScript.length;
    lost.without += withoutScript.length;
    console.log(
      `${reading.name}: ${heard.length} words, lost ${withScript.length} with script, ${withoutScript.length} without`,
    );
    for (const [run, gone] of [["script", withScript] as const, ["without", withoutScript] as const]) {
      if (gone.length > 0)
        console.log(`    ${run}: ${gone.map((word) => `${word.text}@${toSeconds(word.start)}`).join(" ")}`);
    }
  }
  const thousand = (count: number) => ((1000 * count) / Math.max(1, words)).toFixed(2);
  console.log(`all: lost of 1000 words ${thousand(lost.with)} with script, ${thousand(lost.without)} without`);
}
