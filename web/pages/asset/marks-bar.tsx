import { formatTimecode } from "../../app/format";
import { isRemoved, toSeconds } from "../../editor/model/plan";
import { Button } from "../../ui/button";
import { clearMarks, findMarkedRange, toggleMarked } from "./edit-actions";
import type { Editor } from "./editor-state";

/** Shows the marked range and its actions. */
export function MarksBar({ editor }: { editor: Editor }) {
  const range = findMarkedRange(editor);
  if (range === null) return null;
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
      <Button look="quiet" onClick={() => clearMarks(editor)}>
        Clear
      </Button>
    </div>
  );
}
