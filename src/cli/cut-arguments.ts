/** Parses and validates the command line of `offcut cut`. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CUT_MODES, type CutMode, type CutOptions } from "../domain/plan";
import { findScriptLimit, MAX_SCRIPT_CHARACTERS } from "../domain/planning/scripted/script-limits";
import { OUTPUT_FORMATS, type OutputFormat } from "../domain/render-output";
import { EXPORT_FORMATS, type ExportFormat, getExportExtension } from "../domain/timeline";
import { type ParsedCommand, parseCommand, UsageError } from "./options";

export const CUT_HELP = `offcut cut FILE… [-o OUT] [options]

Cuts pauses, fillers and retakes out of recordings. Writes FILE's name with .cut.mp4 (or .cut.m4a) beside FILE.

  -o, --output OUT       output file; its extension sets the format (one FILE only)
      --script FILE      text of the recording: keeps the best take of each line, in the order of the script
      --language L       two letters, such as en; detected when omitted
      --mode M           tight, natural (default) or loose
      --min-silence S    shortest pause that is cut, 0.1 to 10 seconds
      --padding-before S silence kept before speech, 0 to 2 seconds
      --padding-after S  silence kept after speech, 0 to 2 seconds
      --keep-fillers     keep "um" and "uh"
      --keep-retakes     keep all takes of a line
      --format F         mp4, mov, m4a or mp3
      --export F         write a timeline for an editor: ${EXPORT_FORMATS.join(", ")}
      --subtitle F       write subtitles of the cut: srt or vtt
      --plan FILE        write the plan as JSON (one FILE only)
      --force            overwrite existing files
      --explain          print the rule and the scores behind each removed or marked span
      --json             print one JSON object instead of a report

--export and --subtitle accept a list, such as srt,vtt, and write beside OUT, or beside FILE with .cut in the name. With one of
these or --plan, and without -o or --format, nothing is rendered.
All settings are accepted too, such as --ffmpeg PATH (see offcut doctor).
`;

const SUBTITLE_FORMATS = ["srt", "vtt"] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/** One recording and the paths of its results. `output` is null until the type of the recording is known. */
export type CutTask = {
  /** The path as given, for messages. */
  name: string;
  path: string;
  render: boolean;
  output: string | null;
  format: OutputFormat | null;
  planPath: string | null;
  exports: ExportFormat[];
  subtitles: SubtitleFormat[];
};

export type CutArguments = {
  parsed: ParsedCommand;
  tasks: CutTask[];
  script: string;
  language: string | null;
  options: CutOptions;
  force: boolean;
  explain: boolean;
  json: boolean;
};

/** A longer file is not read: it exceeds the limit of a script in any encoding. */
const MAX_SCRIPT_BYTES = 8 * MAX_SCRIPT_CHARACTERS;

/** Returns the parsed command line; null when it asks for help. Throws `UsageError`. */
export async function readCutArguments(argv: string[]): Promise<CutArguments | null> {
  const parsed = parseCommand(argv, {
    output: { type: "string", short: "o" },
    script: { type: "string" },
    language: { type: "string" },
    mode: { type: "string" },
    "min-silence": { type: "string" },
    "padding-before": { type: "string" },
    "padding-after": { type: "string" },
    "keep-fillers": { type: "boolean" },
    "keep-retakes": { type: "boolean" },
    format: { type: "string" },
    plan: { type: "string" },
    export: { type: "string" },
    subtitle: { type: "string" },
    force: { type: "boolean" },
    explain: { type: "boolean" },
  });
  const { values, positionals } = parsed;
  if (values.help) return null;
  const force = values.force === true;
  const output = values.output as string | undefined;
  const plan = values.plan as string | undefined;
  if (positionals.length === 0) throw new UsageError("FILE is missing, see offcut cut --help");
  if (positionals.length > 1 && output !== undefined) throw new UsageError("-o takes a single FILE");
  if (positionals.length > 1 && plan !== undefined) throw new UsageError("--plan takes a single FILE");

  const format = parseFormat(values.format as string | undefined, output);
  const exports = parseList("export", values.export, EXPORT_FORMATS);
  const subtitles = parseList("subtitle", values.subtitle, SUBTITLE_FORMATS);
  const tasks = positionals.map((path) => createTask(path, { output, plan, format, exports, subtitles }));
  requireDistinct(tasks, force);
  return {
    parsed,
    tasks,
    script: await readScript(values.script as string | undefined),
    language: parseLanguage(values.language as string | undefined),
    options: parseOptions(values),
    force,
    explain: values.explain === true,
    json: values.json === true,
  };
}

function parseFormat(requested: string | undefined, output: string | undefined): OutputFormat | null {
  const isFormat = (name: string): name is OutputFormat => (OUTPUT_FORMATS as readonly string[]).includes(name);
  if (requested !== undefined && !isFormat(requested))
    throw new UsageError(`--format takes one of ${OUTPUT_FORMATS.join(", ")}, not "${requested}"`);
  if (output === undefined) return requested ?? null;
  const extension = extname(output).slice(1).toLowerCase();
  if (requested !== undefined) {
    if (isFormat(extension) && extension !== requested)
      throw new UsageError(`--format ${requested} does not match the extension of ${output}`);
    return requested;
  }
  if (!isFormat(extension))
    throw new UsageError(`-o must end in one of .${OUTPUT_FORMATS.join(", .")}, or add --format`);
  return extension;
}

