import { findRedoLabel, findUndoLabel } from "../../editor/model/history";
import type { Editor } from "../../editor/state/editor-state";
import { ActionButton, Button } from "../../ui/button";
import type { Save } from "./use-save";

type EditButtonsProps = { editor: Editor; save: Save };

/** Undo, redo and saving. */
export function EditButtons({ editor, save }: EditButtonsProps) {
  const history = editor.history.value;
  return (
    <div class="studio-actions" role="toolbar" aria-label="Edits">
      <ActionButton name="edit.undo" detail={findUndoLabel(history)} />
      <ActionButton name="edit.redo" detail={findRedoLabel(history)} />
      <Button isBusy={save.isSaving} disabled={!editor.isChanged.value} onClick={() => void save.save()}>
        Save as cut
      </Button>
    </div>
  );
}
