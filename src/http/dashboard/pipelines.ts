/** Pipelines: several steps on one asset, and the preparations, cuts and renders that were requested one by one. */
import { type Static, Type } from "@sinclair/typebox";
import { AppError, type FieldError, MAX_FIELD_ERRORS, moveFields } from "../../domain/errors";
import { STEP_STATES } from "../../domain/states";
import type { StepRequest } from "../../domain/step-params";
import { findAsset, listFilenames } from "../../store/assets";
import type { Queries } from "../../store/db";
import { findPipeline, listPipelines, listSteps, type Pipeline, type StepRow } from "../../store/pipelines";
import { toActor } from "../../work/access";
import { cancelPipeline, createChain, retryStep } from "../../work/pipeline-requests";
import { type Call, created, createOnce, ok } from "../call";
import { notFound } from "../errors";
import { oneOf, strictObject, uuidField } from "../fields";
import { formatTime } from "../format-time";
import { offsetListRoute } from "../offset-list-route";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { cutParams, readCutParams } from "../public/cuts";
import { renderParams } from "../public/renders";
import { respondsWith } from "../response-docs";
import { type ResourceLoader, route } from "../route";
import type { Resource } from "../schemas";
import { validate } from "../validation";

const MAX_STEPS = 10;

const asset_id = Type.Optional(uuidField("If present, the asset of the pipeline"));
const cutStepParams = strictObject({ asset_id, ...cutParams });
const renderStepParams = strictObject({ asset_id, ...renderParams });

const steps = Type.Array(
  strictObject({
    processor_name: oneOf("cut", "render"),
    params: Type.Optional(
      Type.Object(
        {},
        {
          description:
            "The body of POST cuts or POST renders without `asset_id`. A render after a cut applies it, and takes no `cut_id`",
          anyOf: [cutStepParams, renderStepParams],
        },
      ),
    ),
  }),
  { minItems: 1, maxItems: MAX_STEPS, errorText: `must be a list of 1 to ${MAX_STEPS} steps` },
);

const body = strictObject({ input_asset_id: uuidField("The asset that the steps work on"), steps });

/** Returns the steps with checked parameters. Throws `AppError` `validation_error` with the failing fields of all steps. */
async function readSteps(given: Static<typeof body>): Promise<StepRequest[]> {
  const fields: FieldError[] = [];
  const requests: StepRequest[] = [];
  let followsCut = false;
  for (const [n, { processor_name: name, params = {} }] of given.steps.entries()) {
    try {
      requests.push(await readStep(name, params, given.input_asset_id.toLowerCase(), followsCut));
    } catch (error) {
      const moved = moveFields(error, `body.steps.${n}.params`);
      if (!(moved instanceof AppError) || !moved.details.fields) throw moved;
      fields.push(...moved.details.fields);
    }
    followsCut ||= name === "cut";
  }
  if (fields.length === 0) return requests;
  throw new AppError("validation_error", "Request body has invalid fields.", {
    fields: fields.slice(0, MAX_FIELD_ERRORS),
  });
}

async function readStep(
  name: StepRequest["name"],
  params: unknown,
  assetId: string,
  followsCut: boolean,
): Promise<StepRequest> {
  if (name === "cut") {
    const cut = validate(cutStepParams, params, "body");
    requireAsset(cut.asset_id, assetId);
    return { name, params: await readCutParams(cut) };
  }
  const render = validate(renderStepParams, params, "body");
  requireAsset(render.asset_id, assetId);
  const cutId = render.cut_id?.toLowerCase() ?? null;
  if (cutId !== null && followsCut) throw invalid("cut_id", "is not allowed after a cut step, whose cut is applied");
  return { name, params: { cutId, output: render.output ?? {} } };
}

function requireAsset(given: string | undefined, assetId: string): void {
  if (given !== undefined && given.toLowerCase() !== assetId) throw invalid("asset_id", "must be the input_asset_id");
}

const invalid = (field: string, message: string): AppError =>
  new AppError("validation_error", "Request body has invalid fields.", {
    fields: [{ field: `body.${field}`, message }],
  });

const showStep = (step: StepRow): Resource<"Pipeline">["steps"][number] => ({
  id: step.id,
  step_order: step.step_order,
  processor_name: step.processor_name,
  state: step.state,
  credits_cost: step.credits_cost,
  input_asset_id: step.input_asset_id,
  input_asset_deleted: step.input_asset_deleted,
  output_asset_id: step.output_asset_id,
  output_asset_deleted: step.output_asset_deleted,
  cut_id: step.processor_name === "cut" ? step.subject_id : null,
  render_id: step.processor_name === "render" ? step.subject_id : null,
  progress: readStepProgress(step),
  error_code: step.error_code,
  error_message: step.error_message,
  started_at: formatTime(step.started_at),
  finished_at: formatTime(step.finished_at),
});

