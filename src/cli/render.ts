/** `offcut render`: renders a recording by an edited plan on this machine, without a server. */

import { existsSync, realpathSync } from "node:fs";
import { formatBytes } from "../domain/bytes";
import { AppError, type FieldError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import { type RepairedPlan, repairPlan } from "../domain/plan-repair";
import { parsePlanText, type WrittenPlan } from "../domain/plan-text";
import type { Word } from "../domain/speech";
import { EXPORT_FORMATS } from "../domain/timeline";
import { escapeControls } from "../lib/control-characters";
import { type OneShotTools, openRecording, prepareRecording, withWorkFolder } from "../work/cuts/one-shot";
import { type CutTask, listKnownTargets, readTasks, TASK_OPTIONS, type TaskArguments } from "./cut-tasks";
import { parseCommand, UsageError } from "./options";
import { type CutResult, requireTarget, runTaskCommand, writeResults } from "./run-tasks";
import { readTextInput, requireTextInput } from "./text-input";

const HELP = `Usage: offcut render FILE --plan PLAN.json [-o OUT] [options]

Renders a recording by a plan that offcut cut --plan wrote, edited by hand or by a program. Writes FILE's name with .cut.mp4 (or
.cut.m4a) beside FILE. Nothing is planned again.

      --plan PLAN.json   the plan, or a cut of the API that contains it
  -o, --output OUT       output file; its extension sets the format
      --format F         mp4, mov, m4a or mp3
      --loudness L       loudness of the output in LUFS, -31 to -9: -14 for YouTube, -16 for podcasts, -23 for EBU R128
      --noise-reduction HOW
                         light or strong: reduces noise in speech
      --level-speakers   evens out takes and voices that differ by more than 4 dB
      --export F         write a timeline for an editor: ${EXPORT_FORMATS.join(", ")}
      --subtitle F       write subtitles of the cut: srt or vtt; transcribes the recording for the times of its words
      --transcript F     write the text of the cut: txt, md or docx; transcribes the recording, too
      --language L       language of the subtitles: two letters, such as en; that of the plan, or detected, when omitted
      --force            overwrite existing files
      --json             print one JSON object instead of a report

The plan needs only "segments": a list of objects with "start" and "end" in seconds, in order, at least 0.1 s long. Starts are moved
to the frame before, ends to the frame after. "text" appears in timelines and subtitles as written. What "segments" leaves out is removed.
--export, --subtitle and --transcript accept a list, such as srt,vtt, and write beside OUT, or beside FILE with .cut in the name. With one of
these, and without -o or --format, nothing is rendered.
All settings are accepted too, such as --ffmpeg PATH (see offcut serve --help).
`;

/** `planName` is the path as given, for messages. `planText` is still unparsed. */
type RenderArguments = TaskArguments & { planName: string; planText: string };

/** The plan of a day of speech has about 10 MB. */
const MAX_PLAN_BYTES = 64 * 1024 * 1024;

/** Number of plan errors that the message lists. `--json` lists all. */
const MAX_LISTED_ERRORS = 5;

/** Returns the exit code of `runTaskCommand`. */
export const renderCommand = (argv: string[]): Promise<number> =>
  runTaskCommand(
    { name: "render", help: HELP, transcribes: false, readArguments: readRenderArguments, process: renderOne },
    argv,
  );

async function renderOne(tools: OneShotTools, task: CutTask, args: RenderArguments): Promise<CutResult> {
  const written = requireWrittenPlan(args);
  return withWorkFolder(task.output ?? task.path, async (workDir) => {
    await using open = await openRecording(tools, task.path, workDir);
    let output: string | null = null;
    const { probed, transcript } = await prepareRecording(tools, open, {
      language: args.language ?? written.language,
      scope: chooseScope(task),
      check: (found) => {
        requireRepairedPlan(args, written, [], found);
        output = requireTarget(task, found, args.force);
      },
    });
    const repaired = requireRepairedPlan(args, written, transcript?.words ?? [], probed);
    const { plan, warnings } = repaired;
    // Without a transcript, subtitles can still be written by hand.
    const words = transcript === null && repaired.words.length === 0 ? null : repaired.words;
    const result = await writeResults(tools, open, { task, output, plan, probed, words, replace: args.force });
    return { ...result, warnings: [...warnings, ...result.warnings] };
  });
}

/**
 * Only subtitles and transcripts need word times. Noise reduction leaves music alone: it needs to know where speech is.
 */
function chooseScope({ subtitles, transcripts, render, noiseReduction }: CutTask): "analysis" | "voice" | "probe" {
  if (subtitles.length + transcripts.length > 0) return "analysis";
  return render && noiseReduction !== "off" ? "voice" : "probe";
}

/** Throws `AppError` `validation_error` with the invalid fields. */
function requireWrittenPlan({ planName, planText }: RenderArguments): WrittenPlan {
  const parsed = parsePlanText(planText);
  if (!parsed.ok) throw toPlanError(planName, parsed.errors);
  return parsed.plan;
}

/** Throws `AppError` `validation_error` with the invalid segments. */
function requireRepairedPlan(
  { planName }: RenderArguments,
  written: WrittenPlan,
  words: readonly Word[],
  probed: ProbedMedia,
): RepairedPlan {
  const repaired = repairPlan(written, words, probed);
  if (!repaired.ok) throw toPlanError(planName, repaired.errors);
  return repaired;
}

function toPlanError(planName: string, errors: FieldError[]): AppError {
  const listed = errors.slice(0, MAX_LISTED_ERRORS).map(({ field, message }) => `${field} ${message}`.trim());
  const more = errors.length > listed.length ? `; and ${errors.length - listed.length} more` : "";
  return new AppError("validation_error", `plan ${escapeControls(planName)}: ${listed.join("; ")}${more}`, {
    fields: errors,
  });
}

/** Returns the parsed command line; null if it asks for help. Throws `UsageError`. */
export async function readRenderArguments(argv: string[]): Promise<RenderArguments | null> {
  const parsed = parseCommand(argv, { ...TASK_OPTIONS, plan: { type: "string" } });
  if (parsed.values.help) return null;
  const planName = parsed.values.plan as string | undefined;
  if (planName === undefined) throw new UsageError("--plan PLAN.json is missing, see offcut render --help");
  requireTextInput({ kind: "plan", path: planName });
  const args = readTasks("render", parsed, undefined);
  for (const target of args.tasks.flatMap(listKnownTargets)) {
    if (existsSync(target) && realpathSync(target) === realpathSync(planName))
      throw new UsageError(`${target} is the plan itself`);
  }
  const limits = { maxBytes: MAX_PLAN_BYTES, limit: formatBytes(MAX_PLAN_BYTES) };
  return { ...args, planName, planText: await readTextInput({ kind: "plan", path: planName, ...limits }) };
}
