/** The recordings of a command line and the files to create from each: parsed and checked before any work. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { NOISE_REDUCTIONS, OUTPUT_FORMATS } from "../domain/media";
import { MAX_LOUDNESS_LUFS, MIN_LOUDNESS_LUFS, type OutputFormat } from "../domain/render-output";
import { EXPORT_FORMATS, type ExportFormat, getExportExtension } from "../domain/timeline";
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from "../domain/transcript-text";
import { flagOptions, type ParsedCommand, textOptions, UsageError } from "./options";

/** The options of `readTasks`. */
export const TASK_OPTIONS = {
  output: { type: "string", short: "o" },
  ...textOptions("language", "format", "loudness", "noise-reduction", "export", "subtitle", "transcript"),
  ...flagOptions("level-speakers", "force"),
} as const;

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
  /** In LUFS; null leaves the loudness unchanged. */
  loudness: number | null;
  noiseReduction: (typeof NOISE_REDUCTIONS)[number];
  levelSpeakers: boolean;
  planPath: string | null;
  exports: ExportFormat[];
  subtitles: SubtitleFormat[];
  transcripts: TranscriptFormat[];
};

/** The arguments that commands for recordings share. */
export type TaskArguments = {
  parsed: ParsedCommand;
  tasks: CutTask[];
  language: string | null;
  force: boolean;
  json: boolean;
};

/** Parses the recordings and `TASK_OPTIONS`. `planPath` is the path for the plan, if any. Throws `UsageError`. */
export function readTasks(command: string, parsed: ParsedCommand, planPath: string | undefined): TaskArguments {
  const { values, positionals } = parsed;
  const force = values.force === true;
  const output = values.output as string | undefined;
  if (positionals.length === 0) throw new UsageError(`FILE is missing, see offcut ${command} --help`);
  if (positionals.length > 1 && output !== undefined) throw new UsageError("-o takes a single FILE");
  if (positionals.length > 1 && values.plan !== undefined) throw new UsageError("--plan takes a single FILE");
  const requested = {
    format: parseFormat(values.format as string | undefined, output),
    loudness: parseLoudness(values.loudness as string | undefined),
    noiseReduction: parseNoiseReduction(values["noise-reduction"] as string | undefined),
    levelSpeakers: values["level-speakers"] === true,
    exports: parseList("export", values.export, EXPORT_FORMATS),
    subtitles: parseList("subtitle", values.subtitle, SUBTITLE_FORMATS),
    transcripts: parseList("transcript", values.transcript, TRANSCRIPT_FORMATS),
  };
  const tasks = positionals.map((path) => createTask(path, { output, plan: planPath, ...requested }));
  requireDistinct(tasks, force);
  const language = parseLanguage(values.language as string | undefined);
  return { parsed, tasks, language, force, json: values.json === true };
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

function parseLoudness(given: string | undefined): number | null {
  if (given === undefined) return null;
  const loudness = /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (!(loudness >= MIN_LOUDNESS_LUFS && loudness <= MAX_LOUDNESS_LUFS))
    throw new UsageError(`--loudness takes a number from ${MIN_LOUDNESS_LUFS} to ${MAX_LOUDNESS_LUFS}, not "${given}"`);
  return loudness;
}

function parseNoiseReduction(given = "off"): CutTask["noiseReduction"] {
  const mode = NOISE_REDUCTIONS.find((name) => name === given);
  if (mode === undefined)
    throw new UsageError(`--noise-reduction takes ${NOISE_REDUCTIONS.join(", ")}, not "${given}"`);
  return mode;
}

type RequestedOutputs = Pick<
  CutTask,
  "format" | "loudness" | "noiseReduction" | "levelSpeakers" | "exports" | "subtitles" | "transcripts"
> & {
  output: string | undefined;
  plan: string | undefined;
};

function createTask(given: string, { output, plan, ...requested }: RequestedOutputs): CutTask {
  const path = resolve(given);
  if (!existsSync(path)) throw new UsageError(`file not found: ${given}`);
  if (!statSync(path).isFile()) throw new UsageError(`${given} is not a file`);
  const { format, exports, subtitles, transcripts } = requested;
  const hasOtherResult = plan !== undefined || [exports, subtitles, transcripts].some((list) => list.length > 0);
  return {
    ...requested,
    name: given,
    path,
    render: output !== undefined || format !== null || !hasOtherResult,
    output: output === undefined ? (format === null ? null : toCutPath(path, format)) : resolve(output),
    planPath: plan === undefined ? null : resolve(plan),
  };
}

/** Parses a list of formats such as `srt,vtt`, without duplicates. */
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

/**
 * Returns the path of a timeline, subtitle or transcript: `out.srt` for the output `out.mp4`, otherwise next to the
 * recording.
 */
export function toCompanionPath(task: CutTask, extension: string): string {
  if (task.output === null) return toCutPath(task.path, extension);
  return join(dirname(task.output), `${basename(task.output, extname(task.output))}.${extension}`);
}

/** Returns the files of a task whose names are already known. */
export function listKnownTargets(task: CutTask): string[] {
  const companions = [...task.exports.map(getExportExtension), ...task.subtitles, ...task.transcripts].map(
    (extension) => toCompanionPath(task, extension),
  );
  return [task.output, task.planPath, ...companions].filter((path) => path !== null);
}

/** Throws `UsageError` if two tasks write the same file, or a file already exists. */
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

/** Throws `UsageError` if a target exists and may not be overwritten. Results never overwrite their recording. */
export function requireFree(source: string, target: string, force: boolean): void {
  if (!existsSync(dirname(target))) throw new UsageError(`folder not found: ${dirname(target)}`);
  if (!existsSync(target)) return;
  if (realpathSync(target) === realpathSync(source)) throw new UsageError(`${target} is the recording itself`);
  if (!statSync(target).isFile()) throw new UsageError(`${target} is not a file`);
  if (!force) throw new UsageError(`${target} already exists: add --force to overwrite it`);
}

function parseLanguage(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (!/^[a-z]{2}$/i.test(given)) throw new UsageError("--language takes two letters, such as en");
  return given.toLowerCase();
}
