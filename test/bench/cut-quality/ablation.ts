/**
 * Measures the value of the rules, stages and thresholds of planning: `bun test/bench/cut-quality/ablation.ts [SHARED]
 * [--only PATTERN|rules] [--part N/M] [--json FILE] [--full] [--moved] [--queries N]`. Switches each of them off, and
 * moves each threshold by 20% down and up, over all recordings of the snapshot (`corpus.ts`). `--moved` only moves
 * thresholds. `--queries` limits what the recognizer answers anew for each variation. Prints the changes in the number
 * of corrections that an editor would have to make. Variations that are not printed change no plan.
 */

import { parseArgs } from "node:util";
import type { StagedPlan } from "../../../src/domain/planning/context";
import { REMOVAL_RULES } from "../../../src/domain/planning/rules";
import { SCRIPTED_STAGES } from "../../../src/domain/planning/scripted/plan-scripted";
import { STAGE_THRESHOLDS } from "../../../src/domain/planning/thresholds";
import { UNSCRIPTED_STAGES } from "../../../src/domain/planning/unscripted/plan-unscripted";
import { createSnapshot, findSharedFolder, NotInSnapshotError, openCorpus } from "./corpus";
import { MEASURES, type Measure, measure, type PlannedRecording, planAll } from "./measure";

/**
 * `changed` counts plans, `omitted` counts runs with too many queries, `delta` counts additional errors compared to no
 * variation, `worse` and `better` name recordings.
 */
type Row = {
  name: string;
  variation: string;
  changed: number;
  omitted: number;
  delta: Partial<Record<Measure, number>>;
  worse: string[];
  better: string[];
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    part: { type: "string" },
    json: { type: "string" },
    full: { type: "boolean" },
    moved: { type: "boolean" },
    queries: { type: "string", default: "60" },
  },
});
/** The scripts of each recording, unless `--full` asks for all. */
const SCRIPTS = ["none", "exact", "reference", "12% mixed 1", "25% mixed 2"];
/** The stages without which a plan is possible. */
const REQUIRED = ["understood speech", "noise", "matches", "path", "exact takes", "disfluencies", "words"];
const OPTIONAL_STAGES = [...UNSCRIPTED_STAGES, ...SCRIPTED_STAGES].filter(({ name }) => !REQUIRED.includes(name));
/** New queries that the recognizer answers for each variation. Runs that ask for more are left out. */
const MAX_QUERIES = Number(values.queries);

await createSnapshot(findSharedFolder(positionals[0]));
const corpus = await openCorpus();
const [part, parts] = (values.part ?? "1/1").split("/").map(Number) as [number, number];
const runs = corpus.recordings.flatMap((recording) =>
  recording.scripts
    .filter((script) => values.full || SCRIPTS.includes(script.name))
    .map((script) => ({ recording, script })),
);
const rows: Row[] = [];
let current = "";
const readers = watchThresholds();
const base = await planRuns(runs);
const baseTexts = new Map(base.map((one) => [keyOf(one), JSON.stringify(one.plan?.segments)]));
const baseCounts = new Map(base.map((one) => [keyOf(one), measure([one]).counts]));

for (const rule of (values.only ?? "rules") === "rules" && part === 1 ? REMOVAL_RULES : [])
  report(
    `rule ${rule}`,
    "off",
    base.map((one) => ({ ...one, plan: one.plan && keepRemovedBy(one.plan, rule) })),
    0,
  );
for (const stage of (values.only ?? "rules") === "rules" && part === 1 ? OPTIONAL_STAGES : []) {
  const { run } = stage;
  Object.assign(stage, { run: (state: unknown) => state });
  corpus.limitQueries(MAX_QUERIES);
  const planned = await planRuns(runs);
  Object.assign(stage, { run });
  report(`stage ${stage.name}`, "off", planned, runs.length - planned.length);
}
const variations = STAGE_THRESHOLDS.flatMap(({ stage, thresholds, values: own }) =>
  Object.keys(thresholds).map((key) => ({ name: `${stage}.${key}`, key, own: own as Record<string, number> })),
).filter(({ name }) => values.only === undefined || new RegExp(values.only).test(name));
const own = variations.filter((_, n) => n % parts === part - 1);
// A rule that changes nothing when it is off does not depend on its value.
const dependent = values.moved ? own : await vary(own, listOff);
await vary(dependent, listMoved);
process.exit(0);

type Variation = { name: string; key: string; own: Record<string, number> };

