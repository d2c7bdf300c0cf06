/** Installs and removes models. A model's folder is complete or does not exist, even after an interruption. */
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError, conflict } from "../../domain/errors";
import { toStorageError } from "../../domain/storage-full";
import { flushFile, flushFolder, renameDurably } from "../../lib/atomic-file";
import { readFreeBytes } from "../../lib/disk-reserve";
import { succeeds } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import { lockFolder } from "../../lib/folder-lock";
import { hashFile } from "../../lib/hash";
import { BUILT_IN, CATALOG, type CatalogModel, findCatalogModel, sumFileBytes } from "./catalog";
import { type DownloadOptions, download } from "./download";
import { fetchModelFile, maskUrlPassword } from "./fetch-file";
import { identifyModel } from "./identify";
import { readInstalledModels } from "./installed-models";
import {
  completeManifest,
  formatManifest,
  isModelName,
  MANIFEST_NAME,
  type ModelManifest,
  parseManifest,
} from "./manifest";
import { unpackModel } from "./unpack";

export type InstallOptions = DownloadOptions & {
  /** The models folder, which is created if it does not exist. */
  modelsDir: string;
  /** A mirror that serves each file as `<mirror>/<name>/<file>`. If null, the publishers' URLs are used. */
  mirror?: string | null;
  catalog?: readonly CatalogModel[];
  /** `stage` is the current step, `share` its progress from 0 to 1. */
  onProgress?: (stage: string, share: number) => void;
};

/** `isNew` is false if the model was already installed. `unchecked` lists files without a published checksum. */
export type InstallResult = { manifest: ModelManifest; isNew: boolean; unchecked: string[] };

/** The folder for incomplete downloads. */
const PARTIAL_FOLDER = ".partial";
const NEW_FOLDER_PREFIX = ".new-";
/** Free space that must remain after a download. */
const MIN_SPARE_BYTES = 64 * 1024 ** 2;

/**
 * Downloads a model of the catalog, or a model that a mirror describes. Throws `AppError` `not_found` (unknown model),
 * `conflict` (another command is changing the models) and the errors of `download`.
 */
