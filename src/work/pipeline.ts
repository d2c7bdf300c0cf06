/** Pipelines: steps that run one after the other. Each request of the public API is a pipeline of one step. */
import type { JobName } from "../domain/jobs";
import { newId } from "../lib/ids";
import type { Queries } from "../store/db";
import { insertPipeline } from "../store/steps";

/** Inserts a pipeline of one step. `userId`: who started it, null if that account does not exist any more. */
export async function startPipeline(
  tx: Queries,
  start: { workspaceId: string; userId: string | null; assetId: string; name: JobName; subjectId: string; now: number },
): Promise<void> {
  const pipelineId = newId();
  await insertPipeline(
    tx,
    {
      id: pipelineId,
      workspace_id: start.workspaceId,
      state: "pending",
      input_asset_id: start.assetId,
      created_by: start.userId,
      created_at: start.now,
    },
    [
      {
        id: newId(),
        pipeline_id: pipelineId,
        workspace_id: start.workspaceId,
        step_order: 0,
        processor_name: start.name,
        state: "pending",
        subject_id: start.subjectId,
        input_asset_id: start.assetId,
        run_after: start.now,
        created_at: start.now,
      },
    ],
  );
}
