/** Scripts and transcripts with timecodes before, after or between their lines. */
import {
  ALMOST_ALL,
  BLANK_ROW,
  FEW,
  isBlank,
  joinSentences,
  MANY,
  MIN_ROWS,
  type ScriptForm,
  type ScriptRow,
  SOME,
  TIMECODE,
} from "./script-row";

const SEPARATOR = String.raw`\s{0,3}(?:-->?|->|to|[-–—~])\s{0,3}`;
const LEADING = new RegExp(
  String.raw`^\s*(?:[-*•]\s{1,3})?(?:TC:?\s{0,3}|@\s{0,3})?[[(<{]?(${TIMECODE})(?:${SEPARATOR}${TIMECODE})?[\])>}]?(?:\s{0,9}[-–—:|.,](?=\s|$)|(?=\s|$))\s*`,
  "i",
);
const BRACKETED_TIME = new RegExp(String.raw`[[(<{](${TIMECODE})(?:${SEPARATOR}${TIMECODE})?[\])>}]`);
const BRACKETED = new RegExp(BRACKETED_TIME.source, "g");
/** A row such as `Anna Smith  0:12`, as meeting software writes it. */
const NAME_AND_TIME = new RegExp(
  String.raw`^\s*\p{Lu}[\p{L}\p{N}.'-]{0,30}(?:\s{1,9}[\p{L}\p{N}(][\p{L}\p{N}.')-]{0,30}){0,3}(?<![.!?])\s{1,9}[[(]?(${TIMECODE})[\])]?\s*$`,
  "u",
);

const MINUTE_SECONDS = 60;
/** `h:mm` and `m:ss` look alike. A schedule starts at a later time than the first minutes of a recording. */
const MAX_FIRST_CLOCK_SECONDS = 2 * MINUTE_SECONDS;

/** Removes timecodes. Evidence: rising times on a share of the rows that are not a schedule. */
export const removeTimecodes: ScriptForm = (rows) => {
  const named = listTimes(rows, NAME_AND_TIME);
  const withoutNames = isSeries(named, rows)
    ? rows.map((row) => (NAME_AND_TIME.test(row.text) ? blank(row) : row))
    : rows;
  const leading = listTimes(withoutNames, LEADING);
  if (isSeries(leading, withoutNames)) {
    return withoutNames.map((row) => ({ ...row, text: row.text.replace(LEADING, "").replace(BRACKETED, " ") }));
  }
  const bracketed = listTimes(withoutNames, BRACKETED_TIME);
  if (!isSeries(bracketed, withoutNames)) return withoutNames;
  return withoutNames.map((row) => ({ ...row, text: row.text.replace(BRACKETED, " ") }));
};

const blank = (row: ScriptRow): ScriptRow => ({ ...row, text: "" });

function listTimes(rows: readonly ScriptRow[], pattern: RegExp): string[] {
  return rows.flatMap((row) => pattern.exec(row.text)?.[1] ?? []);
}

function isSeries(times: readonly string[], rows: readonly ScriptRow[]): boolean {
  const clocks = times.filter((time) => /^\d{1,3}:\d\d$/.test(time)).length;
  const areClocks = clocks * 2 > times.length;
  if (times.length < (areClocks ? FEW : MIN_ROWS)) return false;
  if (times.length < SOME * rows.filter((row) => !isBlank(row)).length) return false;
  const seconds = times.map(toSeconds);
  if (areClocks && seconds[0]! > MAX_FIRST_CLOCK_SECONDS) return false;
  const rising = seconds.filter((time, i) => i === 0 || time >= seconds[i - 1]!).length;
  return rising >= ALMOST_ALL * seconds.length && seconds.at(-1)! > seconds[0]!;
}

/** Returns the time of a timecode. Frames count as thousandths of a second, because times are only compared. */
function toSeconds(time: string): number {
  const [, clock, rest] = /^((?:\d+:)?\d+:\d+)(?:[:;.,](\d+))?$/.exec(time)!;
  const seconds = clock!.split(":").reduce((sum, part) => MINUTE_SECONDS * sum + Number(part), 0);
  return seconds + Number(rest ?? 0) / 1000;
}

