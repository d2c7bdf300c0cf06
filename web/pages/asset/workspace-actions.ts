/** The actions of the editor's page that do not belong to one part of it. */

import { useMemo } from "preact/hooks";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { type Action, useActions } from "../../app/actions";
import { canWrite } from "../../app/session";
import { canRedo, canUndo } from "../../editor/model/history";
import type { EditorContextValue } from "../../editor/state/context";
import {
  clearSelection,
  isSelectionRemoved,
  nudgeEdge,
  selectNextTake,
  setMark,
  toggleSelection,
  trimToPlayhead,
} from "../../editor/state/edit-actions";
import { type Editor, NO_MARKS } from "../../editor/state/editor-state";
import { hasCaptions, isMuted } from "../../editor/state/player-settings";
import { playJoin, playKeptTake, playTake, stepJoin } from "../../editor/state/seek-actions";

import { isGoingTo } from "./transport";

type Part = Pick<EditorContextValue, "editor" | "playback" | "frame" | "save">;
type Row = Omit<Action, "group">;

export function useWorkspaceActions({ editor, playback, frame, save }: Part): void {
  const actions = useMemo(() => {
    const part = { editor, playback, frame, save };
    const inGroup = (group: string, rows: Row[]): Action[] => rows.map((row) => ({ ...row, group }));
    return [
      ...inGroup("Playback", listPlayActions(part)),
      ...inGroup("Places", listPlaceActions(part)),
      ...inGroup("Editing", editor.canEdit ? listEditActions(part) : canWrite.value ? listFirstActions(part) : []),
    ];
  }, [editor, playback, frame, save.isSaving]);
  useActions(actions);
}

function listPlayActions({ editor, playback }: Part): Row[] {
  const whenReady = {
    isEnabled: () => playback.isReady.value,
    explain: () => editor.announce("Playback is not ready yet"),
  };
  return [
    {
      name: "playback.toggle",
      label: "Play or pause",
      describe: () => (playback.isPlaying.value ? "Pause" : "Play"),
      keys: ["Space"],
      ...whenReady,
      perform: () => playback.toggle(),
    },
    {
      name: "playback.stop",
      label: "Play, or pause at normal speed",
      keys: ["k"],
      ...whenReady,
      perform: () => (playback.isPlaying.value ? playback.stop() : playback.toggle()),
    },
    {
      name: "playback.forward",
      label: "Play; again: 1.5×, 2×, 3×",
      keys: ["l"],
      ...whenReady,
      perform: () => playback.shuttle(1),
    },
    {
      name: "playback.back",
      label: "Play back; again: faster",
      keys: ["j"],
      ...whenReady,
      perform: () => playback.shuttle(-1),
    },
    {
      name: "playback.mode",
      label: "Cut or source",
      keys: ["c"],
      perform: () => {
        const mode = playback.mode.value === "cut" ? "source" : "cut";
        playback.setMode(mode);
        editor.announce(mode === "cut" ? "Playing the cut" : "Playing the source");
      },
    },
    {
      name: "playback.selection",
      label: "Play the selection",
      keys: [],
      icon: "play",
      isEnabled: () => playback.isReady.value && editor.range.value !== null,
      perform: () => playback.playRange(editor.range.peek()!),
    },
    {
      name: "playback.loop",
      label: "Loop the selection",
      keys: ["Shift+l"],
      icon: "loop",
      isEnabled: () => playback.isReady.value && (playback.loop.value !== null || editor.range.value !== null),
      perform: () => playback.setLoop(playback.loop.value === null ? editor.range.value : null),
      explain: () => editor.announce("Nothing selected. Select what to loop first."),
    },
    {
      name: "playback.mute",
      label: "Mute",
      keys: ["m"],
      perform: () => {
        isMuted.value = !isMuted.value;
        editor.announce(isMuted.value ? "Audio is off" : "Audio is on");
      },
    },
    {
      name: "playback.captions",
      label: "Captions",
      keys: ["Shift+c"],
      icon: "captions",
      perform: () => {
        hasCaptions.value = !hasCaptions.value;
      },
    },
    {
      name: "playback.full-screen",
      label: "Full screen",
      keys: ["f"],
      icon: "fullScreen",
      perform: toggleFullScreen,
    },
  ];
}

function toggleFullScreen(): void {
  if (document.fullscreenElement === null)
    void document
      .querySelector(".picture")
      ?.requestFullscreen?.()
      .catch(() => {});
  else void document.exitFullscreen();
}

const hasSelection = ({ range, marks, edge }: Editor): boolean =>
  range.value !== null || marks.value !== NO_MARKS || edge.value !== null;

