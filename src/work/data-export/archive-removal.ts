/** Removes the archives of expired exports. */
import { discard } from "../../blobs/trash";
import { type DataExport, findDataExport, listReadyExports } from "../../store/data-exports";
import type { CoreNeeds } from "../needs";
import { changeDataExport } from "./requests";

/** Expires these exports, and removes their archives. */
export async function expireExports({ folders, store }: CoreNeeds, rows: DataExport[]): Promise<void> {
  if (rows.length === 0) return;
  await folders.guard.confirmOnline();
  for (const { id } of rows) await store.write((tx) => changeDataExport(tx, id, "ready", { state: "expired" }));
  await discard(
    folders,
    rows.map(({ id }) => folders.exportArchive(id)),
  );
}

/** Expires exports whose archive does not exist, as after a backup without the archives was restored. */
export async function expireLostExports(services: CoreNeeds): Promise<void> {
  const lost: DataExport[] = [];
  for (const row of await listReadyExports(services.store.read)) {
    if (!(await Bun.file(services.folders.exportArchive(row.id)).exists())) lost.push(row);
  }
  await expireExports(services, lost);
}

/** Removes a user's archive. A running export removes its own if the user no longer exists. */
export async function removeArchive({ folders, store }: CoreNeeds, userId: string): Promise<void> {
  const ready = await findDataExport(store.read, userId, "ready");
  if (ready) await discard(folders, [folders.exportArchive(ready.id)]);
}
