/**
 * Plans every recording of a corpus with each of its scripts, and counts the corrections that an editor would have to
 * make.
 */
import { AppError } from "../../../src/domain/errors";
import type { Plan, RemovedSpan } from "../../../src/domain/plan";
import type { StagedPlan } from "../../../src/domain/planning/context";
import { toSeconds } from "../../../src/domain/time";
import type { CorpusScript, ReplayedRecording } from "./corpus";
import { toSpans } from "./recording";
import { type Score, scoreSegments } from "./score";

/** The measures, all to be low. Measures of talks count words; those of real recordings count places. */
export const MEASURES = {
  "with script: lost": "good words of talks that a cut with the exact script loses",
  "with script: leaked": "unwanted words that it keeps",
  "with script: corrections": "corrections that it needs",
  "no script: lost": "good words of talks that a cut without a script loses",
  "no script: leaked": "unwanted words that it keeps",
  "no script: corrections": "corrections that it needs",
  "changed script: lost": "good words lost with changed words in the script",
  "changed script: leaked": "unwanted words kept with changed words in the script",
  "script refused": "correct scripts that are refused",
  "other script accepted": "scripts of other recordings that are not refused",
  "fluent: lost": "recognized words of fluent readings that are removed, with their script and without one",
  "real: good speech cut": "places of good speech in real recordings that are removed",
  "real: disfluency kept": "fillers and retakes of real people that stay",
  "foreign: seconds cut": "seconds of speech in other languages that are removed",
  "foreign: not warned": "recordings in other languages without a warning",
} as const;
export type Measure = keyof typeof MEASURES;
/** Counts by measure, and the places behind them as `RECORDING SCRIPT: WORD`. */
export type Measured = { counts: Record<Measure, number>; places: Record<Measure, string[]>; totals: Totals };
export type Totals = {
  words: number;
  unwanted: number;
  minutes: Record<"exact" | "none", number>;
  fluentWords: number;
};

export type PlannedRecording = { recording: ReplayedRecording; script: CorpusScript; plan: StagedPlan | null };

/** Plans the recordings. `includes` selects the runs. The plan is null when the script is refused. */
export async function planAll(
  recordings: readonly ReplayedRecording[],
  includes: (script: CorpusScript) => boolean = () => true,
): Promise<PlannedRecording[]> {
  const out: PlannedRecording[] = [];
  for (const recording of recordings)
    for (const script of recording.scripts.filter(includes))
      out.push({ recording, script, plan: await cutOrRefuse(recording, script.text) });
  return out;
}

/** Returns the plan; null when the script is refused or no speech is found. */
async function cutOrRefuse(recording: ReplayedRecording, script: string): Promise<StagedPlan | null> {
  try {
    return await recording.cut(script);
  } catch (error) {
    if (error instanceof AppError && (error.code === "script_mismatch" || error.code === "no_speech")) return null;
    throw error;
  }
}

export function measure(planned: readonly PlannedRecording[]): Measured {
  const names = Object.keys(MEASURES) as Measure[];
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Measured["counts"];
  const places = Object.fromEntries(names.map((name) => [name, [] as string[]])) as Measured["places"];
  const totals: Totals = { words: 0, unwanted: 0, minutes: { exact: 0, none: 0 }, fluentWords: 0 };
  for (const one of planned) {
    const add = (name: Measure, found: readonly string[], count = found.length) => {
      counts[name] += count;
      places[name].push(...found.map((place) => `${one.recording.name} ${one.script.name}: ${place}`));
    };
    if (one.script.isOther) {
      if (one.plan) add("other script accepted", ["accepted"]);
    } else if (one.recording.events) measureTalk(one, add, totals);
    else if (one.plan) measureRecording({ ...one, plan: one.plan }, add, totals);
    else if (one.script.text !== "") add("script refused", ["refused"]);
  }
  return { counts, places, totals };
}

/** Counts of all plans with a kind of script. The words of refused scripts do not count. */
export type ScriptTally = {
  plans: number;
  refused: number;
  words: number;
  lost: number;
  unwanted: number;
  leaked: number;
};

