/**
 * The way of a script through a recording: which heard word stands for which script word, in order, such that few script words are
 * lost, little else is kept, and the joins fall into pauses. A shortest path over two long texts; memory grows with one of them only.
 */

import { createYieldCounter, type PlanSteps } from "../context";
import type { Token } from "../tokens";
import {
  type CostRow,
  copyRow,
  createPathStep,
  EXTRA,
  extend,
  KEPT_MASK,
  type LineBias,
  type LineBoundsOf,
  LOST,
  newRow,
  PAIRED,
  type ScriptWord,
  SKIP_BEGINS,
  SKIP_MASK,
  SKIP_WORD,
} from "./path-costs";
import type { ScriptLine } from "./script-lines";

/** `pairs[k]`: the heard word of script word k (counted through all lines), -1 when it is not spoken. `kept[j]`: heard word j stays. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/** What is known before: see `LineBias`, `LineReach`; `again[j]` is 1 when heard word j is said again right after. */
export type PathKnowledge = { repeated: Uint8Array; bias: LineBias; boundsOf?: LineBoundsOf };

/** Finds the path. Only every so many rows are remembered, and those between are made again on the way back. */
export function* findPath(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
  { repeated, bias, boundsOf = () => ({ from: 0, to: tokens.length }) }: PathKnowledge,
): PlanSteps<ScriptPath> {
  const isYieldDue = createYieldCounter();
  const script = scriptWords(lines);
  const step = createPathStep(tokens, repeated, bias, boundsOf);
  const height = Math.max(1, Math.ceil(Math.sqrt(script.length)));
  let [row, spare] = [newRow(tokens.length), newRow(tokens.length)];
  const marks: CostRow[] = [];
  for (const [i, word] of script.entries()) {
    if (isYieldDue(tokens.length)) yield [];
    if (i % height === 0) marks.push(copyRow(row));
    step(word, row, spare, null);
    [row, spare] = [spare, row];
  }
  extend(row, row.from, tokens.length);
  const pairs = new Int32Array(script.length).fill(-1);
  const kept = new Uint8Array(tokens.length);
  const at: Place = { j: tokens.length, keeping: row.kept[tokens.length]! < row.skipping[tokens.length]! };
  for (let block = marks.length - 1; block >= 0; block--) {
    const from = block * height;
    const words = script.slice(from, from + height);
    const steps = words.map(() => new Uint8Array(tokens.length + 1));
    row = marks[block]!;
    spare = newRow(tokens.length);
    for (const [n, word] of words.entries()) {
      if (isYieldDue(tokens.length)) yield [];
      step(word, row, spare, steps[n]!);
      [row, spare] = [spare, row];
    }
    walkBack(steps, from, at, pairs, kept);
  }
  return { pairs, kept };
}

function scriptWords(lines: readonly ScriptLine[]): ScriptWord[] {
  return lines.flatMap(({ words, optional }, line) =>
    words.map((word, k) => ({ word, line, first: k === 0, last: k === words.length - 1, optional })),
  );
}

type Place = { j: number; keeping: boolean };

/** Follows the steps of a block of script words back to its beginning. */
function walkBack(steps: readonly Uint8Array[], from: number, at: Place, pairs: Int32Array, kept: Uint8Array): void {
  for (let n = steps.length - 1; n >= 0; ) {
    const step = steps[n]![at.j]!;
    if (!at.keeping) {
      const how = step & SKIP_MASK;
      if (how === SKIP_WORD) at.j--;
      else if (how === SKIP_BEGINS) at.keeping = true;
      else n--;
      continue;
    }
    const how = step & KEPT_MASK;
    if (how === EXTRA) kept[--at.j] = 1;
    else if (how === LOST) n--;
    else {
      at.j--;
      pairs[from + n] = at.j;
      kept[at.j] = 1;
      at.keeping = how === PAIRED;
      n--;
    }
  }
}
