/**
 * What is made of a completed plan: timelines, subtitles, and another plan with segments chosen by hand. Runs in a job's child process: a plan
 * and a transcript are as long as a stranger's recording.
 */
import type { MediaFolder } from "../blobs/folders";
import { AppError } from "../domain/errors";
import { type EditedSegment, editPlan, validateEdit } from "../domain/plan-edit";
import { type PlanJson, planToJson } from "../domain/plan-json";
import { createCues, formatSrt, formatVtt } from "../domain/subtitles";
import { type ExportOptions, exportTimeline } from "../domain/timeline";
import { readListening, readProbed } from "./prepared-files";

export type PlanFile = { filename: string; contentType: string; body: string };

/** A completed cut: its asset's folder, its plan as JSON text, and the name of the source file. */
export type CompletedCut = { folder: MediaFolder; plan: string; name: string };

export type SubtitleOptions = { format: "srt" | "vtt"; timeline: "cut" | "source" };

async function requireProbed(folder: MediaFolder) {
  const probed = await readProbed(folder);
  if (!probed) throw new AppError("not_found", "The cut's asset is gone.");
  return probed;
}

/** The cut as an editing timeline. Errors: `AppError` `unsupported_format`, `not_found`. */
export async function formatTimeline({ folder, plan, name }: CompletedCut, options: ExportOptions): Promise<PlanFile> {
  const { info, frames } = await requireProbed(folder);
  const result = exportTimeline({ plan: JSON.parse(plan) as PlanJson, info, frames, name }, options);
  if (!result.ok) throw new AppError("unsupported_format", result.reason);
  const { filename, contentType, body } = result;
  return { filename, contentType, body };
}

/** The cut's subtitle. Errors: `AppError` `unsupported_format` without a transcript. */
export async function formatSubtitle(
  { folder, plan, name }: CompletedCut,
  options: SubtitleOptions,
): Promise<PlanFile> {
  const listening = await readListening(folder);
  if (!listening?.transcript) throw new AppError("unsupported_format", "There is no transcript to make a subtitle of.");
  const cues = createCues(listening.transcript.words, JSON.parse(plan) as PlanJson, options.timeline);
  const stem = name.replace(/\.[^.]*$/, "") || "cut";
  return {
    filename: `${stem}${options.timeline === "cut" ? ".cut" : ""}.${options.format}`,
    contentType: options.format === "srt" ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8",
    body: options.format === "srt" ? formatSrt(cues) : formatVtt(cues),
  };
}

/** The plan with the user's segments, as JSON text. Errors: `AppError` `validation_error`, `not_found`. */
export async function createEditedPlan({ folder, plan }: CompletedCut, segments: EditedSegment[]): Promise<string> {
  const probed = await requireProbed(folder);
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const fields = validateEdit(segments, clock).map(({ index, message }) => ({
    field: `body.segments.${index}`,
    message,
  }));
  if (fields.length > 0) throw new AppError("validation_error", "The segments do not make a plan.", { fields });
  const listening = await readListening(folder);
  const words = listening?.transcript?.words ?? [];
  return JSON.stringify(planToJson(editPlan(JSON.parse(plan) as PlanJson, segments, words, clock)));
}
