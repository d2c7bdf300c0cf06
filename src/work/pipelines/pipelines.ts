/**
 * Pipelines: steps that run in sequence. The only place that starts and ends steps, so that the next step, the price,
 * the output and the end of the pipeline are always written with the end of a step.
 */
import { AppError, conflict, notFound, requireFound } from "../../domain/errors";
import { JOB_FACTS, type JobName, type Runner } from "../../domain/jobs";
import { type StepRequest, shareScripts, withoutScript } from "../../domain/step-params";
import { newId } from "../../lib/ids";
import { findAssetById } from "../../store/assets";
import { findCutById } from "../../store/cuts";
import type { Queries } from "../../store/db";
import {
  countWaitingJobs,
  endPipeline,
  findOpenStep,
  findPipelineById,
  findPrecedingCutId,
  insertPipeline,
  type Pipeline,
  readScriptOfStep,
  startStep,
} from "../../store/pipelines";
import { findProject } from "../../store/projects";
import { endStep, type Step, type StepAttempt } from "../../store/steps";
import { readPrices } from "../billing/prices";
import { consumeStepPrice, getStepPrice, holdStepPrices, releaseStepPrices } from "../billing/step-prices";
import { insertNewCut } from "../cuts/new-cuts";
import type { PartialTranscripts } from "../live/partial-transcripts";
import type { ConfigNeeds, CoreNeeds } from "../needs";
import { type CheckedOutput, checkOutput, insertNewRender, requireCompletedCut } from "../renders/new-renders";
import { findQuotaProblem, requireRoomForText } from "../storage/limits";
import { registerOutput } from "./chain-outputs";
import { notifyOfEnd } from "./notices";

/** The runner starts and cancels steps. `partialTranscripts`: the words of recordings that are being transcribed. */
export type PipelineNeeds = CoreNeeds & { runner: Runner; partialTranscripts: PartialTranscripts };

/** The user who starts a pipeline, and its asset. `userId` null: the account was deleted. */
type PipelineStart = { workspaceId: string; userId: string | null; assetId: string; now: number };

/**
 * Starts a pipeline of one step, whose subject exists. Errors: `conflict` (too many jobs wait), `insufficient_credits`.
 */
export async function startPipeline(
  services: ConfigNeeds,
  tx: Queries,
  start: PipelineStart & { name: JobName; subjectId: string },
): Promise<void> {
  const { name, subjectId } = start;
  await insertSteps(services, tx, start, { isChain: false, steps: [{ name, subject_id: subjectId, params: null }] });
}

/** Starts a chain. Returns its ID. Errors: those of `createSubject` and `startPipeline`. */
export async function startChain(services: CoreNeeds, tx: Queries, start: PipelineStart, steps: StepRequest[]) {
  const first = { ...steps[0]!, precedingCutId: null };
  const params = shareScripts(steps);
  const subjectId = await createSubject(services, tx, { ...start, isChain: true, request: first });
  const texts = params.map((one) => JSON.stringify(one));
  await requireRoomForText(services, tx, start.workspaceId, texts);
  return insertSteps(services, tx, start, {
    isChain: true,
    steps: steps.map(({ name }, n) => ({ name, params: params[n]!, subject_id: n === 0 ? subjectId : null })),
  });
}

const MAX_WAITING_JOBS = 1_000;

/** Throws `AppError` `conflict` when too many cuts and renders of the workspace are waiting. */
export async function requireRoomForJob(tx: Queries, workspaceId: string): Promise<void> {
  if ((await countWaitingJobs(tx, workspaceId)) < MAX_WAITING_JOBS) return;
  throw conflict("Limit of 1,000 waiting cuts and renders reached. Wait until some have started.");
}

type NewSteps = { isChain: boolean; steps: (Pick<Step, "params" | "subject_id"> & { name: JobName })[] };

async function insertSteps(
  { config }: ConfigNeeds,
  tx: Queries,
  start: PipelineStart,
  { isChain, steps }: NewSteps,
): Promise<string> {
  const { workspaceId, assetId, now } = start;
  const id = newId();
  const stepPrices = await readPrices(config, tx);
  const prices = steps.map(({ name }) => getStepPrice(stepPrices, name));
  const total = prices.reduce((sum, price) => sum + price, 0);
  const { startedBy } = JOB_FACTS[steps[0]!.name];
  if (startedBy !== "upload") await requireRoomForJob(tx, workspaceId);
  await holdStepPrices(tx, { id, workspaceId }, total, now);
  await insertPipeline(
    tx,
    {
      id,
      workspace_id: workspaceId,
      state: "pending",
      input_asset_id: assetId,
      is_chain: isChain,
      is_hidden: startedBy === "server",
      total_credits_reserved: total,
      created_by: start.userId,
      created_at: now,
    },
    steps.map(({ name, params, subject_id }, n) => ({
      pipeline_id: id,
      workspace_id: workspaceId,
      step_order: n,
      processor_name: name,
      state: "pending" as const,
      params,
      subject_id,
      input_asset_id: assetId,
      credits_cost: prices[n]!,
      run_after: n === 0 ? now : null,
      created_at: now,
    })),
  );
  return id;
}

/**
 * `precedingCutId`: the cut that a render without a cut of its own applies. `checked`: its output was checked before.
 * `isStored`: the script of the cut moves from the step to the cut, so that it needs no more storage.
 */
export type SubjectRequest = Omit<PipelineStart, "now"> & {
  isChain: boolean;
  isStored?: boolean;
  request: StepRequest & { precedingCutId: string | null; checked?: CheckedOutput };
};

