import { formatTimecode } from "../../app/format";
import { isRemoved, toSeconds } from "../../editor/model/plan";
import { clearSelection, toggleMarked } from "../../editor/state/edit-actions";
import { type Editor, NO_MARKS } from "../../editor/state/editor-state";
import { Button } from "../../ui/button";

/** Shows the marked range and its actions. */
export function MarksBar({ editor }: { editor: Editor }) {
  const range = editor.range.value;
  if (editor.marks.value === NO_MARKS || range === null) return null;
  const isGone = isRemoved(editor.plan.value, range);
  return (
    <div class="inspector">
      <p class="inspector-text">
        <strong>Marked</strong>{" "}
        <span class="soft number">
          {formatTimecode(toSeconds(range.start))} to {formatTimecode(toSeconds(range.end))}
        </span>
      </p>
      {editor.canEdit && (
        <Button onClick={() => toggleMarked(editor, range)}>{isGone ? "Restore range" : "Remove range"}</Button>
      )}
      <Button look="quiet" onClick={() => clearSelection(editor)}>
        Clear
      </Button>
    </div>
  );
}
