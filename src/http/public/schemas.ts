/** The resources of the public family as schemas: the documentation shows them, and the tests hold every answer against them. */
import { type TSchema, Type } from "@sinclair/typebox";
import { HTTP_STATUS } from "../../domain/errors";
import { EVENT_TYPES } from "../../domain/webhooks";

const id = Type.String({ format: "uuid" });
const text = Type.String();
const time = Type.String({ format: "date-time" });
const whole = Type.Integer();
const seconds = Type.Number({ description: "seconds on the source's clock" });
const orNull = (schema: TSchema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const words = (...values: string[]) => Type.String({ enum: values });
const object = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: false });

const rate = object({ num: whole, den: whole });

const assetSummary = {
  id,
  project_id: id,
  kind: words("source", "rendered_video", "cut_file"),
  type: orNull(words("audio", "video"), "derived from the bytes after the first chunk"),
  state: words("pending_upload", "processing", "pending_payment", "ready", "failed"),
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
  state: words("pending", "processing", "completed", "failed"),
  script: text,
  options: object({
    mode: words("tight", "natural", "loose"),
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

const plan = object({
  source_duration: seconds,
  kept_duration: Type.Number(),
  frame_rate: orNull(rate),
  segments: Type.Array(
    object({
      start: seconds,
      end: seconds,
      start_frame: orNull(whole),
      end_frame: orNull(whole, "exclusive"),
      text,
      review: orNull(text, "why an editor should look"),
    }),
  ),
  removed: Type.Array(
    object({
      start: seconds,
      end: seconds,
      reason: words("silence", "filler", "retake", "off_script", "noise", "manual"),
      text,
    }),
  ),
  takes: Type.Array(
    object({
      line: text,
      chosen: whole,
      candidates: Type.Array(object({ start: seconds, end: seconds, score: Type.Number(), complete: Type.Boolean() })),
    }),
  ),
  missing: Type.Array(text),
  warnings: Type.Array(text),
});

const render = {
  id,
  asset_id: id,
  cut_id: orNull(id),
  state: words("pending", "processing", "completed", "failed", "cancelled"),
  output: object({
    format: words("mp4", "mov", "m4a", "mp3"),
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
  event_types: Type.Array(words(...EVENT_TYPES)),
  state: words("enabled", "disabled"),
  created_at: time,
};

const link = orNull(text, "a signed link of 15 minutes");

/** By the names that the documentation uses. */
export const SCHEMAS = {
  Project: object({
    id,
    name: text,
    state: words("active", "archived"),
    archived_at: orNull(time),
    created_at: time,
    updated_at: time,
    last_activity_at: time,
  }),
  Asset: object(assetSummary),
  AssetDetail: object({
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
  Cut: object(cut),
  CutDetail: object({ ...cut, plan: orNull(plan, "null until completed") }),
  Render: object(render),
  RenderDetail: object({
    ...render,
    download_url: link,
    progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy: orNull(words("smart", "chunked", "audio")),
    encoded_share: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy_reasons: Type.Array(text),
    warnings: Type.Array(text),
  }),
  LedgerEntry: object({
    id,
    type: words("topup", "grant", "consume_asset", "consume_step", "refund", "adjustment"),
    delta: whole,
    created_at: time,
    asset_id: orNull(id),
    payment_invoice_id: orNull(text),
  }),
  User: object({
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
  WebhookEndpoint: object(endpoint),
  WebhookEndpointWithSecret: object({
    ...endpoint,
    secret: orNull(
      Type.String({ pattern: "^whsec_" }),
      "shown once: null in an answer repeated for its Idempotency-Key",
    ),
  }),
  Delivery: object({
    id,
    event_type: text,
    state: words("pending", "delivered", "failed"),
    attempts: whole,
    response_status: orNull(whole),
    response_milliseconds: orNull(whole),
    error: orNull(text),
    created_at: time,
    last_attempt_at: orNull(time),
    next_attempt_at: orNull(time),
  }),
  DeliveryReference: object({ delivery_id: id }),
  Error: object({
    error: Type.Object({
      code: words(...Object.keys(HTTP_STATUS)),
      message: text,
      fields: Type.Optional(Type.Array(object({ field: text, message: text }))),
    }),
  }),
};

export type SchemaName = keyof typeof SCHEMAS;
