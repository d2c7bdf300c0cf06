/** A data folder with an account, a recording, an unfinished upload and a render, as a server leaves it. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Folders, getFolders } from "../../../../src/blobs/folders";
import { newId } from "../../../../src/lib/ids";
import { openStore, type Store } from "../../../../src/store/db";
import { migrate } from "../../../../src/store/migrate";
import { insertRender } from "../../../../src/store/renders";
import { type BackupReport, createBackup } from "../../../../src/work/backup/create-backup";
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

export const SOURCE_BYTES = "the bytes of a recording";

export async function recordedFolder(): Promise<RecordedFolder> {
  const temporary = await temporaryFolder();
  const data = join(temporary.path, "data");
  await mkdir(data);
  const folders = getFolders(data);
  const store = await openStore(join(data, "offcut.db"));
  await migrate(store);
  await Bun.write(join(data, "secrets.json"), '{"links":"secret"}');
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
