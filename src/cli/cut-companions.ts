/** Writes the timelines, subtitles and transcripts of `offcut cut` and `offcut render`. */
import { basename, dirname, extname } from "node:path";
import { AppError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import type { PlanJson } from "../domain/plan-json";
import type { Word } from "../domain/speech";
import { createCues, formatSrt, formatVtt } from "../domain/subtitles";
import { toSeconds } from "../domain/time";
import { type ExportFormat, exportTimeline, getExportExtension } from "../domain/timeline";
import { writeAtomic } from "../lib/atomic-file";
import { createTranscript } from "../work/cuts/transcript-file";
import { type CutTask, toCompanionPath } from "./cut-tasks";

/** `words` is null for a cut made without words. */
export type CompanionSource = { plan: PlanJson; probed: ProbedMedia; words: readonly Word[] | null };

/** Throws `AppError` `unsupported_format` if `writeCompanions` would throw it for this recording with any plan. */
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
  for (const format of task.exports) formatTimeline(task, format, plan, probed);
}

function formatTimeline(task: CutTask, format: ExportFormat, plan: PlanJson, probed: ProbedMedia) {
  const options = {
    format,
    layout: "tight",
    mediaRoot: dirname(task.path),
    frameRate: null,
    dropFrame: null,
  } as const;
  const result = exportTimeline({ plan, ...probed, name: basename(task.path) }, options);
  if (!result.ok) throw new AppError("unsupported_format", `${format}: ${result.reason}`);
  return result;
}

/**
 * Writes a task's timelines, subtitles and transcripts. Returns their paths. Throws `AppError` `unsupported_format`
 * beforehand.
 */
export async function writeCompanions(
  task: CutTask,
  cut: CompanionSource,
): Promise<{ exports: string[]; subtitles: string[]; transcripts: string[]; warnings: string[] }> {
  const warnings = new Map<string, string[]>();
  const timelines = task.exports.map((format) => {
    const result = formatTimeline(task, format, cut.plan, cut.probed);
    for (const warning of result.warnings) warnings.set(warning, [...(warnings.get(warning) ?? []), format]);
    return { path: toCompanionPath(task, getExportExtension(format)), text: result.body };
  });
  const { words } = cut;
  if (words === null && task.subtitles.length + task.transcripts.length > 0)
    throw new AppError(
      "unsupported_format",
      "The cut was made without words (its warning says why), so there are no subtitles and no transcript.",
    );
  const subtitles = task.subtitles.map((format) => {
    const cues = createCues(words!, cut.plan, "cut");
    return { path: toCompanionPath(task, format), text: format === "srt" ? formatSrt(cues) : formatVtt(cues) };
  });
  const title = basename(task.path, extname(task.path));
  const transcripts = await Promise.all(
    task.transcripts.map(async (format) => {
      const text = await createTranscript(words!, cut.plan, { format, title, hasTimes: false });
      return { path: toCompanionPath(task, format), text };
    }),
  );
  for (const { path, text } of [...timelines, ...subtitles, ...transcripts]) await writeAtomic(path, text);
  return {
    exports: timelines.map(({ path }) => path),
    subtitles: subtitles.map(({ path }) => path),
    transcripts: transcripts.map(({ path }) => path),
    // A warning about several formats is printed once.
    warnings: [...warnings].map(([warning, formats]) => `${formats.join(", ")}: ${warning}`),
  };
}
