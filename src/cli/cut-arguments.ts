/** The command line of `offcut cut`, read and checked before any work. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CUT_MODES, type CutMode, type CutOptions } from "../domain/plan";
import { findScriptLimit, MAX_SCRIPT_CHARACTERS } from "../domain/planning/scripted/script-limits";
import { OUTPUT_FORMATS, type OutputFormat } from "../domain/render-output";
import { EXPORT_FORMATS, type ExportFormat } from "../domain/timeline";
import { type ParsedCommand, parseCommand, UsageError } from "./options";

export const CUT_HELP = `offcut cut FILE… [-o OUT] [options]

Cuts pauses, fillers and retakes out of recordings. Writes FILE's name with .cut.mp4 (or .cut.m4a) beside FILE.

  -o, --output OUT       where to write; its ending chooses the format (one FILE only)
      --script FILE      what was to be said: keeps the best take of each line, in its order
      --language L       two letters, such as en; recognised by itself when left out
      --mode M           tight, natural (default) or loose
      --min-silence S    shorter pauses stay, 0.1 to 10 seconds
      --padding-before S quiet kept before speech, 0 to 2 seconds
      --padding-after S  quiet kept after speech, 0 to 2 seconds
      --keep-fillers     leave "um" and "uh" in
      --keep-retakes     leave repeated takes in
      --format F         mp4, mov, m4a or mp3
      --export F         write a timeline for an editor: ${EXPORT_FORMATS.join(", ")}
      --subtitle F       write subtitles of the cut: srt or vtt
      --plan FILE        write the plan as JSON (one FILE only)
      --force            overwrite
      --json             print one JSON object instead of a report

--export and --subtitle take several, as in srt,vtt, and write beside OUT, else beside FILE with .cut in the name. With one of
these or --plan, and without -o or --format, nothing is rendered.
And every setting, such as --ffmpeg PATH (see offcut doctor).
`;

const SUBTITLE_FORMATS = ["srt", "vtt"] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/** One recording and where its results go. `output` null: beside the recording, named when it is known what it is. */
export type CutTask = {
  /** As it was given, for messages. */
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
  json: boolean;
};

/** A file that is longer is not read: no script has so many bytes. */
const MAX_SCRIPT_BYTES = 8 * MAX_SCRIPT_CHARACTERS;

/** Gives null when help is asked for. Throws `UsageError`. */
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
  });
  const { values, positionals } = parsed;
  if (values.help) return null;
  const force = values.force === true;
  const output = values.output as string | undefined;
  const plan = values.plan as string | undefined;
  if (positionals.length === 0) throw new UsageError("which FILE? See offcut cut --help");
  if (positionals.length > 1 && output !== undefined) throw new UsageError("several FILEs take no -o");
  if (positionals.length > 1 && plan !== undefined) throw new UsageError("several FILEs take no --plan");

  const format = formatOf(values.format as string | undefined, output);
  const exports = listOf("export", values.export, EXPORT_FORMATS);
  const subtitles = listOf("subtitle", values.subtitle, SUBTITLE_FORMATS);
  const tasks = positionals.map((path) => taskOf(path, { output, plan, format, exports, subtitles }));
  requireDistinct(tasks, force);
  return {
    parsed,
    tasks,
    script: await scriptOf(values.script as string | undefined),
    language: languageOf(values.language as string | undefined),
    options: optionsOf(values),
    force,
    json: values.json === true,
  };
}

function formatOf(asked: string | undefined, output: string | undefined): OutputFormat | null {
  const isFormat = (name: string): name is OutputFormat => (OUTPUT_FORMATS as readonly string[]).includes(name);
  if (asked !== undefined && !isFormat(asked))
    throw new UsageError(`--format takes one of ${OUTPUT_FORMATS.join(", ")}, not "${asked}"`);
  if (output === undefined) return asked ?? null;
  const ending = extname(output).slice(1).toLowerCase();
  if (asked !== undefined) {
    if (isFormat(ending) && ending !== asked) throw new UsageError(`--format ${asked} does not fit ${output}`);
    return asked;
  }
  if (!isFormat(ending)) throw new UsageError(`-o ends in one of .${OUTPUT_FORMATS.join(", .")}, or add --format`);
  return ending;
}

