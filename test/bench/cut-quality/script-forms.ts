/**
 * Measures cuts with scripts as people write them: `bun test/bench/cut-quality/script-forms.ts [FOLDER] [--talks N]`.
 * Each talk is analyzed once, and cut with its script in fifteen forms, exact and with changed words. Then with scripts
 * of other recordings, which must be refused. Talks are the screenplays of `cases/`, and those of FOLDER.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { AppError } from "../../../src/domain/errors";
import type { Plan } from "../../../src/domain/plan";
import { parseScript } from "../../../src/domain/planning/scripted/script-lines";
import { createOwnTalks, loadTalks } from "./material";
import { type AnalyzedRecording, openAnalyzer, toSpans } from "./recording";
import { scoreSegments } from "./score";
import type { Talk } from "./talk";
import { changeWords, OTHER_SCRIPTS, SCRIPT_CHANGES, SCRIPT_FORMS, type ScriptChange } from "./written-scripts";

/** The most words that may be lost, as a share of the good ones. */
const MAX_LOST: Partial<Record<ScriptChange, number>> = { exact: 0.01, "12% wrong": 0.015 };
const MAX_LOST_OF_SENTENCES = 0.005;

/** `unspoken` counts lines that were reported missing and are in no sentence of the script. */
type Tally = { words: number; lost: number; refused: number; unspoken: number };
const createTally = (): Tally => ({ words: 0, lost: 0, refused: 0, unspoken: 0 });

const { positionals, values } = parseArgs({ allowPositionals: true, options: { talks: { type: "string" } } });
const folder = positionals[0] ?? null;
const speech =
  folder && existsSync(join(dirname(folder), "media/speech")) ? join(dirname(folder), "media/speech") : null;
const all = [...(folder ? await loadTalks(folder, speech) : []), ...(await createOwnTalks("cases"))];
const talks = all.slice(0, Number(values.talks ?? all.length));

const tallies = new Map<string, Tally>();
const others = { cut: 0, refused: 0 };
const recordings = await openAnalyzer();
for (const [seed, talk] of talks.entries()) {
  const started = performance.now();
  const recording = await recordings.analyze(talk.name, talk.samples);
  await cutWithForms(talk, recording, seed + 1);
  for (const script of OTHER_SCRIPTS) {
    others.cut++;
    if ((await cutOrRefuse(recording, script)) === null) others.refused++;
    else console.log(`    ${talk.name} accepts the script of another recording: ${script.slice(0, 60)}`);
  }
  await recording.close();
  console.error(`${talk.name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
}
await recordings.close();
report();
process.exit(0);

async function cutWithForms(talk: Talk, recording: AnalyzedRecording, seed: number): Promise<void> {
  const sentences = parseScript(talk.script, "en").flatMap((line) => (line.optional ? [] : [line.text]));
  // Forms that are read as the same lines have the same plan.
  const plans = new Map<string, Plan | null>();
  for (const change of SCRIPT_CHANGES) {
    const changed = changeWords(sentences, change, seed);
    const known = new Set(parseScript(changed.join("\n"), "en").map((line) => line.text));
    for (const [form, write] of Object.entries(SCRIPT_FORMS)) {
      const script = write(changed);
      const key = JSON.stringify(parseScript(script, "en"));
      if (!plans.has(key)) plans.set(key, await cutOrRefuse(recording, script));
      const plan = plans.get(key)!;
      const score = scoreSegments(talk.events, plan ? toSpans(plan) : []);
      const tally = tallies.get(`${form}/${change}`) ?? createTally();
      tallies.set(`${form}/${change}`, tally);
      tally.words += score.keptWords;
      tally.lost += score.lost.length;
      if (plan === null) tally.refused++;
      const unspoken = plan?.missing.filter((line) => !known.has(line)) ?? [];
      tally.unspoken += unspoken.length;
      if (unspoken.length > 0) console.log(`    ${talk.name}, ${form}, ${change}: ${unspoken.join(" / ")}`);
    }
  }
  for (const change of SCRIPT_CHANGES) {
    const plan = plans.get(JSON.stringify(parseScript(changeWords(sentences, change, seed).join("\n"), "en")));
    const lost = plan ? scoreSegments(talk.events, toSpans(plan)).lost : ["all"];
    if (lost.length > 0) console.log(`    ${talk.name}, ${change}, lost: ${lost.join(" ")}`);
  }
}

/** Returns the plan; null when the script is refused. */
async function cutOrRefuse(recording: AnalyzedRecording, script: string): Promise<Plan | null> {
  try {
    return await recording.cut(script);
  } catch (error) {
    if (error instanceof AppError && error.code === "script_mismatch") return null;
    throw error;
  }
}

function report(): void {
  const forms = Object.keys(SCRIPT_FORMS);
  const percent = ({ lost, words }: Tally) => `${((100 * lost) / Math.max(1, words)).toFixed(2)}%`;
  const sum = (tallied: Tally[]) =>
    tallied.reduce(
      (a, b) => ({
        words: a.words + b.words,
        lost: a.lost + b.lost,
        refused: a.refused + b.refused,
        unspoken: a.unspoken + b.unspoken,
      }),
      createTally(),
    );
  const rowOf = (name: string, of: (change: ScriptChange) => Tally) =>
    `| ${name} | ${SCRIPT_CHANGES.map((change) => percent(of(change))).join(" | ")} |`;
  const get = (form: string, change: ScriptChange) => tallies.get(`${form}/${change}`) ?? createTally();
  console.log(`\nGood words lost, ${talks.length} talks\n\n| form | ${SCRIPT_CHANGES.join(" | ")} |`);
  console.log(`|---|${"---|".repeat(SCRIPT_CHANGES.length)}`);
  for (const form of forms) console.log(rowOf(form, (change) => get(form, change)));
  const ofAll = (change: ScriptChange) => sum(forms.map((form) => get(form, change)));
  console.log(rowOf("all", ofAll));
  const total = sum([...tallies.values()]);
  console.log(
    `\nCorrect scripts refused: ${total.refused}. Missing lines that are not spoken text: ${total.unspoken}.`,
  );
  console.log(`Scripts of other recordings refused: ${others.refused} of ${others.cut}.`);
  const isWithin = (tally: Tally, limit: number) => tally.lost <= limit * tally.words;
  const failures = [
    ...(isWithin(get("sentences", "exact"), MAX_LOST_OF_SENTENCES) ? [] : ["sentences, exact"]),
    ...SCRIPT_CHANGES.flatMap((change) => {
      const limit = MAX_LOST[change];
      return limit === undefined
        ? []
        : forms.filter((form) => !isWithin(get(form, change), limit)).map((form) => `${form}, ${change}`);
    }),
  ];
  console.log(failures.length === 0 ? "All limits are met." : `Above the limit: ${failures.join("; ")}`);
}
