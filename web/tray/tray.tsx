/** The work of this tab: uploads and actions on many recordings, docked at the bottom right. */
import { useSignal } from "@preact/signals";
import { toNumber } from "../app/english";
import { formatCount, formatRemaining } from "../app/format";
import { narrow } from "../app/narrow";
import { canWrite, currentWorkspaceId } from "../app/session";
import { showFailure } from "../app/toasts";
import type { CutSettingsDialog } from "../pages/projects/cut-settings";
import { Icon } from "../ui/icon";
import { activeUploads, type UploadItem, uploads } from "../upload/queue";
import { type Batch, batches } from "./batches";
import { BatchRow, CutRow, UploadRow } from "./tray-rows";

type OpenDialog = { projectId: string; Dialog: typeof CutSettingsDialog };

export default function Tray() {
  // On a phone, the tray is one line until it is opened.
  const isOpen = useSignal(!narrow.matches);
  const items = uploads.value;
  const running = batches.value;
  const open = useSignal<OpenDialog | null>(null);
  if (items.length === 0 && running.length === 0 && open.value === null) return null;
  const { title, detail } = describe(items, running);
  const own = activeUploads.value.filter(({ workspaceId: id }) => id === currentWorkspaceId());
  // An open dialog stays when the uploads are done.
  const shown = new Set([...own.map(({ projectId }) => projectId), ...(open.value ? [open.value.projectId] : [])]);
  const showDialog = async (projectId: string) => {
    try {
      const { CutSettingsDialog: Dialog } = await import("../pages/projects/cut-settings");
      open.value = { projectId, Dialog };
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <section class={`tray${isOpen.value ? " open" : ""}`} aria-label="Uploads and tasks">
      <button
        type="button"
        class="tray-head"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <b>{title}</b>
        <span class="soft number">{detail}</span>
        <Icon name={isOpen.value ? "down" : "up"} />
      </button>
      {isOpen.value && (
        <>
          <ul class="tray-list">
            {running.map((batch) => (
              <BatchRow key={batch.id} batch={batch} />
            ))}
            {items.map((item) => (
              <UploadRow key={item.id} item={item} />
            ))}
          </ul>
          {canWrite.value &&
            [...shown].map((projectId) => (
              <CutRow
                key={projectId}
                projectId={projectId}
                Dialog={open.value?.projectId === projectId ? open.value.Dialog : null}
                onOpen={() => void showDialog(projectId)}
                onClose={() => {
                  open.value = null;
                }}
              />
            ))}
        </>
      )}
    </section>
  );
}

function describe(items: readonly UploadItem[], all: readonly Batch[]): { title: string; detail: string } {
  const active = activeUploads.value;
  const batch = all.find(({ state }) => state === "running");
  if (active.length > 0) {
    const left = Math.max(...active.map(({ secondsLeft }) => secondsLeft ?? 0));
    return { title: `Uploading ${formatCount(active.length, "file")}`, detail: left > 0 ? formatRemaining(left) : "" };
  }
  if (batch) {
    const detail = batch.total === 0 ? "" : `${toNumber(batch.done)} of ${toNumber(batch.total)}`;
    return { title: batch.label, detail };
  }
  const problems =
    items.filter(({ error }) => error !== null).length + all.reduce((sum, one) => sum + one.problems.length, 0);
  if (problems > 0) return { title: formatCount(problems, "problem"), detail: "" };
  const paused = items.filter(({ state }) => state === "paused").length;
  return { title: paused > 0 ? `${formatCount(paused, "upload")} paused` : "Done", detail: "" };
}