type Wanted = Pick<CutTask, "format" | "exports" | "subtitles"> & {
  output: string | undefined;
  plan: string | undefined;
};

function taskOf(given: string, { output, plan, ...wanted }: Wanted): CutTask {
  const path = resolve(given);
  if (!existsSync(path)) throw new UsageError(`there is no file ${given}`);
  if (!statSync(path).isFile()) throw new UsageError(`${given} is not a file`);
  const { format, exports, subtitles } = wanted;
  const isOther = plan !== undefined || exports.length > 0 || subtitles.length > 0;
  return {
    ...wanted,
    name: given,
    path,
    render: output !== undefined || format !== null || !isOther,
    output: output === undefined ? (format === null ? null : beside(path, format)) : resolve(output),
    planPath: plan === undefined ? null : resolve(plan),
  };
}

/** The formats of a list such as `srt,vtt`, each once. */
function listOf<T extends string>(option: string, given: string | boolean | undefined, known: readonly T[]): T[] {
  if (typeof given !== "string") return [];
  const names = given.split(",").map((name) => name.trim());
  for (const name of names) {
    if (!known.some((format) => format === name))
      throw new UsageError(`--${option} takes ${known.join(", ")}, not "${name}"`);
  }
  return known.filter((format) => names.includes(format));
}

/** `talk.cut.mp4` for `talk.mov`. */
export function beside(path: string, ending: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.cut.${ending}`);
}

/** Where a timeline or a subtitle goes: `out.srt` for `out.mp4`, else beside the recording. */
export function companion(task: CutTask, ending: string): string {
  if (task.output === null) return beside(task.path, ending);
  return join(dirname(task.output), `${basename(task.output, extname(task.output))}.${ending}`);
}

/** The ending of each export's file. */
export const exportEnding = (format: ExportFormat): string => (format === "fcp7xml" ? "xml" : format);

/** Every file that the task writes and whose name is known already. */
function namedTargets(task: CutTask): string[] {
  const companions = [...task.exports.map(exportEnding), ...task.subtitles].map((ending) => companion(task, ending));
  return [task.output, task.planPath, ...companions].filter((path) => path !== null);
}

/** Two tasks never write one file, and what is named already must be free. */
function requireDistinct(tasks: CutTask[], force: boolean): void {
  const taken = new Set<string>();
  for (const task of tasks) {
    const guessed = task.render && task.output === null ? [beside(task.path, "mp4")] : [];
    for (const target of [...namedTargets(task), ...guessed]) {
      if (taken.has(target)) throw new UsageError(`two results would be ${target}`);
      taken.add(target);
    }
    for (const target of namedTargets(task)) requireFree(task.path, target, force);
  }
}

/** Nothing is overwritten unless told to, and a recording never becomes its own result. Throws `UsageError`. */
export function requireFree(source: string, target: string, force: boolean): void {
  if (!existsSync(dirname(target))) throw new UsageError(`there is no folder ${dirname(target)}`);
  if (!existsSync(target)) return;
  if (realpathSync(target) === realpathSync(source)) throw new UsageError(`${target} is the recording itself`);
  if (!statSync(target).isFile()) throw new UsageError(`${target} is not a file`);
  if (!force) throw new UsageError(`${target} exists already; --force overwrites it`);
}

async function scriptOf(path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  const file = Bun.file(path);
  if (!(await file.exists())) throw new UsageError(`there is no script ${path}`);
  const text = file.size > MAX_SCRIPT_BYTES ? null : (await file.text()).trim();
  const limit = text === null ? `must have at most ${MAX_SCRIPT_CHARACTERS} characters` : findScriptLimit(text);
  if (text === null || limit !== null) throw new UsageError(`script ${path} ${limit}`);
  return text;
}

function languageOf(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (!/^[a-z]{2}$/i.test(given)) throw new UsageError("--language takes two letters, such as en");
  return given.toLowerCase();
}

function optionsOf(values: ParsedCommand["values"]): CutOptions {
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