function listPlaceActions({ editor, playback, frame }: Part): Row[] {
  const by = (time: number) => {
    playback.seek(editor.playhead.value + time);
    playback.scrub(editor.playhead.value);
  };
  /** `,` and `.` move the selected edge, if any. */
  const step = (time: number) => {
    if (nudgeEdge(editor, time)) playJoin(editor, playback);
    else by(time);
  };
  return [
    { name: "seek.frame-back", label: "Back one frame", keys: ["ArrowLeft"], perform: () => by(-frame) },
    { name: "seek.frame-forward", label: "Forward one frame", keys: ["ArrowRight"], perform: () => by(frame) },
    {
      name: "edit.edge-back",
      label: "Back one frame, with the selected edge",
      describe: () => "Edge back one frame",
      icon: "back",
      keys: [","],
      perform: () => step(-frame),
    },
    {
      name: "edit.edge-forward",
      label: "Forward one frame, with the selected edge",
      describe: () => "Edge forward one frame",
      icon: "back",
      keys: ["."],
      perform: () => step(frame),
    },
    {
      name: "seek.second-back",
      label: "Back one second",
      keys: ["Shift+ArrowLeft"],
      perform: () => by(-TICKS_PER_SECOND),
    },
    {
      name: "seek.second-forward",
      label: "Forward one second",
      keys: ["Shift+ArrowRight"],
      perform: () => by(TICKS_PER_SECOND),
    },
    {
      name: "seek.join-previous",
      label: "Previous join",
      keys: ["ArrowUp"],
      icon: "previous",
      perform: () => stepJoin(editor, playback, -1),
    },
    {
      name: "seek.join-next",
      label: "Next join",
      keys: ["ArrowDown"],
      icon: "next",
      perform: () => stepJoin(editor, playback, 1),
    },
    {
      name: "seek.go-to",
      label: "Go to a time",
      keys: ["g"],
      perform: () => {
        isGoingTo.value = true;
      },
    },
    { name: "seek.start", label: "Go to the start", keys: ["Home"], perform: () => playback.seek(0) },
    {
      name: "seek.end",
      label: "Go to the end",
      keys: ["End"],
      perform: () => playback.seek(editor.plan.value.duration),
    },
    { name: "edit.mark-in", label: "Mark the start of a range", keys: ["i"], perform: () => setMark(editor, "in") },
    { name: "edit.mark-out", label: "Mark the end of a range", keys: ["o"], perform: () => setMark(editor, "out") },
    {
      name: "takes.listen",
      label: "Play the take of this line",
      keys: ["Shift+t"],
      perform: () => playKeptTake(editor, playback),
    },
    {
      name: "edit.clear",
      label: "Clear the selection",
      icon: "close",
      keys: ["x"],
      isEnabled: () => hasSelection(editor),
      perform: () => clearSelection(editor),
      explain: () => editor.announce("Nothing selected"),
    },
    {
      name: "edit.escape",
      label: "Close, clear the selection, or leave the filter or review",
      keys: ["Escape"],
      isEnabled: () => hasSelection(editor),
      perform: () => clearSelection(editor),
    },
  ];
}

/** Before the first cut, and while a cut is made again, the key shows advice. */
const listFirstActions = ({ editor }: Part): Row[] => [
  {
    name: "edit.toggle",
    label: "Remove or restore the selection",
    keys: ["Backspace", "Delete"],
    isEnabled: () => false,
    perform: () => {},
    explain: () =>
      editor.announce(
        editor.cut === null ? "No cut yet. Choose “Cut by hand” first." : "You can edit when the new cut is ready.",
      ),
  },
];

const listEditActions = ({ editor, playback, save }: Part): Row[] => [
  {
    name: "edit.toggle",
    label: "Remove or restore the selection",
    icon: "cut",
    keys: ["Backspace", "Delete"],
    describe: () => (isSelectionRemoved(editor) ? "Restore" : "Remove"),
    perform: () => toggleSelection(editor),
  },
  {
    name: "edit.trim-previous",
    label: "Trim the previous edge to the playhead",
    keys: ["q"],
    perform: () => trimToPlayhead(editor, -1) && playJoin(editor, playback),
  },
  {
    name: "edit.trim-next",
    label: "Trim the next edge to the playhead",
    keys: ["w"],
    perform: () => trimToPlayhead(editor, 1) && playJoin(editor, playback),
  },
  {
    name: "takes.next",
    label: "Next take of this line",
    keys: ["t"],
    perform: () => {
      const chosen = selectNextTake(editor);
      if (chosen !== null) playTake(editor, playback, chosen.take, chosen.index);
    },
  },
  {
    name: "edit.undo",
    label: "Undo",
    icon: "undo",
    keys: ["Mod+z"],
    isEnabled: () => canUndo(editor.history.value),
    perform: () => editor.undo(),
    explain: () => editor.announce("Nothing to undo"),
  },
  {
    name: "edit.redo",
    label: "Redo",
    icon: "redo",
    keys: ["Mod+Shift+z", "Mod+y"],
    isEnabled: () => canRedo(editor.history.value),
    perform: () => editor.redo(),
    explain: () => editor.announce("Nothing to redo"),
  },
  {
    name: "cut.save",
    label: "Save",
    icon: "check",
    keys: ["Mod+s"],
    isEnabled: () => editor.isChanged.value && !save.isSaving,
    perform: () => void save.save(),
    explain: () => save.isSaving || editor.announce("Everything is saved"),
  },
  {
    name: "cut.save-as",
    label: "Save as new version",
    icon: "plus",
    keys: ["Mod+Shift+s"],
    isEnabled: () => !save.isSaving,
    perform: () => {
      save.isNaming.value = true;
    },
  },
];
