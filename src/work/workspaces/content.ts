/** Deletes the content of a workspace in pieces, so that other requests do not wait. Can be repeated after a crash. */
import { eraseFiles } from "../../blobs/trash";
import { deleteWorkspaceRows, listProjectFileIds, listProjectIds } from "../../store/purge";
import { removeProject } from "../assets/deletion";
import type { PipelineNeeds } from "../pipelines/pipelines";

/** Rows to delete per transaction. */
const ROWS_PER_TRANSACTION = 500;

/**
 * Deletes the projects, pipelines, events and webhook endpoints of a workspace, with their files. `signal` stops it between two pieces. `isErased`:
 * the files are deleted at once instead of being kept in the trash. They go before the rows, so that after a crash their IDs are still known.
 */
export async function removeWorkspaceContent(
  services: PipelineNeeds,
  workspaceId: string,
  signal: AbortSignal,
  { isErased = false } = {},
): Promise<void> {
  const { folders, store } = services;
  for (const id of await listProjectIds(store.read, workspaceId)) {
    signal.throwIfAborted();
    const files = new Set(isErased ? await listProjectFileIds(store.read, id) : []);
    await eraseFiles(folders, files);
    await removeProject(services, id);
    // Files of jobs that were still running.
    await eraseFiles(folders, files);
  }
  const deleteRows = () => store.write((tx) => deleteWorkspaceRows(tx, workspaceId, ROWS_PER_TRANSACTION));
  while (await deleteRows()) signal.throwIfAborted();
}
