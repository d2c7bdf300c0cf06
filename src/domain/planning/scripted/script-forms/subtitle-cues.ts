/** Subtitles as scripts: SRT, WebVTT and SBV. */
import { BLANK_ROW, joinSentences, type ScriptForm, type ScriptRow } from "./script-row";

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
