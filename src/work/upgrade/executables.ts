/** Swaps the installed executable, and restores the previous one. */
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { linkOrCopy } from "../../blobs/backup-files";
import { flushFile } from "../../lib/atomic-file";

export const getPreviousPath = (executable: string): string => `${executable}.previous`;

/** Replaces the executable with a staged file, and keeps the old one. The path has a whole executable at any time. */
export async function swapExecutable(staged: string, executable: string): Promise<void> {
  await linkOrCopy(executable, getPreviousPath(executable));
  await rename(staged, executable);
  await flushFile(dirname(executable));
}

/** Replaces the current executable with the previous one. */
export async function putBackExecutable(executable: string): Promise<void> {
  await rename(getPreviousPath(executable), executable);
  await flushFile(dirname(executable));
}
