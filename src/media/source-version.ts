/** Identifies versions of a source file, for the names of files derived from it. */
import { stat } from "node:fs/promises";
import { findIncompleteFile } from "./packets/incomplete-files";

/** Distinguishes versions of a source. Copies on other machines keep the modification time only in whole seconds. */
export type SourceVersion = { bytes: number; modifiedAt: number };

/** Returns the version of a source. Throws if it is missing. */
export async function getSourceVersion(path: string): Promise<SourceVersion> {
  const incomplete = findIncompleteFile(path);
  if (incomplete !== null) return { bytes: incomplete.bytes, modifiedAt: incomplete.modifiedAt };
  const { size, mtimeMs } = await stat(path);
  return { bytes: size, modifiedAt: Math.floor(mtimeMs / 1_000) };
}
