/** Starts the jobs that create previews. */
import { findAssetById } from "../../store/assets";
import type { Queries } from "../../store/db";
import { listOpenSteps } from "../../store/steps";
import type { ConfigNeeds } from "../needs";
import { startPipeline } from "../pipelines/pipelines";

/** Starts the preview of a ready asset, unless the asset has a running job. `userId` null: no user requested it. */
export async function startPreview(
  services: ConfigNeeds,
  tx: Queries,
  assetId: string,
  { userId, now }: { userId: string | null; now: number },
): Promise<void> {
  const asset = await findAssetById(tx, assetId);
  if (asset?.state !== "ready" || asset.kind !== "source") return;
  if ((await listOpenSteps(tx, [asset.id])).length > 0) return;
  const start = { workspaceId: asset.workspace_id, userId, assetId: asset.id, now };
  await startPipeline(services, tx, { ...start, name: "preview", subjectId: asset.id });
}
