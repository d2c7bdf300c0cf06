/** Scripts whose lines or sections are numbered: `001: Text`, `(3) Text`, `Scene 3: Text`, `Slide 4`. */
import { BLANK_ROW, isBlank, type ScriptForm } from "./script-row";

const LABELED =
  /^\s*[[(*_#]{0,4}\s{0,3}(?:scene|shot|cue|slide|panel|line|clip|page|segment|paragraph|frame|vo|item|row|szene|folie|plan|escena|diapositiva)\.?\s{0,3}#?(\d{1,4})[a-z]?[\])*_]{0,4}(?:\s{0,3}[:.)\-–—|][*_]{0,2}(?=\s|$)\s*|\s*$)/i;
/** Does not match `1.` and `1)`, which are list items in any script. */
const PUNCTUATED =
  /^\s*(?:(?:#(\d{1,4})[a-z]?[.):]?|\((\d{1,4})[a-z]?\)|(\d{1,4})(?:[a-z][.)]|[a-z]?[:\]]|\s[-–—]))(?=\s|$)|(\d{1,4})[a-z]?\s{2,9}(?=\S))\s*/;
const BARE = /^\s*(\d{1,4})\s(?=\s{0,9}["'“(]?\p{Lu})/u;

const MIN_LABELED_ROWS = 2;
const MIN_LABELED_SHARE = 0.1;
const MIN_PUNCTUATED_ROWS = 3;
const MIN_PUNCTUATED_SHARE = 0.4;
const MIN_BARE_ROWS = 4;
const MIN_BARE_SHARE = 0.8;
const MAX_STEP = 3;
/** Rows may be numbered in tens, so that others fit in between. */
const MAX_ROUND_STEP = 30;

/** Removes cue numbers. Evidence: rising numbers in small steps on most rows; without punctuation, steps of one. */
export const removeCueNumbers: ScriptForm = (rows) => {
  const count = rows.filter((row) => !isBlank(row)).length;
  const isNumbered = (pattern: RegExp, minRows: number, minShare: number, maxStep: number) => {
    const numbers = rows.flatMap((row) => {
      const match = pattern.exec(row.text);
      return match ? [Number(match.slice(1).find((group) => group !== undefined))] : [];
    });
    return numbers.length >= minRows && numbers.length >= minShare * count && isCount(numbers, maxStep);
  };
  const remove = (pattern: RegExp) =>
    rows.flatMap((row) => {
      const match = pattern.exec(row.text);
      return match ? [BLANK_ROW, { ...row, text: row.text.slice(match[0].length) }] : [row];
    });
  if (isNumbered(LABELED, MIN_LABELED_ROWS, MIN_LABELED_SHARE, MAX_STEP)) return remove(LABELED);
  if (isNumbered(PUNCTUATED, MIN_PUNCTUATED_ROWS, MIN_PUNCTUATED_SHARE, MAX_STEP)) return remove(PUNCTUATED);
  if (isNumbered(BARE, MIN_BARE_ROWS, MIN_BARE_SHARE, 1)) return remove(BARE);
  return rows;
};

/** Returns whether numbers count rows. Years do not count: they are read aloud. */
function isCount(numbers: readonly number[], maxStep: number): boolean {
  if (numbers.every((number) => number >= 1900 && number < 2100)) return false;
  const isRound = numbers.every((number) => number % 10 === 0);
  const limit = isRound ? MAX_ROUND_STEP : maxStep;
  const steps = numbers.slice(1).map((number, i) => number - numbers[i]!);
  return steps.every((step) => step >= (maxStep === 1 ? 1 : 0) && step <= limit) && numbers.at(-1)! > numbers[0]!;
}
