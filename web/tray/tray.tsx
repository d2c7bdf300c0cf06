/** What runs in this tab: uploads and actions on many recordings, docked at the bottom right. */
import { useSignal } from "@preact/signals";
import { toNumber } from "../app/english";
import { formatCount, formatRemaining } from "../app/format";
import { narrow } from "../app/narrow";
import { canWrite, currentWorkspaceId } from "../app/session";
import { Icon } from "../ui/icon";
import { activeUploads, type UploadItem, uploads } from "../upload/queue";
import { type Batch, batches } from "./batches";
import { BatchRow, CutSwitch, UploadRow } from "./tray-rows";

export default function Tray() {
  // On a phone, the tray is one line until it is opened.
  const isOpen = useSignal(!narrow.matches);
  const items = uploads.value;
  const running = batches.value;
  if (items.length === 0 && running.length === 0) return null;
  const { title, detail } = describe(items, running);
  const projectId = activeUploads.value.find(({ workspaceId: id }) => id === currentWorkspaceId())?.projectId;
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
          {projectId !== undefined && canWrite.value && <CutSwitch key={projectId} projectId={projectId} />}
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
  if (batch) return { title: batch.label, detail: `${toNumber(batch.done)} of ${toNumber(batch.total)}` };
  const problems =
    items.filter(({ error }) => error !== null).length + all.reduce((sum, one) => sum + one.problems.length, 0);
  if (problems > 0) return { title: formatCount(problems, "problem"), detail: "" };
  const paused = items.filter(({ state }) => state === "paused").length;
  return { title: paused > 0 ? `${formatCount(paused, "upload")} paused` : "Done", detail: "" };
}
