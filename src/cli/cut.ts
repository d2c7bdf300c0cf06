/** `offcut cut`: cuts and renders recordings on this machine, without a server, an account or credits. */
import { openMediaTools } from "../boot";
import type { Config } from "../config";
import { AppError } from "../domain/errors";
import type { RenderResult } from "../domain/media";
import type { PlanJson } from "../domain/plan-json";
import { writeAtomic } from "../lib/atomic-file";
import { killAllChildren } from "../lib/process";
import {
  type OneShotTools,
  openRecording,
  planRecording,
  prepareRecording,
  renderRecording,
  requireOutput,
  withWorkFolder,
} from "../work/one-shot";
import { CUT_HELP, type CutArguments, type CutTask, readCutArguments, requireFree, toCutPath } from "./cut-arguments";
import { requireExportable, writeCompanions } from "./cut-companions";
import { loadCommandConfig, runCommand, UsageError } from "./options";
import { explainPlan } from "./plan-explanation";
import { drawTimeline, formatRemovedTable, summarizePlan } from "./plan-report";
import { openPrivateAssets } from "./private-assets";
import { createProgress } from "./progress";

/** The result of one recording, as `--json` shows it. `explanation` only with `--explain`. */
type CutResult = {
  input: string;
  output: string | null;
  plan_file: string | null;
  exports: string[];
  subtitles: string[];
  size_bytes: number | null;
  strategy: RenderResult["strategy"] | null;
  encoded_share: number | null;
  strategy_reasons: string[];
  warnings: string[];
  plan: PlanJson;
  explanation?: string[];
};
type CutFailure = { input: string; error: { code: string; message: string } };

/** Exit code of a program that SIGINT ended. */
const INTERRUPTED_EXIT_CODE = 130;
const MAX_COLUMNS = 100;

/** Returns the exit code: 0 when every recording was cut, 1 when one failed, 2 for wrong usage, 130 when interrupted. */
export function cutCommand(argv: string[]): Promise<number> {
  return runCommand("cut", async () => {
    const args = await readCutArguments(argv);
    if (args === null) {
      process.stdout.write(CUT_HELP);
      return 0;
    }
    const config = await loadCommandConfig(args.parsed);
    const stop = new AbortController();
    const interrupt = () => stop.abort(new Error("interrupted"));
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, interrupt);
    try {
      return await cutAll(args, config, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      process.stderr.write("offcut cut: interrupted\n");
      return INTERRUPTED_EXIT_CODE;
    } finally {
      await killAllChildren();
    }
  });
}

async function cutAll(args: CutArguments, config: Config, signal: AbortSignal): Promise<number> {
  const assets = await openPrivateAssets(config);
  const media = await openMediaTools(config, assets, config.dataDir, { speech: null, log: null });
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
      title = printable(task.name);
      try {
        const result = await cutOne(tools, task, args);
        progress.clear();
        items.push(result);
        if (!args.json) printReport(result);
      } catch (error) {
        progress.clear();
        signal.throwIfAborted();
        if (args.tasks.length === 1 && error instanceof UsageError) throw error;
        items.push(toFailure(task.path, error));
        process.stderr.write(`offcut cut: ${title}: ${(error as Error).message}\n`);
      }
    }
  } finally {
    progress.clear();
    await media.speech.close();
  }
  if (args.json) process.stdout.write(`${JSON.stringify({ items })}\n`);
  return items.some((item) => "error" in item) ? 1 : 0;
}

async function cutOne(tools: OneShotTools, task: CutTask, args: CutArguments): Promise<CutResult> {
  const { path, planPath } = task;
  const neighbour = task.render ? (task.output ?? path) : (planPath ?? path);
  return withWorkFolder(neighbour, async (workDir) => {
    const open = await openRecording(tools, path, workDir);
    let output = task.output;
    // Checked before the long work. Without an output name, only the probed recording decides it.
    const { probed, transcript } = await prepareRecording(tools, open, args.language, (found) => {
      if (task.render) output ??= toCutPath(path, found.info.type === "audio" ? "m4a" : "mp4");
      else output = null;
      if (output !== null) requireFree(path, output, args.force);
      if (output !== null) requireOutput(found, task.format);
      requireExportable(task, found);
    });
    const { script, language, options, explain } = args;
    const { plan, findings } = await planRecording(tools, open, probed, { script, language, options, explain });
    if (planPath !== null) await writeAtomic(planPath, `${JSON.stringify(plan, null, 2)}\n`);
    const companions = await writeCompanions({ ...task, output }, { plan, probed, transcript });
    const rendered =
      output === null
        ? null
        : await renderRecording(
            tools,
            open,
            { probed, plan },
            { format: task.format, outputPath: output, replace: args.force },
          );
    const result = {
      input: path,
      output,
      plan_file: planPath,
      exports: companions.exports,
      subtitles: companions.subtitles,
      size_bytes: rendered?.sizeBytes ?? null,
      strategy: rendered?.strategy ?? null,
      encoded_share: rendered?.encodedShare ?? null,
      strategy_reasons: rendered?.reasons ?? [],
      warnings: [...(rendered?.warnings ?? []), ...companions.warnings],
      plan,
    };
    return explain ? { ...result, explanation: explainPlan(plan, findings) } : result;
  });
}

function printReport(result: CutResult): void {
  const { plan } = result;
  const width = Math.max(20, Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS));
  const lines = [...drawTimeline(plan, width), "", ...formatRemovedTable(plan), "", ...summarizePlan(plan)];
  if (result.explanation) lines.push("", ...result.explanation, "");
  for (const warning of result.warnings) lines.push(`note: ${warning}`);
  if (result.plan_file !== null) lines.push(`plan: ${printable(result.plan_file)}`);
  for (const [what, paths] of Object.entries({ timeline: result.exports, subtitles: result.subtitles }))
    for (const path of paths) lines.push(`${what}: ${printable(path)}`);
  if (result.output !== null) {
    const megabytes = ((result.size_bytes ?? 0) / 1e6).toFixed(2);
    lines.push(`written: ${printable(result.output)} (${megabytes} MB, ${result.strategy})`);
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

function toFailure(input: string, error: unknown): CutFailure {
  const code = error instanceof AppError ? error.code : "processing_failed";
  return { input, error: { code, message: error instanceof Error ? error.message : String(error) } };
}

/** Returns a file name for the terminal, its control characters replaced by `?`. */
const printable = (path: string): string => path.replace(/\p{Cc}/gu, "?");
