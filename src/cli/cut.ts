/** `offcut cut`: cuts and renders recordings on this machine, without a server, an account or credits. */

import { CUT_MODES, type CutMode, type CutOptions } from "../domain/plan";
import { listPlanWords } from "../domain/plan-texts";
import { findScriptLimit, MAX_SCRIPT_CHARACTERS } from "../domain/planning/scripted/script-limits";
import { EXPORT_FORMATS } from "../domain/timeline";
import type { VocabularyEntry } from "../domain/vocabulary/entries";
import { MAX_FILE_CHARACTERS, parseVocabularyFile } from "../domain/vocabulary/parse-file";
import { writeAtomic } from "../lib/atomic-file";
import {
  type OneShotTools,
  openRecording,
  planRecording,
  prepareRecording,
  requireAudio,
  withWorkFolder,
} from "../work/cuts/one-shot";
import { type CutTask, readTasks, TASK_OPTIONS, type TaskArguments } from "./cut-tasks";
import { flagOptions, type ParsedCommand, parseCommand, textOptions, UsageError } from "./options";
import { describeRecognized, explainPlan, explainStages, listThresholds } from "./plan-explanation";
import { type CutResult, requireTarget, runTaskCommand, writeResults } from "./run-tasks";
import { readTextInput } from "./text-input";

const HELP = `Usage: offcut cut FILE… [-o OUT] [options]

Cuts pauses, fillers and retakes out of recordings. Writes FILE's name with .cut.mp4 (or .cut.m4a) beside FILE.

  -o, --output OUT       output file; its extension sets the format (one FILE only)
      --script FILE      text of the recording: keeps the best take of each line, in the order of the script
      --vocabulary FILE  names and terms, one a line as "Term = spoken form, other form", or a CSV file
      --language L       two letters, such as en; detected when omitted
      --mode M           tight, natural (default) or loose
      --min-silence S    shortest pause that is cut, 0.1 to 10 seconds
      --padding-before S silence kept before speech, 0 to 2 seconds
      --padding-after S  silence kept after speech, 0 to 2 seconds
      --keep-fillers     keep "um" and "uh"
      --keep-retakes     keep all takes of a line
      --format F         mp4, mov, m4a or mp3
      --loudness L       loudness of the output in LUFS, -31 to -9: -14 for YouTube, -16 for podcasts, -23 for EBU R128
      --noise-reduction HOW
                         light or strong: reduces noise in speech
      --level-speakers   evens out takes and voices that differ by more than 4 dB
      --export F         write a timeline for an editor: ${EXPORT_FORMATS.join(", ")}
      --subtitle F       write subtitles of the cut: srt or vtt
      --transcript F     write the text of the cut: txt, md or docx
      --plan FILE        write the plan as JSON (one FILE only)
      --force            overwrite existing files
      --explain[=WHAT]   print the rule and the scores behind each removed or marked span (rules), the words that each
                         stage of planning keeps or removes (stages), or the thresholds of the stages (thresholds)
      --json             print one JSON object instead of a report

--export, --subtitle and --transcript accept a list, such as srt,vtt, and write beside OUT, or beside FILE with .cut in the name. With one of
these or --plan, and without -o or --format, nothing is rendered.
All settings are accepted too, such as --ffmpeg PATH (see offcut serve --help).
`;

type Explanation = "rules" | "stages" | "thresholds";
type CutArguments = TaskArguments & {
  script: string;
  options: CutOptions;
  vocabulary: VocabularyEntry[];
  explain: Explanation | null;
};

/** `--explain` has an optional value. Each value is parsed as an option of its own. */
const EXPLAIN_OPTIONS: readonly [string, Explanation][] = [
  ["explain", "rules"],
  ["explain-stages", "stages"],
  ["explain-thresholds", "thresholds"],
];

/** A longer file is not read, because it exceeds the limit of a script in any encoding. */
const MAX_SCRIPT_BYTES = 8 * MAX_SCRIPT_CHARACTERS;

/** Returns the exit code of `runTaskCommand`. */
export const cutCommand = (argv: string[]): Promise<number> =>
  runTaskCommand(
    { name: "cut", help: HELP, transcribes: true, readArguments: readCutArguments, process: cutOne },
    argv,
  );

