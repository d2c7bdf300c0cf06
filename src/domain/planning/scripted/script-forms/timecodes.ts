/** Scripts and transcripts with timecodes before, after or between their lines. */
import { isBlank, type ScriptForm, type ScriptRow, TIMECODE } from "./script-row";

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
