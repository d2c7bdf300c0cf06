/** Returns the words in a range, shortened for a list. */
import type { Range } from "../model/plan";
import { findWordsIn } from "../model/words";
import type { Editor } from "./editor-state";

const MAX_CHARACTERS = 80;

/** Returns "" for a range without words. */
export function readExcerpt(editor: Editor, range: Range): string {
  const { from, to } = findWordsIn(editor.words, range);
  const text = editor.texts.value.slice(from, to).filter(Boolean).join(" ");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
