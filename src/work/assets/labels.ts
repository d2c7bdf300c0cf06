/** Changes the properties of assets that users can set: name, tags, note and project. */
import { conflict, requireFound } from "../../domain/errors";
import { type Asset, findAsset, moveAsset, updateAsset } from "../../store/assets";
import type { Queries } from "../../store/db";
import { findProject, touchProject } from "../../store/projects";
import type { CoreNeeds } from "../needs";
import { requireRoomForText } from "../storage/limits";

export type AssetLabel = Pick<Asset, "name" | "tags" | "note">;

/** Missing parts stay as they are. */
export type AssetChange = Partial<AssetLabel> & { projectId?: string };

/**
 * Changes an asset. Its outputs move with it. Errors: `not_found` (the asset, or the project in its workspace),
 * `conflict` (an archived project, quota).
 */
export const changeAsset = (services: CoreNeeds, { id, workspace_id }: Asset, { projectId, ...label }: AssetChange) =>
  services.store.write(async (tx) => {
    const old = requireFound(await findAsset(tx, workspace_id, id), "Asset");
    if (projectId !== undefined && projectId !== old.project_id) {
      await requireMoveTarget(tx, workspace_id, projectId);
      await moveAsset(tx, id, projectId);
      for (const project of [old.project_id, projectId]) await touchProject(tx, project, services.now());
    }
    if (Object.keys(label).length > 0) {
      await requireRoomForText(services, tx, workspace_id, listTexts({ ...old, ...label }), listTexts(old));
      await updateAsset(tx, id, label);
    }
    return requireFound(await findAsset(tx, workspace_id, id), "Asset");
  });

async function requireMoveTarget(tx: Queries, workspaceId: string, projectId: string): Promise<void> {
  const project = requireFound(await findProject(tx, workspaceId, projectId), "Project");
  if (project.state === "archived") throw conflict("Project is archived and accepts no new assets.");
}

/** Returns the columns that count as storage. */
const listTexts = ({ name, tags, note }: AssetLabel) => [name, JSON.stringify(tags), note];
