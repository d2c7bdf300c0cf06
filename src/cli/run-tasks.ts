/** Runs the commands that process recordings on this machine: progress, errors of single recordings, reports. */
import { openMediaTools } from "../boot-tools";
import type { Config } from "../config";
import { AppError, type FieldError } from "../domain/errors";
import type { ProbedMedia, RenderResult } from "../domain/media";
import type { PlanJson } from "../domain/plan-json";
import { escapeControls } from "../lib/control-characters";
import { killAllChildren } from "../lib/process";
import { type OneShotTools, type OpenRecording, renderRecording, requireOutput } from "../work/cuts/one-shot";
import { type CompanionSource, requireExportable, writeCompanions } from "./cut-companions";
import { type CutTask, requireFree, type TaskArguments, toCutPath } from "./cut-tasks";
import { abortWhenInterrupted, INTERRUPTED_EXIT_CODE, loadCommandConfig, UsageError, withExitCode } from "./options";
import { drawTimeline, formatRemovedTable, summarizePlan } from "./plan-report";
import { print, printError } from "./print";
import { openPrivateAssets } from "./private-assets";
import { createProgress } from "./progress";

/** The result of one recording, as shown by `--json`. `explanation` is present only with `--explain`. */
export type CutResult = {
  input: string;
  output: string | null;
  plan_file: string | null;
  exports: string[];
  subtitles: string[];
  transcripts: string[];
  size_bytes: number | null;
  strategy: RenderResult["strategy"] | null;
  encoded_share: number | null;
  strategy_reasons: string[];
  warnings: string[];
  plan: PlanJson;
  explanation?: string[];
};
type CutFailure = { input: string; error: { code: string; message: string; fields?: FieldError[] } };

const MAX_COLUMNS = 100;

/** A command that processes recordings. `readArguments` returns null if help is requested. */
type TaskCommand<Arguments extends TaskArguments> = {
  name: string;
  help: string;
  transcribes: boolean;
  readArguments(argv: string[]): Promise<Arguments | null>;
  process(tools: OneShotTools, task: CutTask, args: Arguments): Promise<CutResult>;
};

/** Returns the exit code: 0 if every recording was processed, 1 if one failed, 2 for usage, 130 if interrupted. */
export function runTaskCommand<Arguments extends TaskArguments>(
  command: TaskCommand<Arguments>,
  argv: string[],
): Promise<number> {
  return withExitCode(command.name, async () => {
    const args = await command.readArguments(argv);
    if (args === null) {
      print(command.help);
      return 0;
    }
    const config = await loadCommandConfig(args.parsed);
    const signal = abortWhenInterrupted("interrupted");
    try {
      return await runTasks(command, args, config, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      printError(`offcut ${command.name}: interrupted`);
      return INTERRUPTED_EXIT_CODE;
    } finally {
      await killAllChildren();
    }
  });
}

async function runTasks<Arguments extends TaskArguments>(
  command: TaskCommand<Arguments>,
  args: Arguments,
  config: Config,
  signal: AbortSignal,
): Promise<number> {
  const assets = await openPrivateAssets(config);
  const media = await openMediaTools(config, assets, config.dataDir, {
    speech: null,
    log: null,
    foreground: { transcribes: command.transcribes },
  });
  const progress = createProgress(process.stderr);
  const items: (CutResult | CutFailure)[] = [];
  let title = "";
  const tools: OneShotTools = {
    config,
    media,
    signal,
    onProgress: (stage, share) => progress.show(title, stage, share),
  };
  try {
    for (const task of args.tasks) {
      title = escapeControls(task.name);
      try {
        const result = await command.process(tools, task, args);
        progress.clear();
        items.push(result);
        if (!args.json) printReport(result);
      } catch (error) {
        progress.clear();
        signal.throwIfAborted();
        if (args.tasks.length === 1 && error instanceof UsageError) throw error;
        items.push(toFailure(task.path, error));
        printError(`offcut ${command.name}: ${title}: ${(error as Error).message}`);
      }
    }
  } finally {
    progress.clear();
    await media.speech.close();
  }
  if (args.json) print(`${JSON.stringify({ items })}\n`);
  return items.some((item) => "error" in item) ? 1 : 0;
}

const toOutputRequest = ({ format, loudness, noiseReduction, levelSpeakers }: CutTask) => ({
  format,
  audio: { loudness_lufs: loudness, noise_reduction: noiseReduction, level_speakers: levelSpeakers },
});

/** Returns the path of the rendered file, or null, before the long work. Only the probe determines a default name. */
export function requireTarget(task: CutTask, probed: ProbedMedia, force: boolean): string | null {
  const named = task.output ?? toCutPath(task.path, probed.info.type === "audio" ? "m4a" : "mp4");
  const output = task.render ? named : null;
  if (output !== null) requireFree(task.path, output, force);
  if (output !== null) requireOutput(probed, toOutputRequest(task));
  requireExportable(task, probed);
  return output;
}

/**
 * Writes the timelines, the subtitles, the transcripts and the rendered file of a task. `output` is the result of
 * `requireTarget`.
 */
export async function writeResults(
  tools: OneShotTools,
  open: OpenRecording,
  cut: CompanionSource & { task: CutTask; output: string | null; replace: boolean },
): Promise<CutResult> {
  const { task, output, plan, probed, replace } = cut;
  const companions = await writeCompanions({ ...task, output }, cut);
  const target = output === null ? null : { request: toOutputRequest(task), outputPath: output, replace };
  const rendered = target === null ? null : await renderRecording(tools, open, { probed, plan }, target);
  return {
    input: task.path,
    output,
    plan_file: task.planPath,
    exports: companions.exports,
    subtitles: companions.subtitles,
    transcripts: companions.transcripts,
    size_bytes: rendered?.sizeBytes ?? null,
    strategy: rendered?.strategy ?? null,
    encoded_share: rendered?.encodedShare ?? null,
    strategy_reasons: rendered?.reasons ?? [],
    warnings: [...(rendered?.warnings ?? []), ...companions.warnings],
    plan,
  };
}

function printReport(result: CutResult): void {
  const { plan } = result;
  const width = Math.max(20, Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS));
  const lines = [...drawTimeline(plan, width), "", ...formatRemovedTable(plan), "", ...summarizePlan(plan)];
  if (result.explanation) lines.push("", ...result.explanation, "");
  for (const warning of result.warnings) lines.push(`note: ${escapeControls(warning)}`);
  if (result.plan_file !== null) lines.push(`plan: ${escapeControls(result.plan_file)}`);
  const { exports: timeline, subtitles, transcripts: transcript } = result;
  for (const [what, paths] of Object.entries({ timeline, subtitles, transcript }))
    for (const path of paths) lines.push(`${what}: ${escapeControls(path)}`);
  if (result.output !== null) {
    const megabytes = ((result.size_bytes ?? 0) / 1e6).toFixed(2);
    lines.push(`written: ${escapeControls(result.output)} (${megabytes} MB, ${result.strategy})`);
  }
  print(`${lines.join("\n")}\n`);
}

function toFailure(input: string, error: unknown): CutFailure {
  const code = error instanceof AppError ? error.code : "processing_failed";
  const message = error instanceof Error ? error.message : String(error);
  const fields = error instanceof AppError ? error.details.fields : undefined;
  return { input, error: { code, message, ...(fields && { fields }) } };
}
