import { canRedo, canUndo, findRedoLabel, findUndoLabel } from "../../editor/model/history";
import { Button } from "../../ui/button";
import type { Editor } from "./editor-state";
import type { Save } from "./use-save";

type EditButtonsProps = { editor: Editor; save: Save };

/** Undo, redo and saving. */
export function EditButtons({ editor, save }: EditButtonsProps) {
  const history = editor.history.value;
  return (
    <div class="studio-actions" role="toolbar" aria-label="Edits">
      <Button
        icon="undo"
        aria-label="Undo"
        title={findUndoLabel(history) ?? "Nothing to undo"}
        disabled={!canUndo(history)}
        onClick={() => editor.undo()}
      >
        <span class="button-text">Undo</span>
      </Button>
      <Button
        icon="redo"
        aria-label="Redo"
        title={findRedoLabel(history) ?? "Nothing to redo"}
        disabled={!canRedo(history)}
        onClick={() => editor.redo()}
      >
        <span class="button-text">Redo</span>
      </Button>
      <Button isBusy={save.isSaving} disabled={!editor.isChanged.value} onClick={() => void save.save()}>
        Save as cut
      </Button>
    </div>
  );
}
