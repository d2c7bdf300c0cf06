/**
 * Plans all recordings again on the same audio: `bun test/bench/cut-quality/replay.ts [SHARED] [--save FILE] [--compare
 * FILE] [--places] [--scripts PATTERN] [--more DRAWS [--first DRAW]]`. The first run creates the snapshot
 * (`corpus.ts`); later ones take seconds, unless a planner makes new queries. `--save` stores each plan, `--compare`
 * fails when a plan differs from a stored one in one byte. `--more` plans other scripts instead: draws of changed words
 * from draw `--first` on, and scripts with lines that are not recorded.
 */
import { parseArgs } from "node:util";
import { createSnapshot, findSharedFolder, openCorpus, withMoreScripts } from "./corpus";
import { MEASURES, type Measure, measure, planAll, tallyScripts } from "./measure";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    save: { type: "string" },
    compare: { type: "string" },
    places: { type: "boolean" },
    scripts: { type: "string", default: "" },
    more: { type: "string" },
    first: { type: "string" },
  },
});
await createSnapshot(findSharedFolder(positionals[0]));
const corpus = await openCorpus();
const started = performance.now();
const first = values.first === undefined ? undefined : Number(values.first);
const recordings = values.more ? withMoreScripts(corpus.recordings, Number(values.more), first) : corpus.recordings;
const planned = await planAll(recordings, ({ name }) => new RegExp(values.scripts).test(name));
const seconds = (performance.now() - started) / 1000;
const missed = corpus.recordings.reduce((sum, recording) => sum + recording.missed(), 0);
console.log(`${planned.length} plans in ${seconds.toFixed(1)} s; ${missed} queries were not in the snapshot`);

const { counts, places, totals } = measure(planned);
for (const name of Object.keys(MEASURES) as Measure[]) {
  console.log(`${name.padEnd(28)} ${String(Math.round(100 * counts[name]) / 100).padStart(6)}   ${MEASURES[name]}`);
  if (values.places) for (const place of places[name]) console.log(`    ${place}`);
}
console.log(JSON.stringify(totals));
for (const [kind, { plans, refused, words, lost, unwanted, leaked }] of tallyScripts(planned))
  console.log(
    `${kind.padEnd(32)} lost ${lost} of ${words}, leaked ${leaked} of ${unwanted}, refused ${refused} of ${plans}`,
  );

const plans = Object.fromEntries(
  planned.map(({ recording, script, plan }) => [`${recording.name} ${script.name}`, JSON.stringify(plan)]),
);
if (values.save) await Bun.write(values.save, JSON.stringify(plans));
if (values.compare) {
  const before = (await Bun.file(values.compare).json()) as Record<string, string>;
  const different = Object.keys({ ...before, ...plans }).filter((name) => before[name] !== plans[name]);
  console.log(different.length === 0 ? "All plans are byte-identical." : `Different: ${different.join(", ")}`);
  process.exit(different.length === 0 ? 0 : 1);
}
process.exit(0);
