/** What is made of a completed plan: timelines, subtitles, and another plan edited by hand. */
import { AppError } from "../domain/errors";
import { checkEdit, type EditedSegment, editPlan } from "../domain/plan-edit";
import { type PlanJson, planToJson } from "../domain/plan-json";
import { makeCues, writeSrt, writeVtt } from "../domain/subtitles";
import { type ExportOptions, exportTimeline } from "../domain/timeline";
import { newId } from "../lib/ids";
import { getAsset } from "../store/assets";
import { type Cut, insertCut } from "../store/cuts";
import type { Queries } from "../store/db";
import { touchProject } from "../store/projects";
import { tellCut } from "./cut";
import { readListening, readProbed } from "./prepared";
import type { Services } from "./services";
import { requireRoom } from "./storage";

export type PlanFile = { filename: string; contentType: string; body: string };

/** The plan of a completed cut. Errors: `conflict`. */
function planOf(cut: Cut): PlanJson {
  if (cut.state !== "completed" || cut.plan === null)
    throw new AppError("conflict", `The cut is ${cut.state}, not completed.`);
  return JSON.parse(cut.plan) as PlanJson;
}

async function sourceOf(services: Services, cut: Cut) {
  const asset = await getAsset(services.store.read, cut.asset_id);
  const probed = await readProbed(services.folders.media(cut.asset_id));
  if (!asset || !probed) throw new AppError("not_found", "The cut's asset is gone.");
  return { asset, probed, name: asset.filename ?? `asset.${asset.extension ?? "mp4"}` };
}

/** The cut as an editing timeline. Errors: `conflict`, `unsupported_format`, `upstream_unavailable` (free space). */
export async function exportCut(services: Services, cut: Cut, options: ExportOptions): Promise<PlanFile> {
  const plan = planOf(cut);
  const { probed, name } = await sourceOf(services, cut);
  const result = exportTimeline({ plan, info: probed.info, frames: probed.frames, name }, options);
  if (!result.ok) throw new AppError("unsupported_format", result.reason);
  requireRoom(services);
  return result;
}

/** The cut's subtitle. Errors: `conflict`, `unsupported_format` without a transcript. */
export async function subtitleOf(
  services: Services,
  cut: Cut,
  options: { format: "srt" | "vtt"; timeline: "cut" | "source" },
): Promise<PlanFile> {
  const plan = planOf(cut);
  const { name } = await sourceOf(services, cut);
  const listening = await readListening(services.folders.media(cut.asset_id));
  if (!listening?.transcript) throw new AppError("unsupported_format", "There is no transcript to make a subtitle of.");
  const cues = makeCues(listening.transcript.words, plan, options.timeline);
  const stem = name.replace(/\.[^.]*$/, "") || "cut";
  return {
    filename: `${stem}${options.timeline === "cut" ? ".cut" : ""}.${options.format}`,
    contentType: options.format === "srt" ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8",
    body: options.format === "srt" ? writeSrt(cues) : writeVtt(cues),
  };
}

/**
 * Prepares a new cut with the user's segments; calling what comes back, in a write transaction, makes it, completed at once.
 * Errors: `conflict`, `validation_error`.
 */
export async function prepareEdit(
  services: Services,
  cut: Cut,
  segments: EditedSegment[],
): Promise<(tx: Queries) => Promise<Cut>> {
  const old = planOf(cut);
  const { asset, probed } = await sourceOf(services, cut);
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const fields = checkEdit(segments, clock).map(({ index, message }) => ({ field: `body.segments.${index}`, message }));
  if (fields.length > 0) throw new AppError("validation_error", "The segments do not make a plan.", { fields });
  const listening = await readListening(services.folders.media(cut.asset_id));
  const plan = planToJson(editPlan(old, segments, listening?.transcript?.words ?? [], clock));
  const now = services.now();
  return async (tx) => {
    const edited = await insertCut(tx, {
      id: newId(),
      user_id: cut.user_id,
      asset_id: cut.asset_id,
      state: "completed",
      script: cut.script,
      options: cut.options,
      request_hash: null,
      edited_from: cut.id,
      plan: JSON.stringify(plan),
      created_at: now,
      started_at: now,
      completed_at: now,
    });
    await touchProject(tx, asset.project_id, now);
    await tellCut(tx, edited, "cut.completed", now);
    return edited;
  };
}
