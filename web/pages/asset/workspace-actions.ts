/** The actions of the editor's page that do not belong to one part of it. */

import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { type Action, createInGroup, useActions } from "../../app/actions";
import { canWrite } from "../../app/session";
import { showFailure } from "../../app/toasts";
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
import { hasSpeech } from "./use-media";

type Part = Pick<EditorContextValue, "asset" | "cut" | "editor" | "playback" | "frame" | "save" | "cutByHand">;

export function useWorkspaceActions(part: Part): void {
  const { asset, cut, editor, playback, frame, save } = part;
  useActions(() => {
    const edits = editor.canEdit ? listEditActions(part) : canWrite.value ? listFirstActions(part) : [];
    return [...listPlayActions(part), ...listPlaceActions(part), ...edits];
  }, [asset, cut, editor, playback, frame, save.isSaving]);
}

const toPlay = createInGroup("Playback");

function listPlayActions({ editor, playback }: Part): Action[] {
  const whenReady = {
    isEnabled: () => playback.isReady.value,
    explain: () => editor.announce("Playback is not ready yet"),
  };
  const describe = () => (playback.isPlaying.value ? "Pause" : "Play");
  const stop = () => (playback.isPlaying.value ? playback.stop() : playback.toggle());
  const changeMode = () => {
    const mode = playback.mode.value === "cut" ? "source" : "cut";
    playback.setMode(mode);
    editor.announce(mode === "cut" ? "Playing the cut" : "Playing the source");
  };
  const changeLoop = () => playback.setLoop(playback.loop.value === null ? editor.range.value : null);
  const mute = () => {
    isMuted.value = !isMuted.value;
    editor.announce(isMuted.value ? "Audio is off" : "Audio is on");
  };
  const changeCaptions = () => {
    hasCaptions.value = !hasCaptions.value;
  };
  return [
    toPlay("playback.toggle", "Play or pause", ["Space"], () => playback.toggle(), { ...whenReady, describe }),
    toPlay("playback.stop", "Play, or pause at normal speed", ["k"], stop, whenReady),
    toPlay("playback.forward", "Play; again: 1.5×, 2×, 3×", ["l"], () => playback.shuttle(1), whenReady),
    toPlay("playback.back", "Play back; again: faster", ["j"], () => playback.shuttle(-1), whenReady),
    toPlay("playback.mode", "Cut or source", ["c"], changeMode),
    toPlay("playback.selection", "Play the selection", [], () => playback.playRange(editor.range.peek()!), {
      icon: "play",
      isEnabled: () => playback.isReady.value && editor.range.value !== null,
    }),
    toPlay("playback.loop", "Loop the selection", ["Shift+l"], changeLoop, {
      icon: "loop",
      isEnabled: () => playback.isReady.value && (playback.loop.value !== null || editor.range.value !== null),
      explain: () => editor.announce("Nothing selected. Select what to loop first."),
    }),
    toPlay("playback.mute", "Mute", ["m"], mute),
    toPlay("playback.captions", "Captions", ["Shift+c"], changeCaptions, { icon: "captions" }),
    toPlay("playback.full-screen", "Full screen", ["f"], toggleFullScreen, { icon: "fullScreen" }),
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

const toPlace = createInGroup("Places");

function listPlaceActions({ editor, playback, frame }: Part): Action[] {
  const by = (time: number) => () => {
    playback.seek(editor.playhead.value + time);
    playback.scrub(editor.playhead.value);
  };
  /** `,` and `.` move the selected edge, if any. */
  const step = (time: number) => () => {
    if (nudgeEdge(editor, time)) playJoin(editor, playback);
    else by(time)();
  };
  const goTo = () => {
    isGoingTo.value = true;
  };
  const clear = () => clearSelection(editor);
  const isEnabled = () => hasSelection(editor);
  const leave = "Close, clear the selection, or leave the filter or review";
  return [
    toPlace("seek.frame-back", "Back one frame", ["ArrowLeft"], by(-frame)),
    toPlace("seek.frame-forward", "Forward one frame", ["ArrowRight"], by(frame)),
    toPlace("edit.edge-back", "Back one frame, with the selected edge", [","], step(-frame), {
      describe: () => "Edge back one frame",
      icon: "back",
    }),
    toPlace("edit.edge-forward", "Forward one frame, with the selected edge", ["."], step(frame), {
      describe: () => "Edge forward one frame",
      icon: "back",
    }),
    toPlace("seek.second-back", "Back one second", ["Shift+ArrowLeft"], by(-TICKS_PER_SECOND)),
    toPlace("seek.second-forward", "Forward one second", ["Shift+ArrowRight"], by(TICKS_PER_SECOND)),
    toPlace("seek.join-previous", "Previous join", ["ArrowUp"], () => stepJoin(editor, playback, -1), {
      icon: "previous",
    }),
    toPlace("seek.join-next", "Next join", ["ArrowDown"], () => stepJoin(editor, playback, 1), { icon: "next" }),
    toPlace("seek.go-to", "Go to a time", ["g"], goTo),
    toPlace("seek.start", "Go to the start", ["Home"], () => playback.seek(0)),
    toPlace("seek.end", "Go to the end", ["End"], () => playback.seek(editor.plan.value.duration)),
    toPlace("edit.mark-in", "Mark the start of a range", ["i"], () => setMark(editor, "in")),
    toPlace("edit.mark-out", "Mark the end of a range", ["o"], () => setMark(editor, "out")),
    toPlace("takes.listen", "Play the take of this line", ["Shift+t"], () => playKeptTake(editor, playback)),
    toPlace("edit.clear", "Clear the selection", ["x"], clear, {
      icon: "close",
      isEnabled,
      explain: () => editor.announce("Nothing selected"),
    }),
    toPlace("edit.escape", leave, ["Escape"], clear, { isEnabled }),
  ];
}

const toEdit = createInGroup("Editing");
const toUndo = (perform: () => void, more: Partial<Action>): Action =>
  toEdit("edit.undo", "Undo", ["Mod+z"], perform, { icon: "undo", ...more });
const toToggle = (perform: () => void, more: Partial<Action>): Action =>
  toEdit("edit.toggle", "Remove or restore the selection", ["Backspace", "Delete"], perform, more);

/** Before the first cut, and while a cut is made again, the keys show advice. Without speech, they cut by hand. */
function listFirstActions({ asset, cut, editor, cutByHand }: Part): Action[] {
  const isFirst = editor.cut === null;
  const canBegin = asset.cuttable && (cut === null || cut.state === "failed");
  if (canBegin && !hasSpeech(asset, editor.words.text.length)) {
    const begin = () => {
      const range = editor.range.peek();
      if (range === null) editor.announce("Nothing selected. Mark a range with I and O.");
      else void cutByHand(range).catch(showFailure);
    };
    return [toToggle(begin, {})];
  }
  const advice = isFirst ? "No cut yet. Choose “Cut by hand” first." : "You can edit when the new cut is ready.";
  const waiting = { isEnabled: () => false, explain: () => editor.announce(advice) };
  const toggle = toToggle(() => {}, waiting);
  // The feedback of the last edit may still offer to undo it.
  return isFirst ? [toggle] : [toggle, toUndo(() => {}, waiting)];
}

function listEditActions({ editor, playback, save }: Part): Action[] {
  const trim = (direction: 1 | -1) => () => trimToPlayhead(editor, direction) && playJoin(editor, playback);
  const changeTake = () => {
    const chosen = selectNextTake(editor);
    if (chosen !== null) playTake(editor, playback, chosen.take, chosen.index);
  };
  const saveAs = () => {
    save.isNaming.value = true;
  };
  return [
    toToggle(() => toggleSelection(editor), {
      icon: "cut",
      describe: () => (isSelectionRemoved(editor) ? "Restore" : "Remove"),
    }),
    toEdit("edit.trim-previous", "Trim the previous edge to the playhead", ["q"], trim(-1)),
    toEdit("edit.trim-next", "Trim the next edge to the playhead", ["w"], trim(1)),
    toEdit("takes.next", "Next take of this line", ["t"], changeTake),
    toUndo(() => editor.undo(), {
      isEnabled: () => canUndo(editor.history.value),
      explain: () => editor.announce("Nothing to undo"),
    }),
    toEdit("edit.redo", "Redo", ["Mod+Shift+z", "Mod+y"], () => editor.redo(), {
      icon: "redo",
      isEnabled: () => canRedo(editor.history.value),
      explain: () => editor.announce("Nothing to redo"),
    }),
    toEdit("cut.save", "Save", ["Mod+s"], () => void save.save(), {
      icon: "check",
      isEnabled: () => editor.isChanged.value && !save.isSaving,
      explain: () => save.isSaving || editor.announce("Everything is saved"),
    }),
    toEdit("cut.save-as", "Save as new version", ["Mod+Shift+s"], saveAs, {
      icon: "plus",
      isEnabled: () => !save.isSaving,
    }),
  ];
}