const TIME = String.raw`(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}`;
const TIMING = new RegExp(String.raw`^\s*${TIME}(?:\s{0,9}--?>\s{0,9}|,)${TIME}(?:\s|$)`);
const HIDDEN_BLOCK = /^(?:NOTE|STYLE|REGION|WEBVTT)(?:\s|$)/;
/** Rolling captions repeat the previous row at least once in this number of rows. Less is spoken repetition. */
const MAX_ROWS_PER_REPETITION = 4;

/** Removes cue numbers, timings, headers and notes, and joins sentences. Evidence: a timing with milliseconds. */
export const readSubtitleCues: ScriptForm = (rows) => {
  const isTiming = rows.map((row) => TIMING.test(row.text));
  if (!isTiming.includes(true)) return rows;
  const isVtt = /^\s*WEBVTT/.test(rows.find((row) => row.text.trim() !== "")!.text);
  const cues: string[] = [];
  let hidden = false;
  for (const [i, row] of rows.entries()) {
    const text = row.text.trim();
    const startsBlock = (rows[i - 1]?.text.trim() ?? "") === "";
    if (text === "") hidden = false;
    else if (isVtt && startsBlock && HIDDEN_BLOCK.test(text)) hidden = true;
    const isIdentifier = isTiming[i + 1] === true && (startsBlock || /^\d+$/.test(text));
    if (text !== "" && !hidden && !isTiming[i] && !isIdentifier) cues.push(row.text.replace(/<[^<>]*>/g, ""));
  }
  return joinSentences(dropRollingRows(cues)).flatMap((text) => (text === "" ? [] : [toRow(text), BLANK_ROW]));
};

const toRow = (text: string): ScriptRow => ({ text, optional: false });

function dropRollingRows(cues: readonly string[]): readonly string[] {
  const isRepeated = (text: string, i: number) => i > 0 && text.trim() === cues[i - 1]!.trim();
  const repeated = cues.filter(isRepeated).length;
  return repeated * MAX_ROWS_PER_REPETITION < cues.length ? cues : cues.filter((text, i) => !isRepeated(text, i));
}

const LABELED =
  /^\s*[[(*_#]{0,4}\s{0,3}(?:scene|shot|cue|slide|panel|line|clip|page|segment|paragraph|frame|vo|item|row|szene|folie|plan|escena|diapositiva)\.?\s{0,3}#?(\d{1,4})[a-z]?[\])*_]{0,4}(?:\s{0,3}[:.)\-–—|][*_]{0,2}(?=\s|$)\s*|\s*$)/i;
/** Does not match `1.` and `1)`, which are list items in any script. */
const PUNCTUATED =
  /^\s*(?:(?:#(\d{1,4})[a-z]?[.):]?|\((\d{1,4})[a-z]?\)|(\d{1,4})(?:[a-z][.)]|[a-z]?[:\]]|\s[-–—]))(?=\s|$)|(\d{1,4})[a-z]?\s{2,9}(?=\S))\s*/;
const BARE = /^\s*(\d{1,4})\s(?=\s{0,9}["'“(]?\p{Lu})/u;

/** Numbers without punctuation may be spoken: more rows must have them. */
const MIN_BARE_ROWS = 4;
const MIN_BARE_SHARE = 0.8;

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
  if (isNumbered(LABELED, MIN_ROWS, SOME, FEW)) return remove(LABELED);
  if (isNumbered(PUNCTUATED, FEW, MANY, FEW)) return remove(PUNCTUATED);
  if (isNumbered(BARE, MIN_BARE_ROWS, MIN_BARE_SHARE, 1)) return remove(BARE);
  return rows;
};

/** Returns whether numbers count rows. Years do not count: they are read aloud. */
function isCount(numbers: readonly number[], maxStep: number): boolean {
  if (numbers.every((number) => /^(?:19|20)\d\d$/.test(String(number)))) return false;
  // Rows may be numbered in tens, so that others fit in between.
  const isRound = numbers.every((number) => number % 10 === 0);
  const limit = isRound ? 10 * FEW : maxStep;
  const steps = numbers.slice(1).map((number, i) => number - numbers[i]!);
  return steps.every((step) => step >= (maxStep === 1 ? 1 : 0) && step <= limit) && numbers.at(-1)! > numbers[0]!;
}
