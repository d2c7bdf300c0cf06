/** The bar in place of the filters while recordings are selected. */
import { useEffect, useState } from "preact/hooks";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration } from "../../app/format";
import { isBilled, workspace } from "../../app/session";
import { Button, IconButton } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import type { IconName } from "../../ui/icon";
import { keepFocus } from "../../ui/page";
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
  /** With the recordings for which a dialog was opened: the list may be read again meanwhile. */
  const [open, setOpen] = useState<{ choice: Choice; recordings: Recording[] } | null>(null);
  useEffect(() => keepFocus, []);
  const ids = selection.ids.value;
  const selected = items.filter(({ id }) => ids.has(id));
  const duration = selected.reduce((sum, { duration_seconds: seconds }) => sum + Number(seconds ?? 0), 0);
  const { choice, recordings } = open ?? { choice: null, recordings: [] };
  const onClose = () => setOpen(null);
  /** The selection is empty from here on, and the bar is gone. */
  const start = (done: Promise<void>) => {
    const before = workspace.peek()?.id;
    void done.finally(() => before === workspace.peek()?.id && onDone());
    onClose();
    selection.clear();
  };
  return (
    <>
      <div class="batch-bar" role="toolbar" aria-label="Selected recordings">
        <IconButton icon="close" label="Clear the selection (Esc)" onClick={selection.clear} />
        <b>{toNumber(selected.length)} selected</b>
        <span class="soft number batch-duration">{formatDuration(duration)}</span>
        <span class="spacer" />
        {BUTTONS.map(({ choice, label, icon }) => (
          <Button
            key={choice}
            icon={icon}
            look="quiet"
            class={choice === "delete" ? "danger-text" : choice === "cut" ? "main-choice" : ""}
            title={label}
            disabled={selected.length === 0}
            onClick={() => setOpen({ choice, recordings: selected })}
          >
            <span class="button-text">{label}</span>
          </Button>
        ))}
      </div>
      {choice === "cut" && <CutDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "render" && <RenderDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "export" && <ExportDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "move" && (
        <MoveDialog
          count={recordings.length}
          projectId={recordings[0]?.project_id ?? ""}
          onMove={async (project) => start(moveRecordings(recordings, project))}
          onClose={onClose}
        />
      )}
      {choice === "delete" && (
        <ConfirmDialog
          title={`Delete ${formatCount(recordings.length, "recording")}?`}
          confirmLabel="Delete"
          onConfirm={async () => start(deleteRecordings(recordings))}
          onClose={onClose}
        >
          <p>
            Their files, cuts and renders are deleted from the server's disk.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
