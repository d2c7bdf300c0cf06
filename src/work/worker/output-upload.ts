/** Sends the files of an execution to the head: in parts, from where the head has them after a broken connection, with their SHA-256. */
import { stat } from "node:fs/promises";
import type { SentFile } from "../../domain/worker-messages";
import { hashFile } from "../../lib/hash";
import { HeadError, HeadUnreachableError, type RemoteExecution, waitBeforeRetry } from "../../outbound/head";

type Upload = Pick<RemoteExecution, "getOutputOffset" | "writeOutput">;

const PART_BYTES = 8 * 1024 * 1024;
const MAX_CONFLICTS = 5;
const CONFLICT = 409;

/**
 * Sends a file and returns what was sent. Errors: `HeadError`; the signal's reason when aborted; a plain `Error` when the file changes
 * meanwhile or the head loses it repeatedly. `partBytes` is for tests.
 */
export async function sendFile(
  remote: Upload,
  file: { name: string; path: string },
  signal: AbortSignal,
  partBytes = PART_BYTES,
): Promise<SentFile> {
  const { size } = await stat(file.path);
  const [sha256] = await Promise.all([hashFile(file.path), sendParts(remote, { ...file, size, partBytes }, signal)]);
  if ((await stat(file.path)).size !== size) throw new Error(`${file.name} was written while it was sent.`);
  return { name: file.name, bytes: size, sha256 };
}

type SizedFile = { name: string; path: string; size: number; partBytes: number };

async function sendParts(remote: Upload, file: SizedFile, signal: AbortSignal): Promise<void> {
  const { name, path, size, partBytes } = file;
  const content = Bun.file(path);
  let offset = 0;
  let isComplete = false;
  let failures = 0;
  let conflicts = 0;
  while (!isComplete) {
    try {
      const body = content.slice(offset, Math.min(offset + partBytes, size));
      const next = await remote.writeOutput(name, { offset, total: size, body }, signal);
      if (next > offset) [failures, conflicts] = [0, 0];
      else if (size > 0) conflicts++;
      offset = next;
      isComplete = offset === size;
    } catch (error) {
      const isConflict = error instanceof HeadError && error.status === CONFLICT;
      if (!(isConflict || error instanceof HeadUnreachableError)) throw error;
      if (isConflict) conflicts++;
      else await waitBeforeRetry(failures++, signal);
      offset = await remote.getOutputOffset(name, signal);
      // All bytes have arrived, but the last response was lost.
      isComplete = offset === size && size > 0;
    }
    if (offset > size) throw new Error(`The head has more bytes of ${name} than the file.`);
    if (conflicts > MAX_CONFLICTS) throw new Error(`The head accepts no more bytes of ${name}.`);
  }
}
