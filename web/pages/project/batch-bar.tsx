/** The bar in place of the filters while recordings are selected. */
import { useEffect, useState } from "preact/hooks";
import type { PagedList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration } from "../../app/format";
import { canWrite, isBilled, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Button, IconButton } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import type { IconName } from "../../ui/icon";
import { keepFocus } from "../../ui/page";
import { ChooseProject } from "../projects/choose-project";
import { CutDialog, ExportDialog, RenderDialog } from "./batch-dialogs";
import { deleteRecordings, moveRecordings } from "./batch-work";
import type { NearRows } from "./near-rows";
import type { Recording } from "./recording";
import type { Selection } from "./selection";

type BatchBarProps = {
  selection: Selection;
  list: PagedList<Recording>;
  near: NearRows<Recording>;
  onDone(): void;
};

type Choice = "cut" | "render" | "export" | "move" | "delete";

const BUTTONS: { choice: Choice; label: string; icon: IconName }[] = [
  { choice: "cut", label: "Make cut", icon: "cut" },
  { choice: "render", label: "Render", icon: "film" },
  { choice: "export", label: "Export", icon: "download" },
  { choice: "move", label: "Move", icon: "move" },
  { choice: "delete", label: "Delete", icon: "trash" },
];

/** The bar says that recordings are being read when it takes longer. */
const SLOW_MS = 200;

export function BatchBar({ selection, list, near, onDone }: BatchBarProps) {
  /** With the recordings for which a dialog was opened: the list may be read again meanwhile. */
  const [open, setOpen] = useState<{ choice: Choice; recordings: Recording[] } | null>(null);
  useEffect(() => keepFocus, []);
  const ids = selection.ids.value;
  const selected = (list.items.value ?? []).filter(({ id }) => ids.has(id));
  /** Whether the recordings are being read. */
  const [isReading, setIsReading] = useState(false);
  const ask = async (choice: Choice) => {
    const slow = setTimeout(() => setIsReading(true), SLOW_MS);
    try {
      // In a long list, only the rows near the view are kept current.
      const found = await near.refresh([...ids]);
      // Some may have been deselected meanwhile.
      const recordings = found.filter(({ id }) => selection.has(id));
      if (recordings.length > 0) setOpen({ choice, recordings });
    } finally {
      clearTimeout(slow);
      setIsReading(false);
    }
  };
  const duration = selected.reduce((sum, { duration_seconds: seconds }) => sum + Number(seconds ?? 0), 0);
  const { choice, recordings } = open ?? { choice: null, recordings: [] };
  const onClose = () => setOpen(null);
  const buttons = canWrite.value ? BUTTONS : BUTTONS.filter(({ choice }) => choice === "export");
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
        <b>{isReading ? "Reading the recordings…" : `${toNumber(selected.length)} selected`}</b>
        {duration > 0 && <span class="soft number batch-duration">{formatDuration(duration)}</span>}
        <span class="spacer" />
        {buttons.map(({ choice, label, icon }) => (
          <Button
            key={choice}
            icon={icon}
            look="quiet"
            class={choice === "delete" ? "danger-text" : choice === buttons[0]?.choice ? "main-choice" : ""}
            title={label}
            disabled={selected.length === 0}
            // A disabled button would lose the focus.
            aria-disabled={isReading}
            onClick={() => !isReading && void ask(choice).catch(showFailure)}
          >
            <span class="button-text">{label}</span>
          </Button>
        ))}
      </div>
      {choice === "cut" && <CutDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "render" && <RenderDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "export" && <ExportDialog recordings={recordings} onStart={start} onClose={onClose} />}
      {choice === "move" && (
        <ChooseProject
          title={`Move ${formatCount(recordings.length, "recording")}`}
          exceptId={recordings[0]?.project_id ?? ""}
          onChoose={async (project) => start(moveRecordings(recordings, project))}
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
