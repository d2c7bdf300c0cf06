/** Actions for what is selected, for fingers, which have no keys. */
import { performAction } from "../../app/actions";
import { formatTimecode } from "../../app/format";
import { isRemoved, toSeconds } from "../../editor/model/plan";
import { measureRange } from "../../editor/review/item-texts";
import { useEditor } from "../../editor/state/context";
import { ActionButton, Button, IconButton } from "../../ui/button";

/**
 * In the dock of small windows and above the timeline of tablets, in the place of other controls, so that nothing moves
 * or is covered. Empty without a selection.
 */
export function SelectionTools() {
  const { editor } = useEditor();
  const hasEdge = editor.edge.value !== null && editor.canEdit;
  if (!hasEdge && editor.range.value === null) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      class="selection-tools"
      role="group"
      aria-label="Selection"
      // Otherwise the press would clear the selection of the text.
      onMouseDown={(event) => event.preventDefault()}
    >
      {hasEdge ? <EdgeTools /> : <RangeTools />}
      <IconButton icon="close" label="Clear the selection" onClick={() => performAction("edit.clear")} />
    </div>
  );
}

function RangeTools() {
  const { editor, playback } = useEditor();
  const range = editor.range.value!;
  const isGone = isRemoved(editor.plan.value, range);
  return (
    <>
      {editor.canEdit && (
        <Button icon="cut" look="primary" onClick={() => performAction("edit.toggle")}>
          {isGone ? "Restore" : "Remove"}
        </Button>
      )}
      <IconButton
        icon="play"
        label="Play the selection"
        disabled={!playback.isReady.value}
        onClick={() => playback.playRange(range)}
      />
      <ActionButton name="playback.loop" aria-pressed={playback.loop.value !== null} />
      {editor.canEdit && editor.selection.value !== null && (
        <IconButton icon="edit" label="Correct" onClick={() => performAction("words.correct")} />
      )}
      <span class="selection-length number truncate">{measureRange(editor, range)}</span>
    </>
  );
}

/** Moves the selected edge by a frame, which a finger cannot. */
function EdgeTools() {
  const { editor } = useEditor();
  const { side, time } = editor.edge.value!;
  return (
    <>
      <IconButton icon="back" label="Edge back one frame" onClick={() => performAction("edit.edge-back")} />
      <IconButton icon="forward" label="Edge forward one frame" onClick={() => performAction("edit.edge-forward")} />
      <span class="selection-length number truncate">
        {side === "start" ? "Kept from" : "Kept until"} {formatTimecode(toSeconds(time))}
      </span>
    </>
  );
}
