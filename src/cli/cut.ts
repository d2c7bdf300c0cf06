/** `offcut cut`: cuts and renders recordings on this machine, without a server, an account or credits. */
import { listPlanWords } from "../domain/plan-words";
import { writeAtomic } from "../lib/atomic-file";
import {
  type OneShotTools,
  openRecording,
  planRecording,
  prepareRecording,
  requireAudio,
  withWorkFolder,
} from "../work/cuts/one-shot";
import { CUT_HELP, type CutArguments, readCutArguments } from "./cut-arguments";
import type { CutTask } from "./cut-tasks";
import { describeRecognized, explainPlan } from "./plan-explanation";
import { type CutResult, requireTarget, runTaskCommand, writeResults } from "./run-tasks";

/** Returns the exit code of `runTaskCommand`. */
export const cutCommand = (argv: string[]): Promise<number> =>
  runTaskCommand({ name: "cut", help: CUT_HELP, readArguments: readCutArguments, process: cutOne }, argv);

async function cutOne(tools: OneShotTools, task: CutTask, args: CutArguments): Promise<CutResult> {
  const { path, planPath } = task;
  const { script, language, options, explain, force } = args;
  const neighbor = task.render ? (task.output ?? path) : (planPath ?? path);
  return withWorkFolder(neighbor, async (workDir) => {
    const open = await openRecording(tools, path, workDir);
    let output: string | null = null;
    const { probed, transcript } = await prepareRecording(tools, open, {
      language,
      scope: "analysis",
      check: (found) => {
        output = requireTarget(task, found, force);
        requireAudio(found);
      },
    });
    const request = { script, language, options, explain };
    const { plan, findings, recognized } = await planRecording(tools, open, probed, request);
    if (planPath !== null) await writeAtomic(planPath, `${JSON.stringify(plan, null, 2)}\n`);
    const words = listPlanWords(plan, transcript?.words ?? null);
    const result = await writeResults(tools, open, { task, output, plan, probed, words, replace: force });
    const explanation = () => [...explainPlan(plan, findings), ...describeRecognized(recognized)];
    return explain ? { ...result, explanation: explanation() } : result;
  });
}
