/** The schemas of the public resources. They type the mappers of the resources and make the OpenAPI documents. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { CutMode, RemovalReason } from "../../domain/plan";
import { OUTPUT_FORMATS } from "../../domain/render-output";
import {
  ASSET_KINDS,
  ASSET_STATES,
  ASSET_TYPES,
  CUT_STATES,
  DELIVERY_STATES,
  ENDPOINT_STATES,
  LEDGER_TYPES,
  PROJECT_STATES,
  RENDER_STATES,
  RENDER_STRATEGIES,
} from "../../domain/states";
import { EVENT_TYPES } from "../../domain/webhooks";
import { strictObject } from "../fields";

const id = Type.String({ format: "uuid" });
const text = Type.String();
const time = Type.String({ format: "date-time" });
const whole = Type.Integer();
const seconds = Type.Number({ description: "seconds on the source's clock" });
const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const words = <const Word extends string>(values: readonly Word[]) =>
  Type.Unsafe<Word>(Type.String({ enum: [...values] }));

const rate = strictObject({ num: whole, den: whole });

const assetSummary = {
  id,
  project_id: id,
  kind: words(ASSET_KINDS),
  type: orNull(words(ASSET_TYPES), "derived from the bytes after the first chunk"),
  state: words(ASSET_STATES),
  extension: orNull(text),
  size_bytes: orNull(whole),
  content_type: orNull(text),
  duration_seconds: orNull(Type.String({ pattern: "^[0-9]+(\\.[0-9]+)?$" }), "a decimal number"),
  language: orNull(text, "ISO 639-1; null is found out"),
  external_id: orNull(text, "as given in Upload-Metadata"),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  upload_url: orNull(text, "the TUS transfer URL while pending_upload"),
};

const cut = {
  id,
  asset_id: id,
  state: words(CUT_STATES),
  script: text,
  options: strictObject({
    mode: words<CutMode>(["tight", "natural", "loose"]),
    min_silence_seconds: Type.Number(),
    padding_before_seconds: Type.Number(),
    padding_after_seconds: Type.Number(),
    remove_fillers: Type.Boolean(),
    remove_retakes: Type.Boolean(),
  }),
  edited_from: orNull(id),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
};

const plan = strictObject({
  source_duration: seconds,
  kept_duration: Type.Number(),
  frame_rate: orNull(rate),
  segments: Type.Array(
    strictObject({
      start: seconds,
      end: seconds,
      start_frame: orNull(whole),
      end_frame: orNull(whole, "exclusive"),
      text,
      review: orNull(text, "why an editor should look"),
    }),
  ),
  removed: Type.Array(
    strictObject({
      start: seconds,
      end: seconds,
      reason: words<RemovalReason>(["silence", "filler", "retake", "off_script", "noise", "manual"]),
      text,
    }),
  ),
  takes: Type.Array(
    strictObject({
      line: text,
      chosen: whole,
      candidates: Type.Array(
        strictObject({ start: seconds, end: seconds, score: Type.Number(), complete: Type.Boolean() }),
      ),
    }),
  ),
  missing: Type.Array(text),
  warnings: Type.Array(text),
});

const render = {
  id,
  asset_id: id,
  cut_id: orNull(id),
  state: words(RENDER_STATES),
  output: strictObject({
    format: words(OUTPUT_FORMATS),
    resolution: orNull(Type.String({ pattern: "^[0-9]+p$" })),
    video_bitrate: orNull(whole, "bits per second"),
    frame_rate: orNull(whole, "frames per second"),
    audio_bitrate: orNull(whole, "bits per second"),
  }),
  size_bytes: orNull(whole),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
};

const endpoint = {
  id,
  url: text,
  event_types: Type.Array(words(EVENT_TYPES)),
  state: words(ENDPOINT_STATES),
  created_at: time,
};

const link = orNull(text, "a signed link of 15 minutes");

/** By the names that the documentation uses. */
export const SCHEMAS = {
  Project: strictObject({
    id,
    name: text,
    state: words(PROJECT_STATES),
    archived_at: orNull(time),
    created_at: time,
    updated_at: time,
    last_activity_at: time,
  }),
  Asset: strictObject(assetSummary),
  AssetDetail: strictObject({
    ...assetSummary,
    filename: orNull(text),
    download_url: link,
    cuttable: Type.Boolean(),
    progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    width: orNull(whole),
    height: orNull(whole),
    frame_rate: orNull(rate),
    video_codec: orNull(text),
    audio_codec: orNull(text),
    audio_tracks: orNull(whole),
    has_transcript: Type.Boolean(),
    poster_url: link,
    filmstrip_url: link,
    preview_url: link,
    waveform_url: link,
    transcript_url: link,
  }),
  Cut: strictObject(cut),
  CutDetail: strictObject({ ...cut, plan: orNull(plan, "null until completed") }),
  Render: strictObject(render),
  RenderDetail: strictObject({
    ...render,
    download_url: link,
    progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy: orNull(words(RENDER_STRATEGIES)),
    encoded_share: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy_reasons: Type.Array(text),
    warnings: Type.Array(text),
  }),
  LedgerEntry: strictObject({
    id,
    type: words(LEDGER_TYPES),
    delta: whole,
    created_at: time,
    asset_id: orNull(id),
    payment_invoice_id: orNull(text),
  }),
  User: strictObject({
    id,
    email: text,
    name: orNull(text),
    email_verified_at: orNull(time),
    deleted_at: orNull(time),
    created_at: time,
    storage_used_bytes: Type.Integer({
      minimum: 0,
      description: "sources, derivatives and finished renders; unfinished uploads with their announced size",
    }),
    storage_quota_bytes: orNull(whole, "null: no limit"),
  }),
  WebhookEndpoint: strictObject(endpoint),
  WebhookEndpointWithSecret: strictObject({
    ...endpoint,
    secret: orNull(
      Type.String({ pattern: "^whsec_" }),
      "shown once: null in an answer repeated for its Idempotency-Key",
    ),
  }),
  Delivery: strictObject({
    id,
    event_type: text,
    state: words(DELIVERY_STATES),
    attempts: whole,
    response_status: orNull(whole),
    response_milliseconds: orNull(whole),
    error: orNull(text),
    created_at: time,
    last_attempt_at: orNull(time),
    next_attempt_at: orNull(time),
  }),
  DeliveryReference: strictObject({ delivery_id: id }),
};

export type SchemaName = keyof typeof SCHEMAS;

/** A resource as its schema describes it. */
export type Resource<Name extends SchemaName> = Static<(typeof SCHEMAS)[Name]>;
