/** Pipelines and their steps as strict schemas, written independently of the server's. */
import { Type } from "@sinclair/typebox";
import { count, exactly, oneOf, orNull, share, text, time, uuid } from "./schema-parts";

const state = oneOf("pending", "running", "completed", "failed", "cancelled");

const step = exactly({
  id: uuid,
  step_order: count,
  processor_name: oneOf("prepare", "cut", "render", "preview"),
  state,
  credits_cost: count,
  input_asset_id: orNull(uuid),
  input_asset_deleted: Type.Boolean(),
  output_asset_id: orNull(uuid),
  output_asset_deleted: Type.Boolean(),
  cut_id: orNull(uuid),
  render_id: orNull(uuid),
  progress: orNull(share),
  error_code: orNull(text),
  error_message: orNull(text),
  started_at: orNull(time),
  finished_at: orNull(time),
});

export const pipeline = exactly({
  id: uuid,
  state,
  total_credits_reserved: count,
  total_credits_consumed: count,
  input_asset_id: orNull(uuid),
  input_asset_name: orNull(text),
  input_asset_deleted: Type.Boolean(),
  created_at: time,
  started_at: orNull(time),
  finished_at: orNull(time),
  steps: Type.Array(step, { minItems: 1 }),
  created_by: orNull(exactly({ id: uuid, name: orNull(text) })),
});

export const pipelineList = exactly({
  items: Type.Array(pipeline),
  total: count,
  limit: Type.Integer({ minimum: 1 }),
  offset: count,
});
