/** Identifies the model of unpacked files, by their checksums or by the manifest next to them. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import { hashFile } from "../../lib/hash";
import type { CatalogModel } from "./catalog";
import { MANIFEST_NAME, type ManifestDraft, type ModelFile, type ModelManifest, parseManifest } from "./manifest";

/** `unchecked` lists files without a published checksum. */
export type IdentifiedModel = { manifest: ModelManifest; unchecked: string[] };

/**
 * Identifies the model whose files are in `folder`. `ambiguous` lists names that the source has more than once. Throws
 * `AppError` `validation_error`.
 */
export async function identifyModel(
  folder: string,
  ambiguous: ReadonlySet<string>,
  catalog: readonly CatalogModel[],
): Promise<IdentifiedModel> {
  const names = await readdir(folder);
  const draft = names.includes(MANIFEST_NAME)
    ? parseManifest(await readFile(join(folder, MANIFEST_NAME), "utf8"))
    : null;
  const known = draft
    ? catalog.find((entry) => entry.name === draft.name)
    : await findBestMatch(folder, names, catalog);
  const wanted: ManifestDraft | undefined = known ?? draft ?? undefined;
  if (!wanted) {
    const expected = `the files of a model in the output of offcut models list, or files with an ${MANIFEST_NAME}`;
    throw invalidModel(`No known model found. Expected ${expected}.`);
  }
  const files: ModelFile[] = [];
  const unchecked: string[] = [];
  for (const file of wanted.files) {
    if (ambiguous.has(file.name))
      throw invalidModel(
        `${file.name} exists more than once. Unpack the right files into a folder and add the folder.`,
      );
    const found = await stat(join(folder, file.name)).catch(() => null);
    if (!found) throw invalidModel(`${wanted.name} is incomplete: ${file.name} is missing.`);
    const sha256 = found.size === (file.sizeBytes ?? found.size) ? await hashFile(join(folder, file.name)) : null;
    if (found.size === 0 || sha256 === null || (file.sha256 !== null && sha256 !== file.sha256))
      throw invalidModel(`${file.name} has an unexpected checksum: it is damaged or not a file of ${wanted.name}.`);
    if (file.sha256 === null) unchecked.push(file.name);
    files.push({ role: file.role, name: file.name, sizeBytes: found.size, sha256 });
  }
  const { name, title, kind, languages, licence, source, preference } = wanted;
  return { manifest: { name, title, kind, languages, licence, source, preference, files }, unchecked };
}

const invalidModel = (problem: string): AppError => new AppError("validation_error", problem);

/** Finds the catalog model with the most matching files: at least two by name, one of them also by size. */
async function findBestMatch(
  folder: string,
  names: string[],
  catalog: readonly CatalogModel[],
): Promise<CatalogModel | undefined> {
  const sizes = new Map<string, number>();
  for (const name of names) sizes.set(name, (await stat(join(folder, name))).size);
  const scored = catalog.map((entry) => {
    const named = entry.files.filter((file) => sizes.has(file.name)).length;
    const sized = entry.files.filter((file) => sizes.get(file.name) === file.sizeBytes).length;
    return { entry, score: named > 1 && sized > 0 ? named + sized : 0 };
  });
  return scored.sort((a, b) => b.score - a.score).find((one) => one.score > 0)?.entry;
}
