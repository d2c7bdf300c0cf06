/**
 * The way of a script through a recording: which heard word stands for which script word, in order, such that few script words are
 * lost, little else is kept, and the joins fall into pauses. A shortest path over two long texts; memory grows with one of them only.
 */
import type { HeardWord } from "./cut-heard";
import type { ScriptLine } from "./script-text";
import { rememberingDistance } from "./text-normal";
import { fromSeconds } from "./time";

/** `pairs[k]`: the heard word of script word k (counted through all lines), -1 when it is not spoken. `kept[j]`: heard word j stays. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/**
 * What taking a heard word for a word of the line costs besides (negative: is worth), by what is known about the takes; null: nothing is
 * known about the line.
 */
export type LineBias = (line: number) => Float32Array | null;

/** Not to find a word of the script, and to keep one that is not in it. */
const LOST_WORD = 0.8;
/** Words of a heading or an aside: most are never spoken. */
const LOST_OPTIONAL = 0.1;
const UNLIKE_OPTIONAL = 1;
const EXTRA_WORD = 0.7;
/** Joining without a pause would be heard. */
const FLUENT = 1.6;
const SHORT_PAUSE = 0.6;
const PAUSE = 0.2;
/** Leaving or entering a line elsewhere than at its ends. */
const INSIDE_LINE = 0.6;

/** How the kept state of a cell was reached (low three bits), and the skipping state (the next two). */
const PAIRED = 1;
const PAIRED_AFTER_SKIP = 2;
const LOST = 3;
const EXTRA = 4;
const SKIP_WORD = 8;
const SKIP_BEGINS = 16;
const SKIP_LOST = 24;

type Row = { kept: Float64Array; skipping: Float64Array };

/** Finds the path. `again[j]` is 1 when heard word j is said again right after: leaving it out joins like a pause. */
export function findPath(
  lines: readonly ScriptLine[],
  heard: readonly HeardWord[],
  again: Uint8Array,
  bias: LineBias,
): ScriptPath {
  const script = lines.flatMap((line, index) =>
    line.words.map((word, k) => ({
      word,
      line: index,
      first: k === 0,
      last: k === line.words.length - 1,
      optional: line.optional,
    })),
  );
  const walk = walker(script, heard, again, bias);
  const height = Math.max(1, Math.ceil(Math.sqrt(script.length)));
  const marks: Row[] = [walk.firstRow()];
  for (let from = 0; from < script.length; from += height) {
    let row = marks[marks.length - 1]!;
    for (let i = from; i < Math.min(script.length, from + height); i++) row = walk.nextRow(i, row, null);
    marks.push(row);
  }
  const pairs = new Int32Array(script.length).fill(-1);
  const kept = new Uint8Array(heard.length);
  const last = marks.pop()!;
  let j = heard.length;
  let keeping = last.kept[j]! < last.skipping[j]!;
  const width = heard.length + 1;
  for (let block = marks.length - 1; block >= 0; block--) {
    const from = block * height;
    const to = Math.min(script.length, from + height);
    const steps = new Uint8Array((to - from) * width);
    let row = marks[block]!;
    for (let i = from; i < to; i++)
      row = walk.nextRow(i, row, steps.subarray((i - from) * width, (i - from + 1) * width));
    for (let i = to; i > from; ) {
      const step = steps[(i - 1 - from) * width + j]!;
      if (!keeping) {
        const how = step & 24;
        if (how === SKIP_WORD) j--;
        else if (how === SKIP_BEGINS) keeping = true;
        else i--;
        continue;
      }
      const how = step & 7;
      if (how === EXTRA) kept[--j] = 1;
      else if (how === LOST) i--;
      else {
        pairs[--i] = --j;
        kept[j] = 1;
        keeping = how === PAIRED;
      }
    }
  }
  return { pairs, kept };
}

type ScriptWord = { word: string; line: number; first: boolean; last: boolean; optional: boolean };

function walker(script: readonly ScriptWord[], heard: readonly HeardWord[], again: Uint8Array, bias: LineBias) {
  const near = rememberingDistance();
  const size = heard.length;
  const gap = (j: number) => (j <= 0 || j >= size ? fromSeconds(1) : heard[j]!.start - heard[j - 1]!.end);
  const join = Float64Array.from({ length: size + 1 }, (_, j) =>
    Math.min(joinCost(gap(j)), again[j - 1] !== again[j] ? SHORT_PAUSE : FLUENT),
  );
  const extra = Float64Array.from(
    { length: size + 1 },
    (_, j) => EXTRA_WORD + (j > 0 && gap(j - 1) > fromSeconds(1.5) ? 0.6 : 0),
  );

  const firstRow = (): Row => ({
    kept: new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY),
    skipping: new Float64Array(size + 1),
  });

  function nextRow(i: number, row: Row, steps: Uint8Array | null): Row {
    const { word, line, first, last, optional } = script[i]!;
    const lost = optional ? LOST_OPTIONAL : LOST_WORD;
    const known = bias(line);
    const enter = first ? 0 : INSIDE_LINE;
    const leave = last ? 0 : INSIDE_LINE;
    const kept = new Float64Array(size + 1);
    const skipping = new Float64Array(size + 1);
    for (let j = 0; j <= size; j++) {
      let least = row.kept[j]! + lost;
      let how = LOST;
      if (j > 0) {
        const distance = near(word, heard[j - 1]!.normal);
        const unlike = optional && distance > 0 ? UNLIKE_OPTIONAL : 0;
        const cost = distance + unlike + (known ? known[j - 1]! : 0);
        const paired = row.kept[j - 1]! + cost;
        if (paired < least) {
          least = paired;
          how = PAIRED;
        }
        const entered = row.skipping[j - 1]! + join[j - 1]! + enter + cost;
        if (entered < least) {
          least = entered;
          how = PAIRED_AFTER_SKIP;
        }
        const more = kept[j - 1]! + extra[j]!;
        if (more < least) {
          least = more;
          how = EXTRA;
        }
      }
      kept[j] = least;
      let skip = row.skipping[j]! + lost;
      let skipHow = SKIP_LOST;
      if (least + join[j]! + leave < skip) {
        skip = least + join[j]! + leave;
        skipHow = SKIP_BEGINS;
      }
      if (j > 0 && skipping[j - 1]! <= skip) {
        skip = skipping[j - 1]!;
        skipHow = SKIP_WORD;
      }
      skipping[j] = skip;
      if (steps) steps[j] = how | skipHow;
    }
    return { kept, skipping };
  }

  return { firstRow, nextRow };
}

function joinCost(pause: number): number {
  if (pause >= fromSeconds(0.25)) return PAUSE;
  return pause >= fromSeconds(0.1) ? SHORT_PAUSE : FLUENT;
}
