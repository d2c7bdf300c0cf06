/** Ended pipelines of one step, written to the database: more, and with other ends, than a test can wait for. */
import { newId } from "../../src/lib/ids";
import { insertPipeline } from "../../src/store/pipelines";
import type { Client } from "../http/client";
import type { Harness } from "../http/harness";

type JobEnd = {
  state: "completed" | "failed" | "cancelled";
  name?: "prepare" | "cut" | "render";
  assetId?: string;
  error?: { code: string; message: string };
};

/**
 * Writes pipelines of the user's workspace, or of one that the user has made, the last one as the newest. Returns their
 * IDs.
 */
export function insertEndedJobs(
  server: Harness,
  { userId: workspaceId }: Pick<Client, "userId">,
  ends: JobEnd[],
  creator = workspaceId,
): Promise<string[]> {
  const { store, now } = server.services();
  const time = now();
  return store.write(async (tx) => {
    const ids: string[] = [];
    for (const { state, name = "cut", assetId = null, error } of ends) {
      const id = newId();
      const ended = { state, created_at: time, started_at: time, finished_at: time, input_asset_id: assetId };
      const step = { id: newId(), pipeline_id: id, workspace_id: workspaceId, step_order: 0, processor_name: name };
      const problem = { error_code: error?.code ?? null, error_message: error?.message ?? null };
      await insertPipeline(tx, { id, workspace_id: workspaceId, created_by: creator, ...ended }, [
        { ...step, ...ended, ...problem },
      ]);
      ids.push(id);
    }
    return ids;
  });
}
