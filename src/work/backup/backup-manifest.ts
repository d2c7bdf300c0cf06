/** Reads the manifest of a backup in a folder. */
import { join } from "node:path";
import { type BackupManifest, MANIFEST_NAME, parseManifest } from "../../domain/backup";
import { AppError } from "../../domain/errors";

/** A manifest has about 200 bytes for each file. */
const MAX_MANIFEST_BYTES = 1024 ** 3;

/** Reads the manifest of a backup. Throws `AppError` `bad_request` when the folder is not one. */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const file = Bun.file(join(folder, MANIFEST_NAME));
  if (!(await file.exists()))
    throw new AppError("bad_request", `${folder} is not a backup: it has no ${MANIFEST_NAME}.`);
  if (file.size > MAX_MANIFEST_BYTES)
    throw new AppError("bad_request", `${folder} is not a valid backup: ${MANIFEST_NAME} is too large.`);
  try {
    return parseManifest(await file.text());
  } catch (error) {
    throw new AppError("bad_request", `${folder} is not a valid backup: ${(error as Error).message}`);
  }
}
