/** Swaps the installed executable, and puts the previous one back. */
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { linkOrCopy } from "../../blobs/backup-files";
import { flushFile } from "../../lib/atomic-file";

export const getPreviousPath = (executable: string): string => `${executable}.previous`;

/** Puts a staged file in the place of the executable, which is kept beside it. At any moment a whole executable is there. */
export async function swapExecutable(staged: string, executable: string): Promise<void> {
  await linkOrCopy(executable, getPreviousPath(executable));
  await rename(staged, executable);
  await flushFile(dirname(executable));
}

/** Puts the previous executable back in the place of the current one. */
export async function putBackExecutable(executable: string): Promise<void> {
  await rename(getPreviousPath(executable), executable);
  await flushFile(dirname(executable));
}