/**
 * Creates the cut or render of a step and returns its ID. Errors: `not_found` (asset or cut), those of `insertNewCut`,
 * `checkOutput` and `insertNewRender`.
 */
export async function createSubject(services: CoreNeeds, tx: Queries, subject: SubjectRequest): Promise<string> {
  const { request, userId } = subject;
  const asset = requireFound(await findAssetById(tx, subject.assetId), "Asset");
  const project = await findProject(tx, asset.workspace_id, asset.project_id);
  // A chain creates assets, which an archived project does not accept.
  if (subject.isChain && project?.state === "archived")
    throw conflict("Project is archived and accepts no new assets.");
  if (request.name === "cut") {
    const { isStored = false } = subject;
    return (await insertNewCut(services, tx, { asset, ...request.params, userId, isStored })).id;
  }
  const cutId = request.params.cutId ?? request.precedingCutId;
  const cut = cutId === null ? null : await findCutById(tx, cutId);
  if (cutId !== null && cut === null) throw notFound("Cut");
  const output = request.checked ?? checkOutput(asset, request.params.output);
  requireCompletedCut(cut);
  return (await insertNewRender(services, tx, { asset, cut, output, userId })).id;
}

/**
 * Ends an incomplete step and its pipeline, and releases their holds. With an attempt, returns false if another one has
 * replaced it; also if the step had ended.
 */
export async function endPipelineStep(
  tx: Queries,
  step: { stepId: string } | StepAttempt,
  end: { now: number } & ({ state: "cancelled" } | { state: "failed"; error: { code: string; message: string } }),
): Promise<boolean> {
  const error = end.state === "failed" ? end.error : undefined;
  const ended = await endStep(tx, step, { state: end.state, error, now: end.now });
  if (!ended) return false;
  const pipeline = await finishPipeline(tx, ended.pipeline_id, end.state, end.now);
  if (pipeline && error) await notifyOfEnd(tx, pipeline, { name: ended.processor_name, ...error });
  return true;
}

/**
 * Completes a step: `settle` writes its result, its price is charged, and the next step starts. Returns false, and
 * writes nothing, if another attempt has replaced this one or the step had ended.
 */
export async function completePipelineStep(
  services: CoreNeeds,
  tx: Queries,
  job: StepAttempt,
  settle: () => Promise<void>,
): Promise<boolean> {
  const now = services.now();
  const step = await endStep(tx, job, { state: "completed", now });
  if (!step) return false;
  await settle();
  await consumeStepPrice(tx, step, now);
  const pipeline = await findPipelineById(tx, step.pipeline_id);
  if (!pipeline) return true;
  if (pipeline.is_chain) await registerOutput(tx, pipeline, step, now);
  const next = await findOpenStep(tx, pipeline.id);
  if (next) await startNextStep(services, tx, pipeline, next);
  else {
    const ended = await finishPipeline(tx, pipeline.id, "completed", now);
    if (ended) await notifyOfEnd(tx, ended, null);
  }
  return true;
}

/** Starts the next step of a chain. If it cannot start, the step and the pipeline fail. */
async function startNextStep(services: CoreNeeds, tx: Queries, pipeline: Pipeline, step: Step): Promise<void> {
  const now = services.now();
  try {
    const full = await findQuotaProblem(services, tx, step.workspace_id);
    if (full) throw new AppError("storage_full", full);
    const subjectId = await createSubject(services, tx, {
      workspaceId: pipeline.workspace_id,
      userId: pipeline.created_by,
      assetId: pipeline.input_asset_id ?? "",
      isChain: pipeline.is_chain,
      isStored: hasOwnScript(step),
      request: await readStepRequest(tx, step),
    });
    await startStep(tx, step.id, { subjectId, params: toStartedParams(step), now });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const reason = { code: toStepCode(error.code), message: error.message };
    await endPipelineStep(tx, { stepId: step.id }, { state: "failed", now, error: reason });
  }
}

/** Returns the error code of a step for that of a retryable request: steps are not retried. */
const toStepCode = (code: string): string => (code === "upstream_unavailable" ? "storage_full" : code);

/** Returns whether the step has a script that is not yet in a cut. */
const hasOwnScript = ({ params }: Step): boolean => params !== null && "script" in params;

/** Returns the parameters of the step once its cut or render exists. */
export const toStartedParams = ({ params, step_order }: Step): Step["params"] =>
  params && withoutScript(params, step_order);

/** Returns the request of a chain's step. Throws `AppError` `not_found` if the cut that has its script was deleted. */
export async function readStepRequest(tx: Queries, step: Step): Promise<SubjectRequest["request"]> {
  const { processor_name: name, params } = step;
  if (params === null || JOB_FACTS[name].startedBy !== "user")
    throw new Error(`step ${step.id} is not part of a chain`);
  const precedingCutId = await findPrecedingCutId(tx, step.pipeline_id, step.step_order);
  // The parameters are of the kind that the processor has.
  if (!("scriptOfStep" in params)) return { ...({ name, params } as StepRequest), precedingCutId };
  const script = requireFound(await readScriptOfStep(tx, step.pipeline_id, params.scriptOfStep), "Cut with the script");
  return { name: "cut", params: { script, options: params.options }, precedingCutId };
}

/** Ends a pipeline and releases its holds. Returns null if it had already ended. */
async function finishPipeline(
  tx: Queries,
  id: string,
  state: "completed" | "failed" | "cancelled",
  now: number,
): Promise<Pipeline | null> {
  const ended = await endPipeline(tx, id, state, now);
  if (ended) await releaseStepPrices(tx, { id, workspaceId: ended.workspace_id }, now);
  return ended;
}