export function installByName(name: string, options: InstallOptions): Promise<InstallResult> {
  return withModelsLock(options.modelsDir, async () => {
    const existing = findInstalledModel(options.modelsDir, name);
    if (existing) return { manifest: existing, isNew: false, unchecked: [] };
    const { manifest, urls } = await resolveModel(name, options);
    const folder = join(options.modelsDir, PARTIAL_FOLDER, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await requireSpace(folder, sumFileBytes(manifest.files) - (await sumFolderBytes(folder)));
    const total = sumFileBytes(manifest.files);
    let before = 0;
    for (const file of manifest.files) {
      const onBytes = (bytes: number) => options.onProgress?.("download", (before + bytes) / total);
      await download({ ...file, url: urls[file.name]!, path: join(folder, file.name) }, { ...options, onBytes });
      before += file.sizeBytes;
    }
    await moveIntoPlace(folder, manifest, options.modelsDir);
    return { manifest, isNew: true, unchecked: [] };
  });
}

/**
 * Installs a model from an archive (.tar, .tar.gz, .tar.bz2) or a folder. Verifies the archive if there is a `.sha256`
 * file next to it. Throws `AppError` `validation_error` (damaged, wrong checksum, no model), `not_found`, `conflict`,
 * `storage_full`, and the signal's reason.
 */
export function installFromFile(path: string, options: InstallOptions): Promise<InstallResult> {
  return withModelsLock(options.modelsDir, async () => {
    await verifyChecksumFile(path);
    const folder = join(options.modelsDir, `${NEW_FOLDER_PREFIX}${crypto.randomUUID()}`);
    try {
      const { ambiguous } = await unpackModel(path, folder, {
        signal: options.signal,
        onProgress: (share) => options.onProgress?.("unpack", share),
      });
      options.onProgress?.("check", 0);
      const { manifest, unchecked } = await identifyModel(folder, ambiguous, options.catalog ?? CATALOG);
      options.signal?.throwIfAborted();
      const existing = findInstalledModel(options.modelsDir, manifest.name);
      if (existing && JSON.stringify(existing.files) !== JSON.stringify(manifest.files)) {
        throw conflict(`${manifest.name} is already installed with different files. Remove it first.`);
      }
      if (existing) return { manifest: existing, isNew: false, unchecked: [] };
      const needed = new Set(manifest.files.map((file) => file.name));
      for (const name of await readdir(folder)) if (!needed.has(name)) await rm(join(folder, name), { force: true });
      await moveIntoPlace(folder, manifest, options.modelsDir);
      return { manifest, isNew: true, unchecked };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Removes a model and its incomplete download. Throws `AppError` `not_found`, `conflict`. */
export function removeModel(name: string, options: Pick<InstallOptions, "modelsDir">): Promise<void> {
  return withModelsLock(options.modelsDir, async () => {
    if (name === BUILT_IN.name) throw conflict(`${name} is built in and cannot be removed.`);
    if (!isModelName(name)) throw createNotInstalledError(name);
    const partial = join(options.modelsDir, PARTIAL_FOLDER, name);
    const hadPartial = (await findFileSize(partial)) !== null;
    await rm(partial, { recursive: true, force: true });
    const folder = join(options.modelsDir, name);
    const trash = join(options.modelsDir, `${NEW_FOLDER_PREFIX}${crypto.randomUUID()}`);
    const removed = await succeeds(rename(folder, trash));
    await rm(trash, { recursive: true, force: true });
    if (!removed && !hadPartial) throw createNotInstalledError(name);
  });
}

const createNotInstalledError = (name: string): AppError =>
  new AppError("not_found", `Model "${name}" is not installed.`);

/** Runs `body` while no other command changes the models, after removing the leftovers of interrupted commands. */
async function withModelsLock<T>(modelsDir: string, body: () => Promise<T>): Promise<T> {
  try {
    await mkdir(modelsDir, { recursive: true, mode: 0o700 });
    using lock = lockFolder(modelsDir);
    if (!lock) throw conflict("Another offcut process is adding or removing a model.");
    for (const name of await readdir(modelsDir))
      if (name.startsWith(NEW_FOLDER_PREFIX)) await rm(join(modelsDir, name), { recursive: true, force: true });
    return await body();
  } catch (error) {
    throw toStorageError(error);
  }
}

function findInstalledModel(modelsDir: string, name: string): ModelManifest | null {
  return readInstalledModels(modelsDir).installed.find(({ manifest }) => manifest.name === name)?.manifest ?? null;
}

/** Returns the manifest of a model and the URLs of its files. The catalog's checksums also apply to a mirror. */
async function resolveModel(
  name: string,
  options: InstallOptions,
): Promise<{ manifest: ModelManifest; urls: Record<string, string> }> {
  if (name === BUILT_IN.name) throw conflict(`${name} is built in.`);
  if (!isModelName(name)) throw createUnknownModelError(name);
  const mirror = options.mirror?.replace(/(?<!\/)\/+$/, "") ?? null;
  const known = findCatalogModel(name, options.catalog ?? CATALOG);
  if (known && !mirror) {
    const { urls, ...manifest } = known;
    return { manifest, urls };
  }
  if (!mirror) throw createUnknownModelError(name);
  const { urls: _, ...fromCatalogue } = known ?? { urls: null };
  const manifest = known ? (fromCatalogue as ModelManifest) : await fetchManifest(name, mirror, options);
  return {
    manifest,
    urls: Object.fromEntries(manifest.files.map((file) => [file.name, `${mirror}/${name}/${file.name}`])),
  };
}

async function fetchManifest(name: string, mirror: string, options: InstallOptions): Promise<ModelManifest> {
  const url = `${mirror}/${name}/${MANIFEST_NAME}`;
  const signal = AbortSignal.any([options.signal ?? AbortSignal.timeout(60_000), AbortSignal.timeout(60_000)]);
  let text: string;
  try {
    text = await (await fetchModelFile(url, {}, signal)).text();
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AppError) throw createUnknownModelError(name);
    throw new AppError("upstream_unavailable", `${maskUrlPassword(url)} is not available.`, { cause: error });
  }
  const manifest = completeManifest(parseManifest(text));
  if (!manifest || manifest.name !== name) {
    throw new AppError(
      "upstream_error",
      `${maskUrlPassword(url)} must describe ${name}, with the size and the SHA-256 of each file.`,
    );
  }
  return manifest;
}

const createUnknownModelError = (name: string): AppError =>
  new AppError("not_found", `Unknown model "${name}". See offcut models list.`);

async function requireSpace(folder: string, neededBytes: number): Promise<void> {
  const freeBytes = await readFreeBytes(folder);
  if (freeBytes >= neededBytes + MIN_SPARE_BYTES) return;
  const mb = (bytes: number) => Math.ceil(bytes / 1e6);
  throw new AppError("storage_full", `Not enough disk space: ${mb(neededBytes)} MB needed, ${mb(freeBytes)} MB free.`);
}

async function sumFolderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;
  return bytes;
}

/** Verifies an archive against the `.sha256` file next to it, if any, in the format of sha256sum. */
async function verifyChecksumFile(path: string): Promise<void> {
  const checksums = await readFile(`${path}.sha256`, "utf8").catch(() => null);
  if (checksums === null || !(await stat(path).catch(() => null))?.isFile()) return;
  const name = basename(path);
  const lines = checksums.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((text) => text.endsWith(name)) ?? (lines.length === 1 ? lines[0] : undefined);
  const expected = /^\\?([0-9a-f]{64})\b/i.exec(line?.trim() ?? "")?.[1]?.toLowerCase();
  if (!expected) throw new AppError("validation_error", `${name}.sha256 has no checksum for ${name}.`);
  if ((await hashFile(path)) !== expected) {
    throw new AppError("validation_error", `${name} is damaged: its checksum differs from ${name}.sha256.`);
  }
}

/** Writes the manifest, flushes all files to disk and renames the folder to its final name. */
async function moveIntoPlace(folder: string, manifest: ModelManifest, modelsDir: string): Promise<void> {
  await Bun.write(join(folder, MANIFEST_NAME), formatManifest(manifest));
  for (const name of await readdir(folder)) await flushFile(join(folder, name));
  await flushFolder(folder);
  const target = join(modelsDir, manifest.name);
  // A folder with this name can only be a damaged model.
  await rm(target, { recursive: true, force: true });
  await renameDurably(folder, target);
}
