/** The work of this tab: uploads and actions on many recordings, docked at the bottom right. */
import { useSignal } from "@preact/signals";
import { useKept } from "../app/cache";
import { toNumber } from "../app/english";
import { formatCount, formatRemaining, formatShare } from "../app/format";
import { narrow } from "../app/narrow";
import { canWrite, currentWorkspaceId } from "../app/session";
import { useProject } from "../app/shared-reads";
import { showFailure } from "../app/toasts";
import { MODE_NAMES } from "../editor/versions/name-version";
import type { CutSettingsDialog } from "../pages/projects/cut-settings";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { keepFocus } from "../ui/page";
import { CreditsLink } from "../ui/states";
import { activeUploads, cancelUpload, continueUpload, pauseUpload, type UploadItem, uploads } from "../upload/queue";
import { isNamedAsAudio } from "../upload/recording-types";
import { type Batch, batches, closeBatch, retryBatch, stopBatch } from "./batches";

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

/** "34% · 2 min left" */
function describeUpload({ state, sentBytes, sizeBytes, secondsLeft, isResumed }: UploadItem): string {
  const share = formatShare(sentBytes / Math.max(1, sizeBytes));
  switch (state) {
    case "waiting":
      return "Next";
    case "paused":
      return `Paused · ${share}`;
    case "retrying":
      return "Connection lost, trying again";
    case "finished":
      return "Uploaded";
    default:
      return [share, secondsLeft === null ? isResumed && "continued" : formatRemaining(secondsLeft)]
        .filter(Boolean)
        .join(" · ");
  }
}

function UploadRow({ item }: { item: UploadItem }) {
  const { id, name, state, error } = item;
  const isBad = error !== null;
  return (
    <li class={isBad ? "bad" : undefined}>
      <Icon name={isBad ? "warning" : state === "finished" ? "check" : isNamedAsAudio(item) ? "audio" : "film"} />
      <span class="tray-text">
        <b class="truncate" title={name} dir="auto">
          {name}
        </b>
        {isBad ? (
          <span role="alert">
            {error} {item.needsCredits && <CreditsLink />}
          </span>
        ) : (
          <span class="soft number">{describeUpload(item)}</span>
        )}
        {!isBad && (
          <progress class="progress" aria-label={`Upload of ${name}`} max={item.sizeBytes} value={item.sentBytes} />
        )}
      </span>
      {(state === "uploading" || state === "retrying") && (
        <IconButton icon="pause" label={`Pause ${name}`} onClick={() => pauseUpload(id)} />
      )}
      {state === "paused" && <IconButton icon="play" label={`Continue ${name}`} onClick={() => continueUpload(id)} />}
      {state === "failed" && item.canRetry && <Button onClick={() => continueUpload(id)}>Try again</Button>}
      {state !== "finished" && (
        <IconButton
          icon="close"
          label={state === "refused" ? `Close ${name}` : `Cancel ${name}`}
          onClick={() => void cancelUpload(id)}
        />
      )}
    </li>
  );
}

type CutRowProps = { projectId: string; Dialog: typeof CutSettingsDialog | null; onOpen(): void; onClose(): void };

/** Whether new recordings of a project are cut, and how. `Dialog`: the dialog of the setting while it is open. */
function CutRow({ projectId, Dialog, onOpen, onClose }: CutRowProps) {
  const project = useProject(projectId);
  // A failed reading leaves the row, and its open dialog.
  const state = useKept(project.state.value, projectId);
  if (state.kind !== "ready") return null;
  const { name, cut_after_upload: cut } = state.value;
  return (
    <>
      <div class="tray-cut">
        <span class="tray-text">
          <b class="truncate" title={name} dir="auto">
            {name}
          </b>
          <span class="soft">
            {cut === null ? "New recordings are not cut" : `New recordings are cut: ${MODE_NAMES[cut.mode]}`}
          </span>
        </span>
        <Button look="quiet" aria-label={`Change how ${name} is cut`} onClick={onOpen}>
          Change
        </Button>
      </div>
      {Dialog && <Dialog project={state.value} onChange={() => void project.reload()} onClose={onClose} />}
    </>
  );
}

const MAX_SHOWN = 3;

/** "3 of 4", and at the end "3 of 4 done · 2 problems": a recording can have several. */
function describeBatch({ total, done, state, problems }: Batch): string {
  const failed = new Set(problems.flatMap(({ id }) => id ?? [])).size;
  const share = (count: number) => `${toNumber(count)} of ${toNumber(total)}`;
  if (total === 0) return "Nothing has been uploaded yet";
  if (state === "running") return share(done);
  if (state === "stopped") return `Stopped after ${share(done)}`;
  if (problems.length === 0) return `Done: ${toNumber(total)}`;
  return `${share(Math.max(0, done - failed))} done · ${formatCount(problems.length, "problem")}`;
}

function BatchRow({ batch }: { batch: Batch }) {
  const { id, label, total, done, state, rest, problems } = batch;
  return (
    <li class={problems.length > 0 ? "bad" : undefined}>
      <Icon name={problems.length > 0 ? "warning" : state === "done" ? "check" : "jobs"} />
      <span class="tray-text">
        <b class="truncate">{label}</b>
        <span class="soft number" role="status">
          {describeBatch(batch)}
        </span>
        {problems.slice(0, MAX_SHOWN).map((problem, index) => (
          <span key={index} role="alert" dir="auto">
            {problem.name}: {problem.message}
          </span>
        ))}
        {problems.length > MAX_SHOWN && <span>and {toNumber(problems.length - MAX_SHOWN)} more</span>}
        {state === "running" && (
          <progress class="progress" aria-label={label} {...(total > 0 && { max: total, value: done })} />
        )}
      </span>
      {batch.retry !== null && (
        <Button
          aria-label={`Try again: ${label}`}
          onClick={() => {
            retryBatch(batch);
            keepFocus();
          }}
        >
          Try again
        </Button>
      )}
      {state === "running" && rest !== "server" ? (
        <IconButton icon="close" label={`Stop: ${label}`} onClick={() => stopBatch(id)} />
      ) : (
        <IconButton icon="close" label={`Close: ${label}`} onClick={() => closeBatch(id)} />
      )}
    </li>
  );
}
