/** The bar in place of the filters while recordings are selected. */
import { useState } from "preact/hooks";
import { formatCount, formatDuration } from "../../app/format";
import { isBilled } from "../../app/session";
import { Button, IconButton } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import type { IconName } from "../../ui/icon";
import { CutDialog, ExportDialog, RenderDialog } from "./batch-dialogs";
import { deleteRecordings, moveRecordings } from "./batch-work";
import { MoveDialog } from "./move-dialog";
import type { Recording } from "./recording";
import type { Selection } from "./selection";

type BatchBarProps = { selection: Selection; items: Recording[]; onDone(): void };

type Choice = "cut" | "render" | "export" | "move" | "delete";

const BUTTONS: { choice: Choice; label: string; icon: IconName }[] = [
  { choice: "cut", label: "Make cut", icon: "cut" },
  { choice: "render", label: "Render", icon: "film" },
  { choice: "export", label: "Export", icon: "download" },
  { choice: "move", label: "Move", icon: "move" },
  { choice: "delete", label: "Delete", icon: "trash" },
];

export function BatchBar({ selection, items, onDone }: BatchBarProps) {
  const [choice, setChoice] = useState<Choice | null>(null);
  const ids = selection.ids.value;
  const selected = items.filter(({ id }) => ids.has(id));
  const duration = selected.reduce((sum, { duration_seconds: seconds }) => sum + Number(seconds ?? 0), 0);
  const onClose = () => setChoice(null);
  /** The selection is empty from here on, and the bar is gone. */
  const start = (work: (recordings: Recording[]) => Promise<void>) => {
    void work(selected).finally(onDone);
    onClose();
    selection.clear();
  };
  return (
    <div class="batch-bar" role="toolbar" aria-label="Selected recordings">
      <IconButton icon="close" label="Clear the selection (Esc)" onClick={selection.clear} />
      <b>{ids.size} selected</b>
      <span class="soft number batch-duration">{formatDuration(duration)}</span>
      <span class="spacer" />
      {BUTTONS.map(({ choice, label, icon }) => (
        <Button
          key={choice}
          icon={icon}
          look="quiet"
          class={choice === "delete" ? "danger-text" : choice === "cut" ? "main-choice" : ""}
          title={label}
          onClick={() => setChoice(choice)}
        >
          <span class="button-text">{label}</span>
        </Button>
      ))}
      {choice === "cut" && <CutDialog recordings={selected} onStart={start} onClose={onClose} />}
      {choice === "render" && <RenderDialog recordings={selected} onStart={start} onClose={onClose} />}
      {choice === "export" && <ExportDialog recordings={selected} onStart={start} onClose={onClose} />}
      {choice === "move" && (
        <MoveDialog
          count={selected.length}
          projectId={selected[0]?.project_id ?? ""}
          onMove={async (project) => start((recordings) => moveRecordings(recordings, project))}
          onClose={onClose}
        />
      )}
      {choice === "delete" && (
        <ConfirmDialog
          title={`Delete ${formatCount(selected.length, "recording")}?`}
          confirmLabel="Delete"
          onConfirm={async () => start((recordings) => deleteRecordings(recordings))}
          onClose={onClose}
        >
          <p>
            Their files, cuts and renders are deleted from the server's disk.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
