/** Refuses files that are no recordings or too large before anything is sent. */
import { formatBytes } from "../app/format";
import { showToast } from "../app/toasts";
import { checkSizes, readLimits } from "./limits";
import { refuseUploads } from "./queue";
import { isRecording } from "./recording-types";

/**
 * Returns the files that may be uploaded. The tray shows those that are no recordings or too large, and a message whether all need more space than there is.
 * Without a response, the server decides.
 */
export async function keepWithinLimits(all: File[]): Promise<File[]> {
  const files = all.filter(isRecording);
  refuseUploads(
    all.filter((file) => !isRecording(file)),
    "Not a recording. Use video or audio.",
  );
  const limits = await readLimits().catch(() => null);
  if (limits === null) return files;
  const { kept, large, warning } = checkSizes(files, limits);
  refuseUploads(large, `Larger than the limit of ${formatBytes(limits.max_bytes)}.`);
  if (warning !== null) showToast({ kind: "info", text: warning });
  return kept;
}
