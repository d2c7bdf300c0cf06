/** Takes the recordings among files, and refuses those that cannot be uploaded before anything is sent. */
import { formatBytes } from "../app/format";
import { showToast } from "../app/toasts";
import { checkSizes, readLimits } from "./limits";
import { refuseUploads } from "./queue";
import { findOthers, isScript } from "./recording-types";
import { takeScripts } from "./scripts";

/**
 * Returns the recordings that may be uploaded, whose scripts are sent with them. The tray shows the refused files, and
 * a message if all files together exceed the free space. Without a response, the server decides about sizes.
 */
export async function takeRecordings(files: readonly File[]): Promise<File[]> {
  const scripts = files.filter(isScript);
  const others = await findOthers(files);
  const recordings = files.filter((file) => !isScript(file) && !others.has(file));
  const filled = recordings.filter(({ size }) => size > 0);
  refuseUploads(
    files.filter((file) => others.has(file)),
    "Not video or audio",
  );
  const empty = recordings.filter(({ size }) => size === 0);
  refuseUploads(empty, "Empty or damaged", "Copy again from the camera or recorder.");
  const limits = await readLimits().catch(() => null);
  // Scripts come last: a recording that is refused uses none.
  if (limits === null) return takeScripts([...filled, ...scripts]);
  const { kept, large, warning } = checkSizes(filled, limits);
  refuseUploads(large, `Larger than the limit of ${formatBytes(limits.max_bytes)}`);
  if (warning !== null) showToast({ kind: "info", text: warning });
  return takeScripts([...kept, ...scripts]);
}
