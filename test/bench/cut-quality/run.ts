/**
 * Measures the quality of cuts: `bun test/bench/cut-quality/run.ts [FOLDER]`. Cuts talks with a known perfect cut, each
 * with and without its script, and fluent readings in which every word must stay. FOLDER (or `eval` and `media/speech`
 * in `OFFCUT_SHARED`) contains more talks; the screenplays of this project need only libflite1 and ffmpeg.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plan } from "../../../src/domain/plan";
import { toSeconds } from "../../../src/domain/time";
import { createOwnTalks, type FluentReading, loadFluentReadings, loadTalks } from "./material";
import { openAnalyzer, toSpans } from "./recording";
import { type Score, type Summary, scoreSegments, summarizeScores } from "./score";
import type { Talk } from "./talk";

const folder = process.argv[2] ?? (process.env.OFFCUT_SHARED ? join(process.env.OFFCUT_SHARED, "eval") : null);
const speechFolder = folder ? join(dirname(folder), "media/speech") : null;
const speech = speechFolder && existsSync(speechFolder) ? speechFolder : null;

const recordings = await openAnalyzer();

try {
  if (folder) await reportTalks(`Talks in ${folder}`, await loadTalks(folder, speech));
  await reportTalks("Difficult screenplays of this project", await createOwnTalks("cases"));
  await reportTalks("Other voices, telephones, rooms and two speakers", await createOwnTalks("recordings"));
  if (speech) await reportFluentReadings(await loadFluentReadings(speech));
} finally {
  await recordings.close();
}
process.exit(0);

async function reportTalks(title: string, talks: readonly Talk[]): Promise<void> {
  console.log(`\n${title}`);
  const scores = { with: [] as Score[], without: [] as Score[] };
  for (const talk of talks) {
    const { cut, close } = await recordings.analyze(talk.name, talk.samples);
    for (const [run, script] of [["with", talk.script] as const, ["without", ""] as const]) {
      const plan = await cut(script);
      const score = scoreSegments(talk.events, toSpans(plan), script === "" ? ["remark"] : []);
      scores[run].push(score);
      print(talk.name, script === "" ? "no script" : "script", score);
      if (score.lost.length > 0) printLossRules(plan, score);
    }
    await close();
  }
  console.log(formatRow("all", "script", summarizeScores(scores.with)));
  console.log(formatRow("all", "no script", summarizeScores(scores.without)));
}

function print(name: string, run: string, score: Score): void {
  console.log(formatRow(name, run, summarizeScores([score])));
  if (score.lost.length > 0) console.log(`    lost: ${score.lost.join(" ")}`);
  if (score.leaked.length > 0) console.log(`    leaked: ${score.leaked.join(" ")}`);
}

/** Prints the removed spans with words, and the rule of each, when a talk loses words. */
function printLossRules(plan: Plan, { lost }: Score): void {
  const times = lost.map((word) => Number(word.slice(word.lastIndexOf("@") + 1)));
  for (const { start, end, rule, text } of plan.removed) {
    const [from, to] = [toSeconds(start), toSeconds(end)];
    if (text !== "" && times.some((time) => time >= from - 0.5 && time < to))
      console.log(`    ${from.toFixed(2)}-${to.toFixed(2)} ${rule}: ${text}`);
  }
}

function formatRow(name: string, run: string, summary: Summary): string {
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`;
  const span = ([low, high]: [number, number]) => `[${percent(low)}, ${percent(high)}]`;
  const pool = name === "all";
  return [
    `${name} ${run}`.padEnd(38),
    `kept ${percent(summary.kept)}${pool ? ` ${span(summary.keptInterval)}` : ""}`,
    `leaked ${percent(summary.leaked)}${pool ? ` ${span(summary.leakedInterval)}` : ""}`,
    `dead air ${summary.deadAir.toFixed(2)}`,
    `margin p1/median ${(1000 * summary.marginP1).toFixed(0)}/${(1000 * summary.marginMedian).toFixed(0)} ms`,
    `without a pause ${percent(summary.withoutPause)}`,
    `corrections/min ${summary.correctionsPerMinute.toFixed(2)}`,
  ].join("  ");
}

/** Prints the words of the transcript that a cut of a fluent reading removes. */
async function reportFluentReadings(nulls: readonly FluentReading[]): Promise<void> {
  console.log("\nFluent readings: every word must stay");
  let wordCount = 0;
  const lost = { with: 0, without: 0 };
  for (const reading of nulls) {
    const { analysis, cut, close } = await recordings.analyze(reading.name, reading.samples);
    const words = analysis.transcript?.words ?? [];
    const missing = async (script: string) => {
      const { segments } = await cut(script);
      return words.filter((word) => {
        const middle = (word.start + word.end) / 2;
        return !segments.some((segment) => segment.start <= middle && middle < segment.end);
      });
    };
    const withScript = await missing(reading.script);
    const withoutScript = await missing("");
    await close();
    wordCount += words.length;
    lost.with += withScript.length;
    lost.without += withoutScript.length;
    console.log(
      `${reading.name}: ${words.length} words, lost ${withScript.length} with script, ${withoutScript.length} without`,
    );
    for (const [run, removed] of [["script", withScript] as const, ["no script", withoutScript] as const]) {
      if (removed.length > 0)
        console.log(`    ${run}: ${removed.map((word) => `${word.text}@${toSeconds(word.start)}`).join(" ")}`);
    }
  }
  const thousand = (count: number) => ((1000 * count) / Math.max(1, wordCount)).toFixed(2);
  console.log(`all: lost per 1,000 words ${thousand(lost.with)} with script, ${thousand(lost.without)} without`);
}