type RequestedOutputs = Pick<CutTask, "format" | "exports" | "subtitles"> & {
  output: string | undefined;
  plan: string | undefined;
};

function createTask(given: string, { output, plan, ...requested }: RequestedOutputs): CutTask {
  const path = resolve(given);
  if (!existsSync(path)) throw new UsageError(`file not found: ${given}`);
  if (!statSync(path).isFile()) throw new UsageError(`${given} is not a file`);
  const { format, exports, subtitles } = requested;
  const hasOtherResult = plan !== undefined || exports.length > 0 || subtitles.length > 0;
  return {
    ...requested,
    name: given,
    path,
    render: output !== undefined || format !== null || !hasOtherResult,
    output: output === undefined ? (format === null ? null : toCutPath(path, format)) : resolve(output),
    planPath: plan === undefined ? null : resolve(plan),
  };
}

/** Returns the formats of a list such as `srt,vtt`, each once. */
function parseList<T extends string>(option: string, given: string | boolean | undefined, known: readonly T[]): T[] {
  if (typeof given !== "string") return [];
  const names = given.split(",").map((name) => name.trim());
  for (const name of names) {
    if (!known.some((format) => format === name))
      throw new UsageError(`--${option} takes ${known.join(", ")}, not "${name}"`);
  }
  return known.filter((format) => names.includes(format));
}

/** Returns `talk.cut.mp4` for `talk.mov` and `mp4`. */
export function toCutPath(path: string, extension: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.cut.${extension}`);
}

/** Returns the path of a timeline or subtitle: `out.srt` for the output `out.mp4`, beside the recording without an output. */
export function toCompanionPath(task: CutTask, extension: string): string {
  if (task.output === null) return toCutPath(task.path, extension);
  return join(dirname(task.output), `${basename(task.output, extname(task.output))}.${extension}`);
}

/** Returns the files of a task whose names are already known. */
function listKnownTargets(task: CutTask): string[] {
  const companions = [...task.exports.map(getExportExtension), ...task.subtitles].map((extension) =>
    toCompanionPath(task, extension),
  );
  return [task.output, task.planPath, ...companions].filter((path) => path !== null);
}

/** Throws `UsageError` when two tasks write one file, or a file exists already. */
function requireDistinct(tasks: CutTask[], force: boolean): void {
  const taken = new Set<string>();
  for (const task of tasks) {
    const expected = task.render && task.output === null ? [toCutPath(task.path, "mp4")] : [];
    for (const target of [...listKnownTargets(task), ...expected]) {
      if (taken.has(target)) throw new UsageError(`two results have the same path ${target}`);
      taken.add(target);
    }
    for (const target of listKnownTargets(task)) requireFree(task.path, target, force);
  }
}

/** Throws `UsageError` when a target exists and may not be overwritten. A recording is never overwritten by its own result. */
export function requireFree(source: string, target: string, force: boolean): void {
  if (!existsSync(dirname(target))) throw new UsageError(`folder not found: ${dirname(target)}`);
  if (!existsSync(target)) return;
  if (realpathSync(target) === realpathSync(source)) throw new UsageError(`${target} is the recording itself`);
  if (!statSync(target).isFile()) throw new UsageError(`${target} is not a file`);
  if (!force) throw new UsageError(`${target} already exists: add --force to overwrite it`);
}

async function readScript(path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  const file = Bun.file(path);
  if (!(await file.exists())) throw new UsageError(`script not found: ${path}`);
  const text = file.size > MAX_SCRIPT_BYTES ? null : (await file.text()).trim();
  const limit = text === null ? `must have at most ${MAX_SCRIPT_CHARACTERS} characters` : findScriptLimit(text);
  if (text === null || limit !== null) throw new UsageError(`script ${path} ${limit}`);
  return text;
}

function parseLanguage(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (!/^[a-z]{2}$/i.test(given)) throw new UsageError("--language takes two letters, such as en");
  return given.toLowerCase();
}

function parseOptions(values: ParsedCommand["values"]): CutOptions {
  const mode = (values.mode as string | undefined) ?? "natural";
  if (!Object.hasOwn(CUT_MODES, mode)) throw new UsageError(`--mode takes ${Object.keys(CUT_MODES).join(", ")}`);
  const base = CUT_MODES[mode as CutMode];
  const number = (name: string, min: number, max: number, fallback: number) => {
    const text = values[name];
    if (text === undefined) return fallback;
    const given = typeof text === "string" && text.trim() !== "" ? Number(text) : Number.NaN;
    if (!(given >= min && given <= max)) throw new UsageError(`--${name} takes ${min} to ${max} seconds`);
    return given;
  };
  return {
    ...base,
    min_silence_seconds: number("min-silence", 0.1, 10, base.min_silence_seconds),
    padding_before_seconds: number("padding-before", 0, 2, base.padding_before_seconds),
    padding_after_seconds: number("padding-after", 0, 2, base.padding_after_seconds),
    remove_fillers: values["keep-fillers"] === true ? false : base.remove_fillers,
    remove_retakes: values["keep-retakes"] === true ? false : base.remove_retakes,
  };
}
