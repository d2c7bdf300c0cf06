/** The media files of an export: the recordings and the rendered files of a user. */
import { constants, type FileHandle, open } from "node:fs/promises";
import { createUniqueNames, getRenderFileName } from "../../domain/file-names";
import { ignoreMissing } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import type { ZipWriter } from "../../lib/zip-writer";
import { findAssetById } from "../../store/assets";
import { EXPORTED_ROWS } from "../../store/exported-rows";
import type { CoreNeeds } from "../needs";

/** A media file. `name` is its path in the archive. */
type MediaFile = { subject: { asset_id: string } | { render_id: string }; name: string; path: string };

const CHUNK_BYTES = 1024 * 1024;

/** Lists the files of uploads that have arrived, and of completed renders. */
async function* listMediaFiles({ folders, store }: CoreNeeds, userId: string): AsyncGenerator<MediaFile> {
  const nameSource = createUniqueNames();
  for await (const assets of EXPORTED_ROWS.assets(store.read, userId)) {
    for (const asset of assets) {
      // The output of a cut or a render has no file of its own.
      const isOutput = asset.cut_id !== null || asset.render_id !== null;
      if (isOutput || asset.state === "pending_upload") continue;
      const name = nameSource(asset.filename ?? `asset.${asset.extension ?? "bin"}`);
      yield { subject: { asset_id: asset.id }, name: `media/sources/${name}`, path: folders.media(asset.id).source };
    }
  }
  const nameRender = createUniqueNames();
  for await (const renders of EXPORTED_ROWS.renders(store.read, userId)) {
    for (const render of renders) {
      if (render.state !== "completed") continue;
      const source = await findAssetById(store.read, render.asset_id);
      const name = nameRender(getRenderFileName(render, source?.filename));
      const path = folders.renderOutput(render.id, render.resolved.format);
      yield { subject: { render_id: render.id }, name: `media/renders/${name}`, path };
    }
  }
}

/** Returns the size of the media in an export, in bytes. */
export async function measureMediaFiles(services: CoreNeeds, userId: string, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const { path } of listMediaFiles(services, userId)) {
    signal.throwIfAborted();
    bytes += (await findFileSize(path)) ?? 0;
  }
  return bytes;
}

/** Adds the media to an archive, uncompressed. Returns the entry of each file in `media.json`, as JSON texts. */
export async function addMediaFiles(
  services: CoreNeeds,
  zip: ZipWriter,
  userId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const described: string[] = [];
  const buffer = new Uint8Array(CHUNK_BYTES);
  for await (const { subject, name, path } of listMediaFiles(services, userId)) {
    signal.throwIfAborted();
    const file = await services.folders.guard.readOnline(() => openFile(path));
    const size =
      file &&
      (await file
        .stat()
        .then(({ mtimeMs }) =>
          zip.add({ name, modifiedAt: mtimeMs, isCompressed: false }, readChunks(file, signal, buffer)),
        )
        .finally(() => file.close()));
    // A file that was deleted after its row was read does not stop the export.
    described.push(JSON.stringify({ ...subject, file: file && name, size_bytes: size, is_missing: file === null }));
  }
  return described;
}

/** Opens a file for reading; null if it does not exist. If it is deleted, it can still be read to its end. */
export const openFile = (path: string): Promise<FileHandle | null> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(ignoreMissing);

/** Yields the bytes of a file. With `buffer`, each chunk is valid only until the next one is read. */
export async function* readChunks(
  file: FileHandle,
  signal: AbortSignal,
  buffer: Uint8Array | null = null,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const target = buffer ?? new Uint8Array(CHUNK_BYTES / 16);
    const { bytesRead } = await file.read(target, 0, target.byteLength, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield target.subarray(0, bytesRead);
  }
}