async function cutOne(tools: OneShotTools, task: CutTask, args: CutArguments): Promise<CutResult> {
  const { path, planPath } = task;
  const { script, language, options, vocabulary, explain, force } = args;
  const neighbor = task.render ? (task.output ?? path) : (planPath ?? path);
  return withWorkFolder(neighbor, async (workDir) => {
    await using open = await openRecording(tools, path, workDir);
    let output: string | null = null;
    const { probed, transcript } = await prepareRecording(tools, open, {
      language,
      scope: "analysis",
      check: (found) => {
        output = requireTarget(task, found, force);
        requireAudio(found);
      },
    });
    const request = { script, language, options, vocabulary, explain: explain !== null };
    const { plan, findings, stages, recognized } = await planRecording(tools, open, probed, request);
    // The speech process ends while the results of the last recording are written.
    if (task === args.tasks.at(-1)) void tools.media.speech.close();
    if (planPath !== null) await writeAtomic(planPath, `${JSON.stringify(plan, null, 2)}\n`);
    const words = listPlanWords(plan, transcript?.words ?? null);
    const result = await writeResults(tools, open, { task, output, plan, probed, words, replace: force });
    if (explain === null) return result;
    const explanation = {
      rules: () => [...explainPlan(plan, findings), ...describeRecognized(recognized)],
      stages: () => explainStages(stages),
      thresholds: listThresholds,
    }[explain];
    return { ...result, explanation: explanation() };
  });
}

/** Returns the parsed command line; null if it asks for help. Throws `UsageError`. */
export async function readCutArguments(argv: string[]): Promise<CutArguments | null> {
  const parsed = parseCommand(argv.map(toExplainOption), {
    ...TASK_OPTIONS,
    ...textOptions("script", "vocabulary", "mode", "min-silence", "padding-before", "padding-after", "plan"),
    ...flagOptions("keep-fillers", "keep-retakes", ...EXPLAIN_OPTIONS.map(([name]) => name)),
  });
  const { values } = parsed;
  if (values.help) return null;
  return {
    ...readTasks("cut", parsed, values.plan as string | undefined),
    script: await readScript(values.script as string | undefined),
    options: parseOptions(values),
    vocabulary: await readVocabulary(values.vocabulary as string | undefined),
    explain: EXPLAIN_OPTIONS.find(([name]) => values[name] === true)?.[1] ?? null,
  };
}

function toExplainOption(argument: string): string {
  const value = /^--explain=(.*)$/.exec(argument)?.[1];
  if (value === undefined) return argument;
  const found = EXPLAIN_OPTIONS.find(([, explanation]) => explanation === value);
  const values = EXPLAIN_OPTIONS.map(([, explanation]) => explanation).join(", ");
  if (!found) throw new UsageError(`--explain takes ${values}, not "${value}"`);
  return `--${found[0]}`;
}

/** A longer file is not read, because it exceeds the limit of a vocabulary in any encoding. */
const MAX_VOCABULARY_BYTES = 4 * MAX_FILE_CHARACTERS;

async function readVocabulary(path: string | undefined): Promise<VocabularyEntry[]> {
  if (path === undefined) return [];
  const limits = { maxBytes: MAX_VOCABULARY_BYTES, limit: `${MAX_FILE_CHARACTERS} characters` };
  const parsed = parseVocabularyFile(await readTextInput({ kind: "vocabulary", path, ...limits }));
  if (parsed.problem === null) return parsed.entries;
  const { line, message } = parsed.problem;
  throw new UsageError(
    line === null ? `vocabulary ${path} ${message}` : `vocabulary ${path}, line ${line}: ${message}`,
  );
}

async function readScript(path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  const limits = { maxBytes: MAX_SCRIPT_BYTES, limit: `${MAX_SCRIPT_CHARACTERS} characters` };
  const text = (await readTextInput({ kind: "script", path, ...limits })).trim();
  const problem = findScriptLimit(text);
  if (problem !== null) throw new UsageError(`script ${path} ${problem}`);
  return text;
}

function parseOptions(values: ParsedCommand["values"]): CutOptions {
  const mode = (values.mode as string | undefined) ?? "natural";
  if (!Object.hasOwn(CUT_MODES, mode))
    throw new UsageError(`--mode takes ${Object.keys(CUT_MODES).join(", ")}, not "${mode}"`);
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
