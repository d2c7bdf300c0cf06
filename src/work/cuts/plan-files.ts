/** Timelines, subtitles and texts of completed cuts. A child process creates them with `plan-outputs.ts`. */
import { conflict, requireFound } from "../../domain/errors";
import { toSeconds } from "../../domain/time";
import type { ExportOptions } from "../../domain/timeline";
import { type Asset, findAssetById } from "../../store/assets";
import type { Cut } from "../../store/cuts";
import { type AnalysisPaths, getAnalysisPaths } from "../assets/prepared-files";
import type { JobOperations } from "../job-child/operations";
import { requireStorage } from "../storage/limits";
import type { CompletedCut, PlanFile, SubtitleOptions, TranscriptOptions } from "./plan-outputs";
import type { PlanNeeds } from "./plan-requests";

type PlanOperation = "export" | "subtitle" | "transcript" | "edit" | "explain";

/**
 * Runs an operation on a completed cut. Errors: `conflict` when it is not completed; `upstream_unavailable` (storage);
 * those of `PlanRequests` and of the operation.
 */
export async function runPlanOperation<Name extends PlanOperation>(
  services: PlanNeeds,
  cut: Cut,
  operation: Name,
  more: Omit<JobOperations[Name]["input"], keyof CompletedCut>,
): Promise<JobOperations[Name]["result"]> {
  const { plan } = cut;
  if (cut.state !== "completed" || plan === null) throw conflict(`Cut is ${cut.state}, not completed.`);
  const asset = requireFound(await findAssetById(services.store.read, cut.asset_id), "Asset of the cut");
  return runForAsset(services, asset, operation, (paths) => {
    const name = asset.filename ?? `asset.${asset.extension ?? "mp4"}`;
    return { paths, plan, name, ...more } as unknown as JobOperations[Name]["input"];
  });
}

/**
 * Runs an operation on the prepared files of an asset. Errors: `not_found` when the asset is deleted in the meantime,
 * with its files; `upstream_unavailable` (storage); those of `PlanRequests` and of the operation.
 */
export async function runForAsset<Name extends PlanOperation | "keepAll">(
  services: PlanNeeds,
  asset: Asset,
  operation: Name,
  createInput: (paths: AnalysisPaths) => JobOperations[Name]["input"],
): Promise<JobOperations[Name]["result"]> {
  await services.folders.guard.confirmOnline();
  const folder = services.folders.media(asset.id);
  const input = createInput(await getAnalysisPaths(folder));
  const running = services.planRequests.run(asset.workspace_id, folder.dir, (child) =>
    child.run(operation, input, { recordingSeconds: toSeconds(asset.duration ?? 0) }),
  );
  return running.catch(async (error) => {
    await services.folders.guard.confirmOnline();
    requireFound(await findAssetById(services.store.read, asset.id), "Asset");
    throw error;
  });
}

/**
 * Returns the cut as an editing timeline. Errors: `conflict`, `unsupported_format`, `upstream_unavailable` (storage).
 */
export async function createExport(services: PlanNeeds, cut: Cut, options: ExportOptions): Promise<PlanFile> {
  const file = await runPlanOperation(services, cut, "export", { options });
  requireStorage(services);
  return file;
}

/** Returns the cut's subtitles. Errors: `conflict`, `unsupported_format` without a transcript. */
export const createSubtitle = (services: PlanNeeds, cut: Cut, options: SubtitleOptions): Promise<PlanFile> =>
  runPlanOperation(services, cut, "subtitle", { options });

/** Returns the text of the cut as a document. Errors: `conflict`, `unsupported_format` without a transcript. */
export const createTranscriptFile = (services: PlanNeeds, cut: Cut, options: TranscriptOptions): Promise<PlanFile> =>
  runPlanOperation(services, cut, "transcript", { options });

/**
 * Returns the reasons for removed and marked spans, and the data for other pacing, as JSON text. Errors: `conflict`
 * when it is not completed.
 */
export const explainCut = (services: PlanNeeds, cut: Cut): Promise<string> =>
  runPlanOperation(services, cut, "explain", { basis: cut.basis, options: cut.options });
