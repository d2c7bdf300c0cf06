/** Timelines and subtitles of completed cuts. A child process creates them with `plan-outputs.ts`. */
import { AppError, requireFound } from "../../domain/errors";
import { toSeconds } from "../../domain/time";
import type { ExportOptions } from "../../domain/timeline";
import { findAssetById } from "../../store/assets";
import type { Cut } from "../../store/cuts";
import { getAnalysisPaths } from "../assets/prepared-files";
import type { JobOperations } from "../job-child/operations";
import { requireStorage } from "../storage/limits";
import type { CompletedCut, PlanFile, SubtitleOptions } from "./plan-outputs";
import type { PlanNeeds } from "./plan-requests";

type PlanOperation = "export" | "subtitle" | "edit";

/** Runs an operation on a completed cut. Errors: `conflict` when it is not completed; `upstream_unavailable` (storage); those of `PlanRequests` and of the operation. */
export async function runPlanOperation<Name extends PlanOperation>(
  services: PlanNeeds,
  cut: Cut,
  operation: Name,
  more: Omit<JobOperations[Name]["input"], keyof CompletedCut>,
): Promise<JobOperations[Name]["result"]> {
  const { plan } = cut;
  if (cut.state !== "completed" || plan === null) throw new AppError("conflict", `Cut is ${cut.state}, not completed.`);
  const asset = requireFound(await findAssetById(services.store.read, cut.asset_id), "Asset of the cut");
  await services.folders.guard.confirmOnline();
  const folder = services.folders.media(asset.id);
  const name = asset.filename ?? `asset.${asset.extension ?? "mp4"}`;
  const completed: CompletedCut = { paths: await getAnalysisPaths(folder), plan, name };
  const input = { ...completed, ...more } as unknown as JobOperations[Name]["input"];
  return services.planRequests.run(cut.workspace_id, folder.dir, (child) =>
    child.run(operation, input, { recordingSeconds: toSeconds(asset.duration ?? 0) }),
  );
}

/** Returns the cut as an editing timeline. Errors: `conflict`, `unsupported_format`, `upstream_unavailable` (storage). */
export async function createExport(services: PlanNeeds, cut: Cut, options: ExportOptions): Promise<PlanFile> {
  const file = await runPlanOperation(services, cut, "export", { options });
  requireStorage(services);
  return file;
}

/** Returns the cut's subtitles. Errors: `conflict`, `unsupported_format` without a transcript. */
export const createSubtitle = (services: PlanNeeds, cut: Cut, options: SubtitleOptions): Promise<PlanFile> =>
  runPlanOperation(services, cut, "subtitle", { options });