/** Plans with other values of thresholds. Returns the thresholds of which one changed a plan, or might have. */
async function vary(all: readonly Variation[], listValues: typeof listOff): Promise<Variation[]> {
  const changing: Variation[] = [];
  for (const one of all) {
    const { name, key, own } = one;
    const affected = runs.filter((run) => readers.get(name)?.has(keyOf(run)));
    const usual = own[key]!;
    for (const [variation, value] of listValues(key, usual)) {
      own[key] = value;
      corpus.limitQueries(MAX_QUERIES);
      const planned = await planRuns(affected);
      own[key] = usual;
      report(name, variation, planned, affected.length - planned.length);
      if (rows.at(-1)!.changed > 0 || planned.length < affected.length) changing.push(one);
    }
    if (values.json) await Bun.write(values.json, JSON.stringify(rows, null, 1));
  }
  return [...new Set(changing)];
}

/** Returns which runs read each threshold, once they have run. */
function watchThresholds(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { stage, thresholds, values: own } of STAGE_THRESHOLDS) {
    for (const key of Object.keys(thresholds)) {
      let value = own[key]!;
      const known = new Set<string>();
      found.set(`${stage}.${key}`, known);
      const get = () => {
        known.add(current);
        return value;
      };
      const set = (next: number) => {
        value = next;
      };
      Object.defineProperty(own, key, { get, set });
    }
  }
  return found;
}

/** Plans the runs, without those that ask too much or fail. */
async function planRuns(all: readonly Run[]): Promise<PlannedRecording[]> {
  const out: PlannedRecording[] = [];
  for (const run of all) {
    current = keyOf(run);
    try {
      out.push(...(await planAll([run.recording], (script) => script === run.script)));
    } catch (error) {
      if (!(error instanceof NotInSnapshotError)) console.error(`    ${current}: ${error}`);
    }
  }
  return out;
}

type Run = Pick<PlannedRecording, "recording" | "script">;

function keyOf({ recording, script }: Run): string {
  return `${recording.name} ${script.name}`;
}

/** Returns the value that switches a threshold off. */
function listOff(key: string, _value: number): [string, number][] {
  const isLimit = key.startsWith("min") || key.startsWith("max");
  const limit = key.startsWith("min") ? Number.NEGATIVE_INFINITY : Number.MAX_SAFE_INTEGER;
  return [["off", isLimit ? limit : 0]];
}

/** Returns a lower and a higher value. Counts change by at least one. */
function listMoved(_key: string, value: number): [string, number][] {
  const isCount = Number.isInteger(value) && Math.abs(value) < 1000;
  const step = isCount ? Math.max(1, Math.round(0.2 * Math.abs(value))) : 0.2 * Math.abs(value);
  return [
    ["-20%", value - step],
    ["+20%", value + step],
  ];
}

/** Returns a plan that keeps the spans that a rule removes. */
function keepRemovedBy(plan: StagedPlan, rule: string): StagedPlan {
  const kept = plan.removed.filter((span) => span.rule === rule);
  if (kept.length === 0) return plan;
  const extra = kept.map(({ start, end, text }) => ({ ...plan.segments[0]!, start, end, text }));
  return {
    ...plan,
    segments: [...plan.segments, ...extra].sort((a, b) => a.start - b.start),
    removed: plan.removed.filter((span) => span.rule !== rule),
  };
}

function report(name: string, variation: string, planned: readonly PlannedRecording[], omitted: number): void {
  const changed = planned.filter((one) => JSON.stringify(one.plan?.segments) !== baseTexts.get(keyOf(one)));
  if (changed.length === 0) {
    rows.push({ name, variation, changed: 0, omitted, delta: {}, worse: [], better: [] });
    return;
  }
  const delta: Row["delta"] = {};
  const worse = new Set<string>();
  const better = new Set<string>();
  for (const one of changed) {
    const key = keyOf(one);
    const { counts } = measure([one]);
    const before = baseCounts.get(key)!;
    for (const measured of Object.keys(MEASURES) as Measure[]) {
      const more = counts[measured] - before[measured];
      if (Math.abs(more) < 1e-6) continue;
      delta[measured] = (delta[measured] ?? 0) + more;
      (more > 0 ? worse : better).add(key);
    }
  }
  rows.push({ name, variation, changed: changed.length, omitted, delta, worse: [...worse], better: [...better] });
  const sum = Object.entries(delta).map(
    ([measured, more]) => `${measured} ${more > 0 ? "+" : ""}${Math.round(10 * more) / 10}`,
  );
  console.log(
    `${name} ${variation}: ${changed.length} plans${omitted > 0 ? `, ${omitted} left out` : ""}; ${sum.join(", ")}`,
  );
}
