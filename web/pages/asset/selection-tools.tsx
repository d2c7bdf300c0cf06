/** Touch controls for the selection. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { performAction } from "../../app/actions";
import { afterNextFrame } from "../../app/after-next-frame";
import { formatTimecode } from "../../app/format";
import { toSeconds } from "../../editor/model/plan";
import { measureRange } from "../../editor/reasons";
import { useEditor } from "../../editor/state/context";
import { isSelectionRemoved } from "../../editor/state/edit-actions";
import { NO_MARKS } from "../../editor/state/editor-state";
import { playJoin } from "../../editor/state/seek-actions";
import { ActionButton, IconButton } from "../../ui/button";

/**
 * Shown in the dock of small windows and above the timeline of tablets. They replace other controls, so that nothing
 * moves or is covered. Empty without a selection. `hasUndo`: the controls that they replace include that button.
 */
export function SelectionTools({ hasUndo = false }: { hasUndo?: boolean }) {
  const { editor } = useEditor();
  const hasEdge = editor.edge.value !== null && editor.canEdit;
  return hasEdge || editor.range.value !== null ? <Tools hasEdge={hasEdge} hasUndo={hasUndo} /> : null;
}

const BUTTON = "button:enabled";

function Tools({ hasEdge, hasUndo }: { hasEdge: boolean; hasUndo: boolean }) {
  const { editor } = useEditor();
  const box = useRef<HTMLDivElement>(null);
  const isOwn = hasEdge || editor.marks.value !== NO_MARKS;
  // Controls that take the place of others also take over their focus, which would be lost with them.
  useLayoutEffect(() => {
    const tools = box.current!;
    const controls = tools.parentElement!;
    const active = document.activeElement;
    if (active && controls.contains(active) && !active.checkVisibility())
      tools.querySelector<HTMLElement>(BUTTON)?.focus();
    return () => {
      if (!tools.contains(document.activeElement)) return;
      // Until the tools are gone, the controls are hidden.
      afterNextFrame(() => {
        if (document.activeElement === document.body)
          controls.querySelector<HTMLElement>(BUTTON)?.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      ref={box}
      class={isOwn ? "selection-tools is-own" : "selection-tools"}
      role="group"
      aria-label="Selection"
      // Otherwise the press would clear the selection of the text.
      onMouseDown={(event) => event.preventDefault()}
    >
      {hasEdge ? <EdgeTools /> : <RangeTools />}
      {hasUndo && <ActionButton name="edit.undo" />}
      <ActionButton name="edit.clear" />
    </div>
  );
}

function RangeTools() {
  const { editor, playback } = useEditor();
  const range = editor.range.value!;
  const isRemoved = isSelectionRemoved(editor);
  return (
    <>
      {editor.canEdit && <ActionButton name="edit.toggle" icon={isRemoved ? "undo" : "cut"} look="primary" isLabeled />}
      <PlayButton label="Play the selection" onPlay={() => performAction("playback.selection")} />
      <ActionButton class="selection-loop" name="playback.loop" aria-pressed={playback.loop.value !== null} />
      {editor.canEdit && editor.selection.value !== null && (
        <IconButton
          class="selection-correct"
          icon="edit"
          label="Correct"
          onClick={() => performAction("words.correct")}
        />
      )}
      <span class="selection-length number truncate">{measureRange(editor, range)}</span>
    </>
  );
}

function PlayButton({ label, onPlay }: { label: string; onPlay(): void }) {
  const { playback } = useEditor();
  const isPlaying = playback.isPlaying.value;
  return (
    <IconButton
      icon={isPlaying ? "pause" : "play"}
      label={isPlaying ? "Pause" : label}
      disabled={!playback.isReady.value}
      onClick={isPlaying ? playback.pause : onPlay}
    />
  );
}

/** Moves the selected edge by a frame, which a finger cannot. */
function EdgeTools() {
  const { editor, playback } = useEditor();
  const { side, time } = editor.edge.value!;
  return (
    <>
      <ActionButton name="edit.edge-back" />
      <ActionButton name="edit.edge-forward" class="mirrored" />
      <PlayButton label="Play the join" onPlay={() => playJoin(editor, playback)} />
      <span class="selection-length number truncate">
        {side === "start" ? "Kept from" : "Kept until"} {formatTimecode(toSeconds(time))}
      </span>
    </>
  );
}
