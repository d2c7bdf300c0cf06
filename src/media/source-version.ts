/** Versions of a source file, for the names of files that are made from it. */
import { stat } from "node:fs/promises";
import { findIncompleteFile } from "./packets/incomplete-files";

/** Tells versions of a source apart. Copies on other machines keep the modification time in whole seconds only. */
export type SourceVersion = { bytes: number; modifiedAt: number };

/** Returns the version of a source. Throws when it is missing. */
export async function getSourceVersion(path: string): Promise<SourceVersion> {
  const incomplete = findIncompleteFile(path);
  if (incomplete !== null) return { bytes: incomplete.bytes, modifiedAt: incomplete.modifiedAt };
  const { size, mtimeMs } = await stat(path);
  return { bytes: size, modifiedAt: Math.floor(mtimeMs / 1_000) };
}
