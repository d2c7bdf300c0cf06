/** The forms of scripts, in the order in which they are detected. */

import { markHeadings, removeFrontMatter, removeLabels } from "./labels";
import { readScreenplay } from "./screenplay";
import type { ScriptForm, ScriptRow } from "./script-row";
import { readTables } from "./tables";
import { readSubtitleCues, removeCueNumbers, removeTimecodes } from "./timecodes";

const FORMS: readonly ScriptForm[] = [
  removeFrontMatter,
  readSubtitleCues,
  readScreenplay,
  readTables,
  removeTimecodes,
  removeCueNumbers,
  removeLabels,
  markHeadings,
];

/** Returns the rows of a script that may be spoken, without the additions of its forms. Prose is unchanged. */
export function readScriptRows(script: string): readonly ScriptRow[] {
  const plain = script
    .normalize("NFKC")
    .replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n")
    .replace(/[\u200B-\u200F\u202A-\u202E\uFEFF]/g, "");
  const rows = plain.split("\n").map((text): ScriptRow => ({ text, optional: false }));
  return FORMS.reduce<readonly ScriptRow[]>((current, form) => form(current), rows);
}
