/** Scripts and transcripts with timecodes before, after or between their lines. */
import { BLANK_ROW, isBlank, joinSentences, type ScriptForm, type ScriptRow, TIMECODE } from "./script-row";

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

const MIN_ROWS = 2;
const MIN_CLOCK_ROWS = 3;
const MIN_SHARE_OF_ROWS = 0.15;
const MIN_RISING_SHARE = 0.9;
/** `h:mm` and `m:ss` look alike. A schedule starts at a later time than the first minutes of a recording. */
const MAX_FIRST_CLOCK_SECONDS = 120;

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
  if (times.length < (areClocks ? MIN_CLOCK_ROWS : MIN_ROWS)) return false;
  if (times.length < MIN_SHARE_OF_ROWS * rows.filter((row) => !isBlank(row)).length) return false;
  const seconds = times.map(toSeconds);
  if (areClocks && seconds[0]! > MAX_FIRST_CLOCK_SECONDS) return false;
  const rising = seconds.filter((time, i) => i === 0 || time >= seconds[i - 1]!).length;
  return rising >= MIN_RISING_SHARE * seconds.length && seconds.at(-1)! > seconds[0]!;
}

/** Returns the time of a timecode. Frames count as thousandths of a second, because times are only compared. */
function toSeconds(time: string): number {
  const parts = time.split(/[:;.,]/).map(Number);
  if (parts.length === 2) return 60 * parts[0]! + parts[1]!;
  const isFraction = /[.,]\d{1,3}$/.test(time);
  const [hours, minutes, seconds, rest] = parts.length === 4 ? parts : isFraction ? [0, ...parts] : [...parts, 0];
  return 3600 * hours! + 60 * minutes! + seconds! + rest! / 1000;
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
