/** `offcut render`: renders a recording by an edited plan on this machine, without a server. */
import { AppError, type FieldError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import { type RepairedPlan, repairPlan } from "../domain/plan-repair";
import { parsePlanText, type WrittenPlan } from "../domain/plan-text";
import type { Word } from "../domain/speech";
import { escapeControls } from "../lib/control-characters";
import { type OneShotTools, openRecording, prepareRecording, withWorkFolder } from "../work/cuts/one-shot";
import type { CutTask } from "./cut-tasks";
import { RENDER_HELP, type RenderArguments, readRenderArguments } from "./render-arguments";
import { type CutResult, requireTarget, runTaskCommand, writeResults } from "./run-tasks";

/** Number of plan errors that the message lists. `--json` lists all. */
const MAX_LISTED_ERRORS = 5;

/** Returns the exit code of `runTaskCommand`. */
export const renderCommand = (argv: string[]): Promise<number> =>
  runTaskCommand({ name: "render", help: RENDER_HELP, readArguments: readRenderArguments, process: renderOne }, argv);

async function renderOne(tools: OneShotTools, task: CutTask, args: RenderArguments): Promise<CutResult> {
  const written = requireWrittenPlan(args);
  return withWorkFolder(task.output ?? task.path, async (workDir) => {
    const open = await openRecording(tools, task.path, workDir);
    let output: string | null = null;
    const { probed, transcript } = await prepareRecording(tools, open, {
      language: args.language ?? written.language,
      // Only subtitles need word times.
      scope: task.subtitles.length > 0 ? "analysis" : "probe",
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
