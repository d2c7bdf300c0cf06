/** Tells which model unpacked files are, by their checksums or by the manifest that came with them. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import { hashFile } from "../../lib/hash";
import type { CatalogModel } from "./catalog";
import { MANIFEST_NAME, type ManifestDraft, type ModelFile, type ModelManifest, parseManifest } from "./manifest";

/** `unchecked`: files whose checksum nobody stated. */
export type IdentifiedModel = { manifest: ModelManifest; unchecked: string[] };

/**
 * The model whose files are in `folder`. `ambiguous` are names that stood in the source twice. Errors: `AppError` `validation_error`.
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
    const with_ = `the files of a model that offcut models list names, or a ${MANIFEST_NAME} beside them`;
    throw new AppError("validation_error", `There is no model in it that is known here: it must hold ${with_}.`);
  }
  const files: ModelFile[] = [];
  const unchecked: string[] = [];
  for (const file of wanted.files) {
    if (ambiguous.has(file.name)) {
      throw new AppError(
        "validation_error",
        `There are several files ${file.name} in it: unpack the right one into a folder.`,
      );
    }
    const found = await stat(join(folder, file.name)).catch(() => null);
    if (!found) throw new AppError("validation_error", `${wanted.name} is not whole: ${file.name} is missing.`);
    const sha256 = found.size === (file.sizeBytes ?? found.size) ? await hashFile(join(folder, file.name)) : null;
    if (found.size === 0 || sha256 === null || (file.sha256 !== null && sha256 !== file.sha256)) {
      throw new AppError(
        "validation_error",
        `This is not ${wanted.name} as it should be: ${file.name} has another checksum.`,
      );
    }
    if (file.sha256 === null) unchecked.push(file.name);
    files.push({ role: file.role, name: file.name, sizeBytes: found.size, sha256 });
  }
  const { name, title, kind, languages, licence, source, preference } = wanted;
  return { manifest: { name, title, kind, languages, licence, source, preference, files }, unchecked };
}

/** The model of the catalog that has most of its files here by name and size: at least two by name, and one of them by size. */
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
