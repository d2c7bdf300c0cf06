/** Takes the recordings among files, and refuses those that cannot be uploaded before anything is sent. */
import { formatBytes, formatCount } from "../app/format";
import { currentWorkspaceId, toWorkspaceHeader, type WorkspaceHeader, workspace } from "../app/session";
import { showToast } from "../app/toasts";
import { addBatch, closeBatch, endBatch } from "../tray/batches";
import { checkSizes, readLimits } from "./limits";
import { refuseUploads } from "./queue";
import { findOthers, isScript } from "./recording-types";
import { takeScripts } from "./scripts";

/**
 * The check of files before their upload: everything until the first question, or the upload. It stays in the workspace
 * in which the user gave the files.
 */
export type FileCheck = {
  workspaceId: string | null;
  /** Name the workspace, the personal one too: calls without them are for the one that pages show. */
  headers: WorkspaceHeader;
  /** Aborted when the user cancels the check. */
  signal: AbortSignal;
  /** Removes the check from the tray. */
  end(): void;
};

/** Shows in the tray that files are checked. `count`: their number, null while it is unknown. */
export function startCheck(count: number | null): FileCheck {
  const { id, signal } = addBatch(`Checking ${count === null ? "files" : formatCount(count, "file")}…`, 0);
  const end = () => {
    endBatch(id);
    closeBatch(id);
  };
  signal.addEventListener("abort", end);
  return { workspaceId: currentWorkspaceId(), headers: toWorkspaceHeader(workspace.peek()?.id ?? null), signal, end };
}

/**
 * Returns the recordings that may be uploaded, whose scripts are sent with them. The tray shows the refused files, and
 * a message if all files together exceed the free space. Without a response, the server decides about sizes. Throws the
 * reason of the signal.
 */
export async function takeRecordings(files: readonly File[], { headers, signal }: FileCheck): Promise<File[]> {
  signal.throwIfAborted();
  const scripts = files.filter(isScript);
  const others = await findOthers(files);
  const limits = await readLimits(signal, headers).catch(() => null);
  signal.throwIfAborted();
  const recordings = files.filter((file) => !isScript(file) && !others.has(file));
  const filled = recordings.filter(({ size }) => size > 0);
  refuseUploads(
    files.filter((file) => others.has(file)),
    "Not video or audio",
  );
  const empty = recordings.filter(({ size }) => size === 0);
  refuseUploads(empty, "Empty or damaged", "Copy the file again from the camera or recorder.");
  // Scripts come last: a recording that is refused uses none.
  if (limits === null) return takeScripts([...filled, ...scripts]);
  const { kept, large, warning } = checkSizes(filled, limits);
  refuseUploads(large, `Larger than the limit of ${formatBytes(limits.max_bytes)}`);
  if (warning !== null) showToast({ kind: "info", text: warning });
  return takeScripts([...kept, ...scripts]);
}
