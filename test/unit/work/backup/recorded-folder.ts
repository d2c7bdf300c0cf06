/** A data folder with an account, a recording, an unfinished upload and a render, as a server leaves it. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createFolderGuard } from "../../../../src/blobs/folder-guard";
import { type Folders, getFolders } from "../../../../src/blobs/folders";
import { formatMarker, MEDIA_MARKER_NAME } from "../../../../src/domain/media-folder";
import { newId } from "../../../../src/lib/ids";
import type { Store } from "../../../../src/store/db";
import { insertRender } from "../../../../src/store/renders";
import { type BackupReport, createBackup } from "../../../../src/work/backup/create-backup";
import { createMigratedStore } from "../../../migrated-database";
import { temporaryFolder } from "../../../temporary-folder";
import { addAsset, addUser } from "../../store/test-store";

export type RecordedFolder = AsyncDisposable & {
  /** Holds the data folder and the backups. */
  root: string;
  data: string;
  folders: Folders;
  store: Store;
  assetId: string;
  uploadId: string;
  renderId: string;
  /** Writes a backup to `backups/` below `root`, an hour after the one before. */
  backup(options?: { hasMedia?: boolean }): Promise<BackupReport>;
};

export const FOLDER_ID = "0190aaaa-0000-7000-8000-00000000f01d";
export const SOURCE_BYTES = "the bytes of a recording";

/** `hasMediaFolder`: the media is in `nas/media/` below `root`, and both folders have markers. */
export async function recordedFolder({ hasMediaFolder = false } = {}): Promise<RecordedFolder> {
  const temporary = await temporaryFolder();
  const data = join(temporary.path, "data");
  await mkdir(data);
  const media = join(temporary.path, "nas", "media");
  const guard = createFolderGuard([{ path: join(media, MEDIA_MARKER_NAME), id: FOLDER_ID, setting: "media_dir" }]);
  const folders = hasMediaFolder ? getFolders(data, media, guard) : getFolders(data);
  if (hasMediaFolder) await Bun.write(join(media, MEDIA_MARKER_NAME), formatMarker(FOLDER_ID));
  const store = await createMigratedStore(join(data, "offcut.db"));
  const secrets = { links: "secret", ...(hasMediaFolder ? { folder_id: FOLDER_ID } : {}) };
  await Bun.write(join(data, "secrets.json"), JSON.stringify(secrets));
  const renderId = newId();
  const [asset, upload] = await store.write(async (tx) => {
    const owner = await addUser(tx);
    const asset = await addAsset(tx, owner, { state: "ready" });
    await insertRender(tx, {
      id: renderId,
      workspace_id: owner.workspaceId,
      asset_id: asset.id,
      state: "completed",
      output: {} as never,
      resolved: {} as never,
      request_hash: "hash",
      created_at: 0,
    });
    return [asset, await addAsset(tx, owner, { state: "pending_upload" })];
  });
  await Bun.write(folders.media(asset.id).source, SOURCE_BYTES);
  await Bun.write(folders.media(asset.id).poster, "poster");
  await Bun.write(folders.upload(upload.id), "first ha");
  await Bun.write(folders.renderOutput(renderId, "mp4"), "render");
  let time = Date.UTC(2027, 0, 31, 2);
  return {
    root: temporary.path,
    data,
    folders,
    store,
    assetId: asset.id,
    uploadId: upload.id,
    renderId,
    backup: ({ hasMedia = true } = {}) => {
      time += 3_600_000;
      const target = join(temporary.path, "backups");
      return createBackup({ store, folders, now: () => time }, { target, hasMedia }, new AbortController().signal);
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await temporary[Symbol.asyncDispose]();
    },
  };
}
