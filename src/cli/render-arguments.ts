/** Parses and validates the command line of `offcut render`, and reads the plan. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { formatBytes } from "../domain/bytes";
import { EXPORT_FORMATS } from "../domain/timeline";
import { listKnownTargets, readTasks, TASK_OPTIONS, type TaskArguments } from "./cut-tasks";
import { parseCommand, UsageError } from "./options";

export const RENDER_HELP = `Usage: offcut render FILE --plan PLAN.json [-o OUT] [options]

Renders a recording by a plan that offcut cut --plan wrote, edited by hand or by a program. Writes FILE's name with .cut.mp4 (or
.cut.m4a) beside FILE. Nothing is planned again.

      --plan PLAN.json   the plan, or a cut of the API that contains it
  -o, --output OUT       output file; its extension sets the format
      --format F         mp4, mov, m4a or mp3
      --export F         write a timeline for an editor: ${EXPORT_FORMATS.join(", ")}
      --subtitle F       write subtitles of the cut: srt or vtt; transcribes the recording for the times of its words
      --language L       language of the subtitles: two letters, such as en; that of the plan, or detected, when omitted
      --force            overwrite existing files
      --json             print one JSON object instead of a report

The plan needs only "segments": a list of objects with "start" and "end" in seconds, in order, at least 0.1 s long. Starts are moved
to the frame before, ends to the frame after. "text" appears in timelines and subtitles as written. What "segments" leaves out is removed.
--export and --subtitle accept a list, such as srt,vtt, and write beside OUT, or beside FILE with .cut in the name. With one of
these, and without -o or --format, nothing is rendered.
All settings are accepted too, such as --ffmpeg PATH (see offcut serve --help).
`;

/** `planName` is the path as given, for messages. `planText` is still unparsed. */
export type RenderArguments = TaskArguments & { planName: string; planText: string };

/** The plan of a day of speech has about 10 MB. */
const MAX_PLAN_BYTES = 64 * 1024 * 1024;

/** Returns the parsed command line; null if it asks for help. Throws `UsageError`. */
export async function readRenderArguments(argv: string[]): Promise<RenderArguments | null> {
  const parsed = parseCommand(argv, { ...TASK_OPTIONS, plan: { type: "string" } });
  if (parsed.values.help) return null;
  const planName = parsed.values.plan as string | undefined;
  if (planName === undefined) throw new UsageError("--plan PLAN.json is missing, see offcut render --help");
  if (!existsSync(planName)) throw new UsageError(`plan not found: ${planName}`);
  const stat = statSync(planName);
  if (!stat.isFile() && !stat.isFIFO()) throw new UsageError(`plan ${planName} is not a file`);
  const args = readTasks("render", parsed, undefined);
  for (const target of args.tasks.flatMap(listKnownTargets)) {
    if (existsSync(target) && realpathSync(target) === realpathSync(planName))
      throw new UsageError(`${target} is the plan itself`);
  }
  return { ...args, planName, planText: await readPlanText(planName) };
}

/** Reads no more than the largest plan, even from a pipe, whose size is not known in advance. */
async function readPlanText(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of Bun.file(path).stream()) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MAX_PLAN_BYTES) throw new UsageError(`plan ${path} must have at most ${formatBytes(MAX_PLAN_BYTES)}`);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
