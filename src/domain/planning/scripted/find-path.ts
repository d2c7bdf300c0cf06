/**
 * The way of a script through a recording: which heard word stands for which script word, in order, such that few script words are
 * lost, little else is kept, and the joins fall into pauses. A shortest path over two long texts; memory grows with one of them only.
 */

import { createPace, type PlanSteps } from "../context";
import type { HeardWord } from "../tokens";
import {
  copyRow,
  EXTRA,
  extend,
  KEPT_MASK,
  type LineBias,
  type LineReach,
  LOST,
  newRow,
  PAIRED,
  type Row,
  type ScriptWord,
  SKIP_BEGINS,
  SKIP_MASK,
  SKIP_WORD,
  stepper,
} from "./path-costs";
import type { ScriptLine } from "./script-lines";

/** `pairs[k]`: the heard word of script word k (counted through all lines), -1 when it is not spoken. `kept[j]`: heard word j stays. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/** What is known before: see `LineBias`, `LineReach`; `again[j]` is 1 when heard word j is said again right after. */
export type PathKnowledge = { again: Uint8Array; bias: LineBias; reach?: LineReach };

/** Finds the path. Only every so many rows are remembered, and those between are made again on the way back. */
export function* findPath(
  lines: readonly ScriptLine[],
  heard: readonly HeardWord[],
  { again, bias, reach = () => ({ from: 0, to: heard.length }) }: PathKnowledge,
): PlanSteps<ScriptPath> {
  const pace = createPace();
  const script = scriptWords(lines);
  const step = stepper(heard, again, bias, reach);
  const height = Math.max(1, Math.ceil(Math.sqrt(script.length)));
  let [row, spare] = [newRow(heard.length), newRow(heard.length)];
  const marks: Row[] = [];
  for (const [i, word] of script.entries()) {
    if (pace(heard.length)) yield [];
    if (i % height === 0) marks.push(copyRow(row));
    step(word, row, spare, null);
    [row, spare] = [spare, row];
  }
  extend(row, row.from, heard.length);
  const pairs = new Int32Array(script.length).fill(-1);
  const kept = new Uint8Array(heard.length);
  const at: Place = { j: heard.length, keeping: row.kept[heard.length]! < row.skipping[heard.length]! };
  for (let block = marks.length - 1; block >= 0; block--) {
    const from = block * height;
    const words = script.slice(from, from + height);
    const steps = words.map(() => new Uint8Array(heard.length + 1));
    row = marks[block]!;
    spare = newRow(heard.length);
    for (const [n, word] of words.entries()) {
      if (pace(heard.length)) yield [];
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
