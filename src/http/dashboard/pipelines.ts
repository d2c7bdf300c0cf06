/** Pipelines: several steps on one asset, and the preparations, cuts and renders that were requested one by one. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { JOB_FACTS } from "../../domain/jobs";
import { oneOf, optional, strictObject, uuidField } from "../../domain/schema-parts";
import { STEP_STATES } from "../../domain/states";
import { findAsset, listAssetNames } from "../../store/assets";
import type { Queries } from "../../store/db";
import { findPipeline, listPipelines, listSteps, type Pipeline, type StepRow } from "../../store/pipelines";
import { toActor } from "../../work/access/access";
import { cancelPipeline, createChain, retryStep } from "../../work/pipelines/requests";
import { type Call, created, createOnce, ok } from "../call";
import { offsetListRoute } from "../list-route";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { respondsWith } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import { pipelineSteps, readSteps } from "./pipeline-steps";

const stepSchema = SCHEMAS.Pipeline.properties.steps.items;

const showStep = (step: StepRow): Resource<"Pipeline">["steps"][number] =>
  showRow(stepSchema, step, {
    cut_id: JOB_FACTS[step.processor_name].subject === "cut" ? step.subject_id : null,
    render_id: JOB_FACTS[step.processor_name].subject === "render" ? step.subject_id : null,
    progress: readStepProgress(step),
  });

function readStepProgress({ state, run_after, progress }: StepRow): number | null {
  if (state === "completed") return 1;
  return run_after !== null && (state === "pending" || state === "running") ? (progress ?? 0) : null;
}

type PipelineParts = { row: Pipeline; steps: StepRow[]; assetName: string | null };

const showPipeline = async (call: Call, { row, steps: its, assetName }: PipelineParts): Promise<Resource<"Pipeline">> =>
  showRow(SCHEMAS.Pipeline, row, {
    input_asset_name: assetName,
    steps: its.map(showStep),
    ...(await call.authorship(row.created_by)),
  });

/** Adds the steps and the names of their assets to pipelines, for the response. */
async function readParts(db: Queries, rows: Pipeline[]): Promise<PipelineParts[]> {
  const ids = rows.map((row) => row.id);
  const its = await listSteps(db, ids);
  const inputs = rows.flatMap((row) => row.input_asset_id ?? []);
  const names = await listAssetNames(db, inputs);
  return rows.map((row) => ({
    row,
    steps: its.get(row.id) ?? [],
    assetName: names.get(row.input_asset_id ?? "") ?? null,
  }));
}

const body = strictObject({ input_asset_id: uuidField("The asset that the steps work on"), steps: pipelineSteps });

async function showStored(call: Call, db: Queries, id: string): Promise<Resource<"Pipeline">> {
  const row = requireFound(await findPipeline(db, call.principal.workspace.id, id), "Pipeline");
  const [parts] = await readParts(db, [row]);
  return showPipeline(call, parts!);
}

export const pipelineLoader = createOwnLoader("Pipeline", "pipeline_id", findPipeline);

export const create = route({
  summary: "Run several steps on an asset, one after another",
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  example: {
    input_asset_id: "01a1fc62-d8c4-75df-a939-e3013b9e8bc0",
    steps: [
      { processor_name: "cut", params: { options: { mode: "tight" } } },
      { processor_name: "render", params: { output: { format: "mp4" } } },
    ],
  },
  errors: [
    "not_found",
    "asset_processing",
    "asset_payment_required",
    "asset_failed",
    "asset_not_ready",
    "modifier_not_ready",
    "conflict",
    "insufficient_credits",
  ],
  body,
  idempotent: true,
  responses: { 201: respondsWith("Pipeline", "The pipeline. Its first step is pending") },
  handle: async (call, { body }) => {
    const { services, principal } = call;
    const requests = await readSteps(body);
    const reply = await createOnce(call, async (tx) => {
      const asset = requireFound(await findAsset(tx, principal.workspace.id, body.input_asset_id), "Asset");
      const id = await createChain(services, tx, { ...toActor(principal), asset, steps: requests });
      return created(call.url(`/pipelines/${id}`), await showStored(call, tx, id));
    });
    services.runner.wake();
    return reply;
  },
});

export const list = offsetListRoute({
  summary:
    "List pipelines, newest first, including preparations, and cuts and renders that were requested individually",
  filters: {
    state: Type.Optional(oneOf(...STEP_STATES)),
    is_open: optional(
      oneOf("true", "false"),
      "`true` lists only running and waiting pipelines, `false` only ended ones",
    ),
    input_asset_id: Type.Optional(uuidField("Only pipelines of this asset")),
  },
  item: "Pipeline",
  description: "A page of pipelines with their steps",
  read: async ({ services, principal }, { filters, ...page }) => {
    const { read } = services.store;
    const { is_open: open, ...values } = filters;
    const filter = { ...values, isOpen: open === undefined ? undefined : open === "true" };
    const { rows, total } = await listPipelines(read, principal.workspace.id, filter, page);
    return { rows: await readParts(read, rows), total };
  },
  show: showPipeline,
});

export const read = route({
  summary: "Retrieve a pipeline with its steps",
  responses: { 200: respondsWith("Pipeline", "The pipeline") },
  load: pipelineLoader,
  handle: async (call, { resource }) => ok(await showStored(call, call.services.store.read, resource.id)),
});

export const cancel = route({
  summary: "Cancel a pipeline: its render is cancelled, its cut fails with cancelled",
  errors: ["conflict", "upstream_unavailable"],
  responses: { 200: respondsWith("Pipeline", "The cancelled pipeline") },
  load: pipelineLoader,
  handle: async (call, { resource }) => {
    const { services, principal } = call;
    await cancelPipeline(services, principal.workspace.id, resource.id);
    return ok(await showStored(call, services.store.read, resource.id));
  },
});

export const retry = route({
  summary: "Retry a failed or cancelled step with a new cut or render, and continue the pipeline from there",
  errors: [
    "conflict",
    "asset_processing",
    "asset_payment_required",
    "asset_failed",
    "asset_not_ready",
    "insufficient_credits",
    "upstream_unavailable",
  ],
  responses: { 200: respondsWith("Pipeline", "The pipeline. The step is pending") },
  load: pipelineLoader,
  handle: async (call) => {
    const { services, principal, params } = call;
    const reply = await services.store.write(async (tx) => {
      // Read again: another call may have started it in the meantime.
      const pipeline = requireFound(await findPipeline(tx, principal.workspace.id, params.pipeline_id!), "Pipeline");
      await retryStep(services, tx, toActor(principal), { pipeline, stepId: params.step_id! });
      return ok(await showStored(call, tx, pipeline.id));
    });
    services.runner.wake();
    return reply;
  },
});
