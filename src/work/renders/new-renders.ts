/** Inserts renders. The caller has to start them, as steps of a pipeline. */
import { AppError, conflict, invalidField } from "../../domain/errors";
import type { ResolvedOutput } from "../../domain/media";
import type { OutputJson } from "../../domain/render-output";
import { type OutputRequest, resolveOutput } from "../../domain/render-output";
import { hashJson } from "../../lib/hash";
import type { Asset } from "../../store/assets";
import type { Cut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { insertRender } from "../../store/renders";
import { isCuttable } from "../cuts/new-cuts";
import type { CoreNeeds } from "../needs";
import { findQuotaProblem, requireStorage } from "../storage/limits";

const isAudioFormat = (format: string | null | undefined): boolean => format === "m4a" || format === "mp3";

/** An output that was checked against its source. */
export type CheckedOutput = { json: OutputJson; resolved: ResolvedOutput };

/** Resolves the output for the asset. Errors: `asset_not_ready`, `validation_error` with fields of `body.output`. */
export function checkOutput(asset: Asset, output: OutputRequest): CheckedOutput {
  if (asset.kind !== "source")
    throw new AppError("asset_not_ready", `Asset is a ${asset.kind}. Only sources can be rendered.`);
  const wantsAudio = isAudioFormat(output.format) || ((output.format ?? null) === null && asset.type === "audio");
  const isReady = wantsAudio ? isCuttable(asset) : asset.state === "ready";
  if (!isReady || !asset.info) throw new AppError("asset_not_ready", "Asset is not ready to be rendered.");
  const resolved = resolveOutput({ info: asset.info, frames: null }, output);
  if (!resolved.ok)
    throw new AppError("validation_error", "Output is not possible for this asset.", { fields: resolved.errors });
  return { json: resolved.json, resolved: resolved.output };
}

/** Creates the error for a cut of another asset. */
export const foreignCutError = (field: string): AppError =>
  invalidField(field, "does not belong to this asset", null, "Cut does not belong to this asset.");

/** Throws `AppError` `modifier_not_ready` if the cut is not completed. */
export function requireCompletedCut(cut: Cut | null): void {
  if (cut && cut.state !== "completed") throw new AppError("modifier_not_ready", "Cut is not completed.");
}

export const hashRenderRequest = (asset: Asset, cut: Cut | null, { resolved, json }: CheckedOutput): string =>
  hashJson([asset.id, cut?.id ?? null, resolved, ...(json.file_name === undefined ? [] : [json.file_name])]);

/** `userId` null: the account was deleted. */
export type NewRender = { asset: Asset; cut: Cut | null; output: CheckedOutput; userId: string | null };

/** Inserts a pending render. Errors: `conflict` (quota), `upstream_unavailable` (storage). */
export async function insertNewRender(services: CoreNeeds, tx: Queries, { asset, cut, output, userId }: NewRender) {
  const quotaProblem = await findQuotaProblem(services, tx, asset.workspace_id);
  if (quotaProblem) throw conflict(quotaProblem);
  requireStorage(services);
  return insertRender(tx, {
    workspace_id: asset.workspace_id,
    asset_id: asset.id,
    cut_id: cut?.id ?? null,
    state: "pending",
    output: output.json,
    resolved: output.resolved,
    request_hash: hashRenderRequest(asset, cut, output),
    created_by: userId,
    created_at: services.now(),
  });
}
