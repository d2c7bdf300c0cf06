/** Creates cuts. The job `cut` computes them. */

import type { CutStepParams } from "../../domain/step-params";
import type { Asset } from "../../store/assets";
import { findIdenticalCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { touchProject } from "../../store/projects";
import type { Actor } from "../access/access";
import type { CoreNeeds } from "../needs";
import { startPipeline } from "../pipelines/pipelines";
import { type CutLabel, hashCutRequest, insertNewCut, requireKeepable } from "./new-cuts";

/** `userId` null: the account was deleted. */
export type CutParams = Omit<Actor, "userId"> & { userId: string | null } & CutStepParams &
  Partial<CutLabel> & { asset: Asset };

/**
 * Returns the cut of an identical request, or creates one. Runs in a write transaction; the caller wakes the runner
 * afterwards. Errors: those of `insertNewCut`, `insufficient_credits`.
 */
export async function createCut(services: CoreNeeds, tx: Queries, request: CutParams) {
  const { asset, workspaceId, userId } = request;
  await requireKeepable(tx, asset, request);
  const same = await findIdenticalCut(tx, workspaceId, hashCutRequest(asset, request));
  if (same) return { cut: same, isNew: false };
  const cut = await insertNewCut(services, tx, request);
  const now = services.now();
  await startPipeline(services, tx, { workspaceId, userId, assetId: asset.id, name: "cut", subjectId: cut.id, now });
  await touchProject(tx, asset.project_id, now);
  return { cut, isNew: true };
}
