import { addCorrectedTerm } from "../../app/vocabulary";
import type { WordRange } from "../model/words";
import { correctText } from "../state/edit-actions";
import type { Editor } from "../state/editor-state";
import type { CorrectionScope } from "./correction-field";

/** Returns a function that corrects words. It also adds the correction to the project's vocabulary if the scope says so. */
export const createCorrecting =
  (editor: Editor, projectId: string) =>
  (range: WordRange, text: string, { isEverywhere, isFromNowOn }: CorrectionScope): void => {
    const recognized = editor.words.text.slice(range.from, range.to).join(" ");
    correctText(editor, range, text, isEverywhere);
    if (isFromNowOn) void addCorrectedTerm(projectId, recognized, text);
  };
