/** Deletes what is in a workspace, piece by piece, so that other requests do not wait. After a crash in between it can be run again. */
import { deleteWorkspaceRows, listProjectIds } from "../store/purge";
import { type DeletionServices, removeProject } from "./deletion";

/** Rows that one transaction deletes. */
const ROWS_PER_TRANSACTION = 500;

/** Deletes the projects, pipelines, events and webhook endpoints of a workspace, with their files. `signal` stops it between two pieces. */
export async function removeWorkspaceContent(
  services: DeletionServices,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> {
  for (const id of await listProjectIds(services.store.read, workspaceId)) {
    signal.throwIfAborted();
    await removeProject(services, id);
  }
  const deleteRows = () => services.store.write((tx) => deleteWorkspaceRows(tx, workspaceId, ROWS_PER_TRANSACTION));
  while (await deleteRows()) signal.throwIfAborted();
}
