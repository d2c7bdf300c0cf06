/**
 * Assembles all plans of the snapshot again: `bun test/bench/cut-quality/pacing.ts`. Prints the number of plans that
 * are equal, the size of the stored data, the number of wrong removals in talks by confidence, and the time for an hour
 * of recordings in a row.
 */
import { listEdits } from "../../../src/domain/pacing/edits";
import { judgePlan } from "../../../src/domain/pacing/judge-plan";
import { repace, toPacingOptions } from "../../../src/domain/pacing/repace";
import { CUT_MODES } from "../../../src/domain/plan";
import { type PlanJson, planToJson } from "../../../src/domain/plan-json";
import type { DecidedSpan } from "../../../src/domain/planning/spans";
import type { Word } from "../../../src/domain/speech";
import { type Span, toSeconds } from "../../../src/domain/time";
import { packBasis } from "../../../src/work/cuts/stored-basis";
import { openCorpus } from "./corpus";
import { planAll } from "./measure";

const RUNS = 31;
const HOUR = 3_600_000_000;
const natural = toPacingOptions(CUT_MODES.natural);

const corpus = await openCorpus();
const all = await planAll(corpus.recordings, ({ isOther }) => !isOther);
const planned = all.flatMap(({ plan, ...one }) => (plan ? [{ ...one, plan, json: planToJson(plan) }] : []));

const equal = planned.filter(({ plan, json }) => Bun.deepEquals(repace(json, [], plan.basis, natural).plan, json));
console.log(`${equal.length} of ${planned.length} plans are equal`);
const sizes = planned.map(({ plan, json }) => ({
  plan: JSON.stringify(json).length,
  basis: Buffer.from(packBasis({ ...plan.basis, texts: [] }, json), "base64").length,
}));
for (const [from, to] of [
  [0, 1000],
  [1000, 3000],
  [3000, 6000],
  [6000, 12_000],
  [12_000, Number.POSITIVE_INFINITY],
  [0, Number.POSITIVE_INFINITY],
] as const) {
  const some = sizes.filter(({ plan }) => plan >= from && plan < to);
  const [planBytes, basisBytes] = [
    some.reduce((sum, one) => sum + one.plan, 0),
    some.reduce((sum, one) => sum + one.basis, 0),
  ];
  const share = ((100 * basisBytes) / planBytes).toFixed(2);
  console.log(`${some.length} plans of ${from} to ${to} bytes: ${share}% are stored beside them`);
}

const byConfidence = new Map<number, { removed: number; wrong: number }>();
for (const { recording, plan, json } of planned) {
  if (!recording.events) continue;
  const good = recording.events.filter(({ keep }) => keep).flatMap(({ words }) => words);
  for (const { start, end, reason, confidence } of judgePlan(json, plan.basis.spans).removed) {
    if (reason === "silence" || reason === "noise" || confidence === null) continue;
    const isWrong = good.some(
      (word) => Math.min(word.end, end) - Math.max(word.start, start) > 0.5 * (word.end - word.start),
    );
    const key = Math.floor(confidence * 10) / 10;
    const { removed, wrong } = byConfidence.get(key) ?? { removed: 0, wrong: 0 };
    byConfidence.set(key, { removed: removed + 1, wrong: wrong + Number(isWrong) });
  }
}
for (const [confidence, { removed, wrong }] of [...byConfidence].toSorted(([a], [b]) => a - b))
  console.log(`confidence from ${confidence}: ${wrong} of ${removed} removals took good words`);

const spans: DecidedSpan[] = [];
const words: Word[] = [];
let duration = 0;
const later = <T extends Span>(one: T): T => ({ ...one, start: one.start + duration, end: one.end + duration });
const unscripted = planned.filter(({ script }) => script.text === "");
for (let i = 0; duration < HOUR; i++) {
  const { plan, recording } = unscripted[i % unscripted.length]!;
  spans.push(...plan.basis.spans.map((span) => ({ ...later(span), findings: span.findings.map(later) })));
  words.push(...(recording.analysis.transcript?.words ?? []).map(later));
  duration += plan.sourceDuration;
}
const basis = { spans, wordPauses: [], edgeMargin: 0, frames: null };
const empty: PlanJson = { ...planned[0]!.json, source_duration: toSeconds(duration), takes: [] };
const base = repace(empty, words, basis, natural).plan;
const kept = base.segments.filter((_, i) => i % 20 > 0);
for (const edits of [undefined, listEdits(base, kept, [])]) {
  const times = Array.from({ length: RUNS }, (_, i) => {
    const started = performance.now();
    repace(base, words, basis, toPacingOptions(i % 2 ? CUT_MODES.tight : CUT_MODES.loose), edits);
    return performance.now() - started;
  }).toSorted((a, b) => a - b);
  const [median, slowest] = [times[RUNS >> 1]!, times.at(-1)!];
  const label = `${words.length} words, ${spans.length} spans, ${edits?.removed.length ?? 0} edits`;
  console.log(`${label}: median ${median.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms`);
}
process.exit(0);
