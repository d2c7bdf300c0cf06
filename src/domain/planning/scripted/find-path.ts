/**
 * Stage 7: finds the script's path through the recording: which token matches which word of the script, in order, such
 * that few words of the script are lost, little else is kept, and joins are at pauses. This is a shortest path over two
 * long texts; memory grows with only one of them.
 */
import { createYieldCounter, type PlanSteps } from "../context";
import type { Token } from "../tokens";
import {
  type CostRow,
  copyRow,
  createPathStep,
  createRow,
  EXTRA,
  extendRow,
  KEPT_MASK,
  type LineBias,
  type LineBoundsOf,
  LOST,
  PAIRED,
  type ScriptWord,
  SKIP_MASK,
  SKIP_START,
  SKIP_WORD,
} from "./path-costs";
import type { ScriptLine } from "./script-lines";

/** `pairs[k]`: the token of script word k (counted through all lines), or -1. `kept[j]`: whether token j is kept. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/** The input of the search besides the words. `repeated[j]` is 1 if token j is repeated immediately. */
export type PathKnowledge = { repeated: Uint8Array; bias: LineBias; boundsOf?: LineBoundsOf };

/** Finds the path. Only every n-th row is stored; the rows in between are recomputed on the way back. */
export function* findPath(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
  { repeated, bias, boundsOf = () => ({ from: 0, to: tokens.length }) }: PathKnowledge,
): PlanSteps<ScriptPath> {
  const isYieldDue = createYieldCounter();
  const script = listScriptWords(lines);
  const step = createPathStep(tokens, repeated, bias, boundsOf);
  const height = Math.max(1, Math.ceil(Math.sqrt(script.length)));
  let [row, spare] = [createRow(tokens.length), createRow(tokens.length)];
  const checkpoints: CostRow[] = [];
  for (const [i, word] of script.entries()) {
    if (isYieldDue(tokens.length)) yield null;
    if (i % height === 0) checkpoints.push(copyRow(row));
    step(word, row, spare, null);
    [row, spare] = [spare, row];
  }
  extendRow(row, row.from, tokens.length);
  const pairs = new Int32Array(script.length).fill(-1);
  const kept = new Uint8Array(tokens.length);
  const at: PathPosition = { j: tokens.length, keeping: row.kept[tokens.length]! < row.skipping[tokens.length]! };
  for (let block = checkpoints.length - 1; block >= 0; block--) {
    const from = block * height;
    const words = script.slice(from, from + height);
    const steps = words.map(() => new Uint8Array(tokens.length + 1));
    row = checkpoints[block]!;
    spare = createRow(tokens.length);
    for (const [n, word] of words.entries()) {
      if (isYieldDue(tokens.length)) yield null;
      step(word, row, spare, steps[n]!);
      [row, spare] = [spare, row];
    }
    walkBack(steps, from, at, pairs, kept);
  }
  return { pairs, kept };
}

function listScriptWords(lines: readonly ScriptLine[]): ScriptWord[] {
  return lines.flatMap(({ words, optional }, line) =>
    words.map((word, k) => ({ word, line, first: k === 0, last: k === words.length - 1, optional })),
  );
}

type PathPosition = { j: number; keeping: boolean };

/** Follows the steps of a block of script words back to its start. */
function walkBack(
  steps: readonly Uint8Array[],
  from: number,
  at: PathPosition,
  pairs: Int32Array,
  kept: Uint8Array,
): void {
  for (let n = steps.length - 1; n >= 0; ) {
    const step = steps[n]![at.j]!;
    if (!at.keeping) {
      const reached = step & SKIP_MASK;
      if (reached === SKIP_WORD) at.j--;
      else if (reached === SKIP_START) at.keeping = true;
      else n--;
      continue;
    }
    const reached = step & KEPT_MASK;
    if (reached === EXTRA) kept[--at.j] = 1;
    else if (reached === LOST) n--;
    else {
      at.j--;
      pairs[from + n] = at.j;
      kept[at.j] = 1;
      at.keeping = reached === PAIRED;
      n--;
    }
  }
}
