/** The keyboard shortcuts of the editor. One table feeds the handler and the help. */
import { useMemo } from "preact/hooks";
import { type Shortcut, useShortcuts } from "../../app/shortcuts";
import { clearMarks, nudgeEdge, selectNextTake, setMark, toggleSelection, trimToPlayhead } from "./edit-actions";
import type { Editor } from "./editor-state";
import type { Playback } from "./playback";
import { playJoin, stepJoin, stepReview } from "./seek-actions";
import type { Save } from "./use-save";

type KeysOptions = {
  editor: Editor;
  playback: Playback;
  /** Duration of a frame in microseconds. */
  frame: number;
  save: Save;
};

type Row = Omit<Shortcut, "group">;

export function useEditorKeys({ editor, playback, frame, save }: KeysOptions): void {
  const shortcuts = useMemo(() => {
    const inGroup = (group: string, rows: Row[]): Shortcut[] => rows.map((row) => ({ ...row, group }));
    return [
      ...inGroup("Playback", listPlayKeys(editor, playback)),
      ...inGroup("Places", listPlaceKeys(editor, playback, frame)),
      ...(editor.canEdit ? inGroup("Editing", listEditKeys(editor, playback, save)) : []),
    ];
  }, [editor, playback, frame, save.isSaving]);
  useShortcuts(shortcuts);
}

function listPlayKeys(editor: Editor, playback: Playback): Row[] {
  const whenReady = (run: () => void) => () => {
    if (playback.isReady.value) run();
    else editor.announce("Playback is not ready yet");
  };
  return [
    { keys: ["Space"], label: "Play or pause", run: whenReady(() => playback.toggle()) },
    { keys: ["k"], label: "Pause, at normal speed", run: () => playback.stop() },
    { keys: ["l"], label: "Play; again: 1.5×, 2×, 3×", run: whenReady(() => playback.shuttle(1)) },
    { keys: ["j"], label: "Play back; again: faster", run: whenReady(() => playback.shuttle(-1)) },
    {
      keys: ["c"],
      label: "Cut or source",
      run: () => {
        const mode = playback.mode.value === "cut" ? "source" : "cut";
        playback.setMode(mode);
        editor.announce(mode === "cut" ? "Playing the cut" : "Playing the source");
      },
    },
  ];
}

const SECOND = 1_000_000;

function listPlaceKeys(editor: Editor, playback: Playback, frame: number): Row[] {
  const by = (time: number) => playback.seek(editor.playhead.value + time);
  /** `,` and `.` move the selected edge, if any. */
  const step = (time: number) => {
    if (nudgeEdge(editor, time)) playJoin(editor, playback);
    else by(time);
  };
  return [
    { keys: ["ArrowLeft"], label: "Back one frame", run: () => by(-frame) },
    { keys: ["ArrowRight"], label: "Forward one frame", run: () => by(frame) },
    { keys: [","], label: "Move the selected edge back one frame", run: () => step(-frame) },
    { keys: ["."], label: "Move the selected edge forward one frame", run: () => step(frame) },
    { keys: ["Shift+ArrowLeft"], label: "Back one second", run: () => by(-SECOND) },
    { keys: ["Shift+ArrowRight"], label: "Forward one second", run: () => by(SECOND) },
    { keys: ["ArrowUp"], label: "Previous join", run: () => stepJoin(editor, playback, -1) },
    { keys: ["ArrowDown"], label: "Next join", run: () => stepJoin(editor, playback, 1) },
    { keys: ["Home"], label: "Go to the start", run: () => playback.seek(0) },
    { keys: ["End"], label: "Go to the end", run: () => playback.seek(editor.plan.value.duration) },
    { keys: ["n"], label: "Next span to review", run: () => stepReview(editor, playback, 1) },
    { keys: ["Shift+n"], label: "Previous span to review", run: () => stepReview(editor, playback, -1) },
    { keys: ["i"], label: "Mark the start of a range", run: () => setMark(editor, "in") },
    { keys: ["o"], label: "Mark the end of a range", run: () => setMark(editor, "out") },
    { keys: ["x"], label: "Clear marks and selection", run: () => clearMarks(editor) },
  ];
}

const listEditKeys = (editor: Editor, playback: Playback, save: Save): Row[] => [
  { keys: ["Delete", "Backspace"], label: "Remove or restore the selection", run: () => toggleSelection(editor) },
  { keys: ["q"], label: "Trim the previous edge to the playhead", run: () => trimToPlayhead(editor, -1) },
  { keys: ["w"], label: "Trim the next edge to the playhead", run: () => trimToPlayhead(editor, 1) },
  {
    keys: ["t"],
    label: "Next take of the line",
    run: () => {
      const start = selectNextTake(editor);
      if (start !== null) playback.seek(start);
    },
  },
  { keys: ["Mod+z"], label: "Undo", run: () => editor.undo() },
  { keys: ["Mod+Shift+z", "Mod+y"], label: "Redo", run: () => editor.redo() },
  { keys: ["Mod+s"], label: "Save as cut", run: () => void save.save() },
];