/** Returns the counts of talks by kind of script: its name without the number of the draw. */
export function tallyScripts(planned: readonly PlannedRecording[]): Map<string, ScriptTally> {
  const out = new Map<string, ScriptTally>();
  for (const { recording, script, plan } of planned) {
    if (!recording.events || script.isOther) continue;
    const kind = script.name.replace(/ \d+$/, "");
    const known = out.get(kind) ?? { plans: 0, refused: 0, words: 0, lost: 0, unwanted: 0, leaked: 0 };
    out.set(kind, known);
    known.plans++;
    if (!plan) {
      known.refused++;
      continue;
    }
    const score = scoreSegments(recording.events, toSpans(plan), neutralOf(script));
    known.words += score.keptWords;
    known.lost += score.lost.length;
    known.unwanted += score.droppedWords;
    known.leaked += score.leaked.length;
  }
  return out;
}

const neutralOf = ({ name }: CorpusScript) => (name === "none" ? (["remark"] as const) : []);

type Add = (name: Measure, found: readonly string[], count?: number) => void;

function measureTalk({ recording, script, plan }: PlannedRecording, add: Add, totals: Totals): void {
  if (!plan) add("script refused", ["refused"]);
  const score: Score = scoreSegments(recording.events!, plan ? toSpans(plan) : [], neutralOf(script));
  if (script.name !== "exact" && script.name !== "none") {
    if (plan) add("changed script: lost", score.lost);
    add("changed script: leaked", score.leaked);
    return;
  }
  const run = script.name === "exact" ? "with script" : "no script";
  add(`${run}: lost`, score.lost);
  add(`${run}: leaked`, score.leaked);
  add(`${run}: corrections`, [], score.corrections);
  totals.minutes[script.name] += score.finishedMinutes;
  if (script.name !== "none") return;
  totals.words += score.keptWords;
  totals.unwanted += score.droppedWords;
}

function measureRecording(
  { recording, plan, script }: PlannedRecording & { plan: Plan },
  add: Add,
  totals: Totals,
): void {
  const removed = plan.removed.filter((span) => span.reason !== "silence");
  if (recording.isFluent) {
    const words = recording.analysis.transcript?.words ?? [];
    totals.fluentWords += words.length;
    const isKept = (middle: number) => plan.segments.some(({ start, end }) => start <= middle && middle < end);
    const lost = words.filter(({ start, end }) => !isKept((start + end) / 2));
    add(
      "fluent: lost",
      lost.map((word) => `${word.text}@${toSeconds(word.start).toFixed(2)}`),
    );
  }
  const { judgement } = recording;
  if (!judgement || script.text !== "") return;
  const isRemoved = (start: number, end: number, spans: readonly RemovedSpan[]) =>
    spans.reduce(
      (sum, span) => sum + Math.max(0, Math.min(end, toSeconds(span.end)) - Math.max(start, toSeconds(span.start))),
      0,
    ) >
    0.5 * (end - start);
  const toPlace = ([start, , ...what]: readonly (number | string)[]) => `${what.join(" ")}@${start}`;
  add(
    "real: good speech cut",
    (judgement.keep ?? []).filter(([start, end]) => isRemoved(start, end, removed)).map(toPlace),
  );
  add(
    "real: disfluency kept",
    (judgement.go ?? []).filter(([start, end]) => !isRemoved(start, end, plan.removed)).map(toPlace),
  );
  if (judgement.kind !== "foreign" && judgement.kind !== "mixed") return;
  const cut = removed.filter((span) => span.reason !== "noise");
  const seconds = cut.reduce((sum, span) => sum + toSeconds(span.end - span.start), 0);
  add(
    "foreign: seconds cut",
    cut.map((span) => `${span.text}@${toSeconds(span.start).toFixed(2)}`),
    seconds,
  );
  if (judgement.kind === "foreign" && plan.warnings.length === 0) add("foreign: not warned", ["no warning"]);
}
