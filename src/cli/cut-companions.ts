/** What `offcut cut` writes beside the cut: timelines for editors, and subtitles. */
import { basename, dirname } from "node:path";
import { AppError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import type { PlanJson } from "../domain/plan-json";
import type { Transcript } from "../domain/speech";
import { createCues, formatSrt, formatVtt } from "../domain/subtitles";
import { toSeconds } from "../domain/time";
import { type ExportFormat, exportTimeline } from "../domain/timeline";
import { writeAtomic } from "../lib/atomic-file";
import { type CutTask, companion, exportEnding } from "./cut-arguments";

type Cut = { plan: PlanJson; probed: ProbedMedia; transcript: Transcript | null };

/** Throws what `writeCompanions` would throw for a recording of this kind, whatever is kept of it: `unsupported_format`. */
export function requireExportable(task: CutTask, probed: ProbedMedia): void {
  const duration = toSeconds(probed.info.duration);
  const all = { start: 0, end: duration, start_frame: null, end_frame: null, text: "", review: null };
  const plan: PlanJson = {
    source_duration: duration,
    kept_duration: duration,
    frame_rate: null,
    segments: [all],
    removed: [],
    takes: [],
    missing: [],
    warnings: [],
  };
  for (const format of task.exports) timelineOf(task, format, plan, probed);
}

function timelineOf(task: CutTask, format: ExportFormat, plan: PlanJson, probed: ProbedMedia) {
  const options = {
    format,
    layout: "tight",
    mediaRoot: dirname(task.path),
    frameRate: null,
    dropFrame: null,
  } as const;
  const made = exportTimeline({ plan, ...probed, name: basename(task.path) }, options);
  if (!made.ok) throw new AppError("unsupported_format", `${format}: ${made.reason}`);
  return made;
}

/** Writes all that the task asks for and gives the paths. Errors: `AppError` `unsupported_format`, before anything is written. */
export async function writeCompanions(
  task: CutTask,
  cut: Cut,
): Promise<{ exports: string[]; subtitles: string[]; warnings: string[] }> {
  const warnings = new Map<string, string[]>();
  const timelines = task.exports.map((format) => {
    const made = timelineOf(task, format, cut.plan, cut.probed);
    for (const warning of made.warnings) warnings.set(warning, [...(warnings.get(warning) ?? []), format]);
    return { path: companion(task, exportEnding(format)), text: made.body };
  });
  const subtitles = task.subtitles.map((format) => {
    if (cut.transcript === null)
      throw new AppError("unsupported_format", "There is no model for the language, so there are no subtitles.");
    const cues = createCues(cut.transcript.words, cut.plan, "cut");
    return { path: companion(task, format), text: format === "srt" ? formatSrt(cues) : formatVtt(cues) };
  });
  for (const { path, text } of [...timelines, ...subtitles]) await writeAtomic(path, text);
  return {
    exports: timelines.map(({ path }) => path),
    subtitles: subtitles.map(({ path }) => path),
    // What several formats warn of is said once.
    warnings: [...warnings].map(([warning, formats]) => `${formats.join(", ")}: ${warning}`),
  };
}