function readStepProgress({ state, run_after, progress }: StepRow): number | null {
  if (state === "completed") return 1;
  return run_after !== null && (state === "pending" || state === "running") ? (progress ?? 0) : null;
}

type PipelineParts = { row: Pipeline; steps: StepRow[]; assetName: string | null };

const showPipeline = async (
  call: Call,
  { row, steps: its, assetName }: PipelineParts,
): Promise<Resource<"Pipeline">> => ({
  id: row.id,
  state: row.state,
  total_credits_reserved: row.total_credits_reserved,
  total_credits_consumed: row.total_credits_consumed,
  input_asset_id: row.input_asset_id,
  input_asset_name: assetName,
  input_asset_deleted: row.input_asset_deleted,
  created_at: formatTime(row.created_at),
  started_at: formatTime(row.started_at),
  finished_at: formatTime(row.finished_at),
  steps: its.map(showStep),
  ...(await call.authorship(row.created_by)),
});

/** Adds the steps and the names of their assets to pipelines, for the response. */
async function readParts(db: Queries, rows: Pipeline[]): Promise<PipelineParts[]> {
  const its = await listSteps(
    db,
    rows.map((row) => row.id),
  );
  const names = await listFilenames(
    db,
    rows.flatMap((row) => row.input_asset_id ?? []),
  );
  return rows.map((row) => ({
    row,
    steps: its.get(row.id) ?? [],
    assetName: names.get(row.input_asset_id ?? "") ?? null,
  }));
}

/** Reads the pipeline as the response shows it. */
async function showStored(call: Call, db: Queries, id: string): Promise<Resource<"Pipeline">> {
  const row = await findPipeline(db, call.principal.workspace.id, id);
  if (!row) throw notFound("Pipeline");
  const [parts] = await readParts(db, [row]);
  return showPipeline(call, parts!);
}

const load: ResourceLoader<Pipeline> = {
  name: "Pipeline",
  find: ({ services, principal, params }) =>
    findPipeline(services.store.read, principal.workspace.id, params.pipeline_id!),
};

export const create = route({
  summary: "Run several steps on an asset, one after the other",
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
      const asset = await findAsset(tx, principal.workspace.id, body.input_asset_id.toLowerCase());
      if (!asset) throw notFound("Asset");
      const id = await createChain(services, tx, { ...toActor(principal), asset, steps: requests });
      return created(call.url(`/pipelines/${id}`), await showStored(call, tx, id));
    });
    services.runner.wake();
    return reply;
  },
});

export const list = offsetListRoute({
  summary: "List pipelines, newest first: also preparations, and cuts and renders that were requested one by one",
  access: {},
  filters: {
    state: Type.Optional(oneOf(...STEP_STATES)),
    is_open: Type.Optional({
      ...oneOf("true", "false"),
      description: "`true`: only pipelines that run or wait. `false`: only those that have ended",
    }),
    input_asset_id: Type.Optional(uuidField("Only pipelines of this asset")),
  },
  item: "Pipeline",
  description: "A page of pipelines with their steps",
  read: async ({ services, principal }, { filters, ...page }) => {
    const { read } = services.store;
    const { state, is_open: open, input_asset_id: assetId } = filters;
    const filter = {
      state,
      isOpen: open === undefined ? undefined : open === "true",
      inputAssetId: assetId?.toLowerCase(),
    };
    const { rows, total } = await listPipelines(read, principal.workspace.id, filter, page);
    return { rows: await readParts(read, rows), total };
  },
  show: showPipeline,
});

export const read = route({
  summary: "Retrieve a pipeline with its steps",
  responses: { 200: respondsWith("Pipeline", "The pipeline") },
  load,
  handle: async (call, { resource }) => ok(await showStored(call, call.services.store.read, resource.id)),
});

export const cancel = route({
  summary: "Cancel a pipeline: its render is cancelled, its cut fails with cancelled",
  errors: ["conflict"],
  responses: { 200: respondsWith("Pipeline", "The cancelled pipeline") },
  load,
  handle: async (call, { resource }) => {
    const { services, principal } = call;
    await cancelPipeline(services, principal.workspace.id, resource.id);
    return ok(await showStored(call, services.store.read, resource.id));
  },
});

export const retry = route({
  summary: "Retry a failed or cancelled step with a new cut or render, and run on from there",
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
  load,
  handle: async (call) => {
    const { services, principal, params } = call;
    const reply = await services.store.write(async (tx) => {
      // Read again: another call may have started it meanwhile.
      const pipeline = await findPipeline(tx, principal.workspace.id, params.pipeline_id!);
      if (!pipeline) throw notFound("Pipeline");
      await retryStep(services, tx, toActor(principal), { pipeline, stepId: params.step_id! });
      return ok(await showStored(call, tx, pipeline.id));
    });
    services.runner.wake();
    return reply;
  },
});
