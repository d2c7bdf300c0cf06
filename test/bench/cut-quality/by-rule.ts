/**
 * Counts the correct and wrong removals of each rule: `bun test/bench/cut-quality/by-rule.ts [SHARED] [--scripts
 * PATTERN]`. Prints a table of words, with the exact script and without one, over all recordings of the snapshot
 * (`corpus.ts`): words of talks that should go, good words of talks, words of fluent readings, and judged places of
 * real recordings. Missed removals are listed by the mark that an editor sees there.
 */
import { parseArgs } from "node:util";
import type { Plan } from "../../../src/domain/plan";
import { isReviewRule } from "../../../src/domain/planning/rules";
import { fromSeconds, toSeconds } from "../../../src/domain/time";
import { createSnapshot, findSharedFolder, openCorpus } from "./corpus";
import { type PlannedRecording, planAll } from "./measure";
import { toSpans } from "./recording";
import { type Span, scoreSegments } from "./score";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { scripts: { type: "string", default: "^(none|exact|reference)$" } },
});
const COLUMNS = ["removed", "lost", "leaked", "fluent lost", "real: removed", "real: lost", "real: leaked"] as const;
type Column = (typeof COLUMNS)[number];
type Table = Map<string, Record<Column, number>>;
const tables: Record<"script" | "none", Table> = { script: new Map(), none: new Map() };

await createSnapshot(findSharedFolder(positionals[0]));
const corpus = await openCorpus();
const planned = await planAll(
  corpus.recordings,
  ({ name, isOther }) => !isOther && new RegExp(values.scripts).test(name),
);
for (const one of planned) if (one.plan) countRecording({ ...one, plan: one.plan });
for (const [name, table] of Object.entries(tables)) {
  console.log(`\n| ${name === "none" ? "no script" : "with the script"} | ${COLUMNS.join(" | ")} |`);
  console.log(`|---|${COLUMNS.map(() => "---|").join("")}`);
  for (const [rule, row] of [...table].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`| \`${rule}\` | ${COLUMNS.map((column) => row[column]).join(" | ")} |`);
}
process.exit(0);

function countRecording({ recording, script, plan }: PlannedRecording & { plan: Plan }): void {
  const table = tables[script.text === "" ? "none" : "script"];
  const count = (column: Column, rule: string) => {
    const row = table.get(rule) ?? (Object.fromEntries(COLUMNS.map((name) => [name, 0])) as Record<Column, number>);
    row[column]++;
    table.set(rule, row);
  };
  if (recording.events) {
    const neutral = script.text === "" ? (["remark"] as const) : [];
    const { lostWords, leakedWords, removedWords } = scoreSegments(recording.events, toSpans(plan), neutral);
    for (const word of removedWords) count("removed", findRemoval(plan, word));
    for (const word of lostWords) count("lost", findRemoval(plan, word));
    for (const word of leakedWords) count("leaked", findMark(plan, word));
    return;
  }
  if (recording.isFluent)
    for (const word of recording.analysis.transcript?.words ?? []) {
      const middle = (word.start + word.end) / 2;
      if (plan.segments.some(({ start, end }) => start <= middle && middle < end)) continue;
      count("fluent lost", findRemoval(plan, { start: toSeconds(word.start), end: toSeconds(word.end) }));
    }
  if (script.text !== "") return;
  for (const [start, end] of recording.judgement?.keep ?? [])
    if (isRemoved(plan, { start, end }, false)) count("real: lost", findRemoval(plan, { start, end }));
  for (const [start, end] of recording.judgement?.go ?? []) {
    const span = { start, end };
    if (isRemoved(plan, span, true)) count("real: removed", findRemoval(plan, span));
    else count("real: leaked", findMark(plan, span));
  }
}

function overlapSeconds(a: { start: number; end: number }, { start, end }: Span): number {
  return Math.max(0, Math.min(toSeconds(a.end), end) - Math.max(toSeconds(a.start), start));
}

/** Returns whether more than half of a span is removed. */
function isRemoved({ removed }: Plan, span: Span, withSilence: boolean): boolean {
  const spans = removed.filter(({ reason }) => withSilence || reason !== "silence");
  return spans.reduce((sum, one) => sum + overlapSeconds(one, span), 0) > 0.5 * (span.end - span.start);
}

/** Returns the rule that removes most of a span. */
function findRemoval({ removed }: Plan, span: Span): string {
  const [most] = [...removed].sort((a, b) => overlapSeconds(b, span) - overlapSeconds(a, span));
  return most && overlapSeconds(most, span) > 0 ? (most.rule ?? "?") : "edge of a segment";
}

/** Returns the rule that marks a span which stays. */
function findMark({ findings }: Plan, span: Span): string {
  const marks = (findings ?? []).filter(({ rule }) => isReviewRule(rule));
  const own = marks.find((mark) => mark.start < fromSeconds(span.end) && mark.end > fromSeconds(span.start));
  return own?.rule ?? "not marked";
}
