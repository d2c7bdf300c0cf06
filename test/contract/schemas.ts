/** The resources of the interface as strict schemas, written independently of the server's. */
import { type TSchema, Type } from "@sinclair/typebox";
import { count, exactly, oneOf, orNull, rate, share, text, time, url, uuid } from "./schema-parts";

export const project = exactly({
  id: uuid,
  name: Type.String({ minLength: 1, maxLength: 512 }),
  state: oneOf("active", "archived"),
  archived_at: orNull(time),
  created_at: time,
  updated_at: time,
  last_activity_at: time,
});

const assetSummaryFields = {
  id: uuid,
  project_id: uuid,
  kind: oneOf("source", "rendered_video", "cut_file"),
  type: orNull(oneOf("audio", "video")),
  state: oneOf("pending_upload", "processing", "pending_payment", "ready", "failed"),
  extension: orNull(Type.String({ pattern: "^[a-z0-9]+$" })),
  size_bytes: orNull(Type.Integer({ minimum: 64 })),
  content_type: orNull(Type.String({ pattern: "^((audio|video)/[a-z0-9.+-]+|application/json)$" })),
  duration_seconds: orNull(Type.String({ format: "contract-decimal" })),
  language: orNull(Type.String({ pattern: "^[a-z]{2}$" })),
  external_id: orNull(text),
  name: orNull(text),
  tags: Type.Array(text),
  note: orNull(text),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  upload_url: orNull(url),
};

export const assetSummary = exactly(assetSummaryFields);

export const assetDetail = exactly({
  ...assetSummaryFields,
  filename: orNull(text),
  download_url: orNull(url),
  cuttable: Type.Boolean(),
  progress: orNull(share),
  width: orNull(count),
  height: orNull(count),
  frame_rate: orNull(rate),
  video_codec: orNull(text),
  audio_codec: orNull(text),
  audio_tracks: orNull(count),
  has_transcript: Type.Boolean(),
  language_detected: orNull(Type.Object({ code: Type.String(), confidence: Type.Number() })),
  poster_url: orNull(url),
  filmstrip_url: orNull(url),
  preview_url: orNull(url),
  waveform_url: orNull(url),
  transcript_url: orNull(url),
});

const seconds = Type.Number({ minimum: 0 });
const span = { start: seconds, end: seconds };

const plan = exactly({
  source_duration: seconds,
  kept_duration: seconds,
  frame_rate: orNull(rate),
  segments: Type.Array(
    exactly({
      ...span,
      start_frame: orNull(count),
      end_frame: orNull(count),
      text: Type.String(),
      review: orNull(text),
    }),
  ),
  removed: Type.Array(
    exactly({
      ...span,
      reason: oneOf("silence", "filler", "retake", "off_script", "noise", "manual"),
      rule: Type.String({ pattern: "^[a-z_]+\\.[a-z_]+$" }),
      text: Type.String(),
    }),
  ),
  takes: Type.Array(
    exactly({
      line: text,
      chosen: Type.Integer(),
      candidates: Type.Array(exactly({ ...span, score: Type.Number(), complete: Type.Boolean() })),
    }),
  ),
  missing: Type.Array(text),
  warnings: Type.Array(text),
  language: orNull(text),
});

const cutFields = {
  id: uuid,
  asset_id: uuid,
  state: oneOf("pending", "processing", "completed", "failed"),
  script: Type.String(),
  options: exactly({
    mode: oneOf("tight", "natural", "loose", "manual"),
    min_silence_seconds: Type.Number({ minimum: 0.1, maximum: 10 }),
    padding_before_seconds: Type.Number({ minimum: 0, maximum: 2 }),
    padding_after_seconds: Type.Number({ minimum: 0, maximum: 2 }),
    remove_fillers: Type.Boolean(),
    remove_retakes: Type.Boolean(),
  }),
  edited_from: orNull(uuid),
  name: orNull(text),
  note: orNull(text),
  is_set_aside: Type.Boolean(),
  superseded_by: orNull(uuid),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
};

export const cutInList = exactly(cutFields);
export const cut = exactly({ ...cutFields, plan: orNull(plan) });

const renderFields = {
  id: uuid,
  asset_id: uuid,
  cut_id: orNull(uuid),
  state: oneOf("pending", "processing", "completed", "failed", "cancelled"),
  output: exactly({
    format: oneOf("mp4", "mov", "m4a", "mp3"),
    resolution: orNull(Type.String({ pattern: "^[1-9][0-9]*p$" })),
    video_bitrate: orNull(count),
    frame_rate: orNull(count),
    exact_frame_rate: orNull(rate),
    audio_bitrate: orNull(count),
  }),
  size_bytes: orNull(count),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
};

export const renderInList = exactly(renderFields);
export const render = exactly({
  ...renderFields,
  download_url: orNull(url),
  progress: orNull(share),
  strategy: orNull(oneOf("smart", "chunked", "audio")),
  encoded_share: orNull(share),
  strategy_reasons: Type.Array(text),
  warnings: Type.Array(text),
});

export const ledgerEntry = exactly({
  id: uuid,
  type: oneOf("topup", "grant", "consume_asset", "consume_step", "refund", "adjustment"),
  delta: Type.Integer(),
  created_at: time,
  asset_id: orNull(uuid),
  payment_invoice_id: orNull(text),
});

export const user = exactly({
  id: uuid,
  email: Type.String({ pattern: "@" }),
  name: orNull(text),
  email_verified_at: orNull(time),
  deleted_at: orNull(time),
  created_at: time,
  storage_used_bytes: Type.Integer({ minimum: 0 }),
  storage_quota_bytes: orNull(Type.Integer({ minimum: 1 })),
});

/** The user in the dashboard family. */
export const profile = exactly({
  id: uuid,
  email: Type.String({ pattern: "@" }),
  first_name: orNull(text),
  last_name: orNull(text),
  role: oneOf("member", "admin"),
  email_verified_at: orNull(time),
  has_password: Type.Boolean(),
  two_factor_enabled: Type.Boolean(),
  deleted_at: orNull(time),
  created_at: time,
});

export const startedSession = exactly({
  token: Type.String({ pattern: "^[\\w-]+\\.[\\w-]+\\.[\\w-]+$" }),
  expires_at: time,
  user: profile,
});

export const authMethods = exactly({
  is_set_up: Type.Boolean(),
  signup: oneOf("open", "closed"),
  email: Type.Boolean(),
  oidc: Type.Array(exactly({ name: text, start_url: text })),
});

export const identityList = exactly({
  items: Type.Array(
    exactly({
      id: uuid,
      provider: text,
      issuer: text,
      email: orNull(text),
      created_at: time,
      last_sign_in_at: orNull(time),
    }),
  ),
  total: Type.Integer({ minimum: 0 }),
  limit: Type.Integer(),
  offset: Type.Integer(),
});

export const sessionList = exactly({
  items: Type.Array(
    exactly({
      id: uuid,
      created_at: time,
      last_seen_at: time,
      user_agent: orNull(text),
      address: orNull(text),
      is_current: Type.Boolean(),
    }),
  ),
  total: count,
  limit: Type.Integer({ minimum: 1 }),
  offset: count,
});

export const pageOf = (item: TSchema) =>
  exactly({ items: Type.Array(item), limit: Type.Integer({ minimum: 1 }), next_cursor: orNull(text) });

const CODES = [
  "bad_request",
  "unauthenticated",
  "insufficient_credits",
  "forbidden",
  "not_found",
  "conflict",
  "asset_processing",
  "asset_payment_required",
  "asset_failed",
  "asset_not_ready",
  "modifier_not_ready",
  "unsupported_format",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "validation_error",
  "internal_error",
  "upstream_error",
  "upstream_unavailable",
  "rate_limited",
];

/** An error of the public family. `fields` names invalid parts of the body, the query, the path or the headers. */
export const failure = exactly({
  error: exactly({
    code: oneOf(...CODES),
    message: Type.String({ pattern: "^[^\\n\\r]+$" }),
    fields: Type.Optional(
      Type.Array(exactly({ field: Type.String({ pattern: "^(body|query|path|header)\\." }), message: text }), {
        minItems: 1,
      }),
    ),
    reason: Type.Optional(oneOf("session_too_old")),
  }),
});

/** An error of the dashboard family that is not about failing fields. */
export const dashboardFailure = exactly({
  detail: Type.String({ pattern: "^[^\\n\\r]+$" }),
  code: oneOf(...CODES.filter((code) => code !== "validation_error")),
  reason: Type.Optional(oneOf("session_too_old")),
});

/** Failing fields in the dashboard family, as pydantic v2 shows them. */
export const dashboardValidation = exactly({
  detail: Type.Array(
    exactly({
      loc: Type.Array(text, { minItems: 1 }),
      msg: text,
      type: Type.String({ pattern: "^[a-z_]+$" }),
      input: Type.Unknown(),
      ctx: Type.Record(Type.String(), Type.Unknown()),
    }),
    { minItems: 1, maxItems: 50 },
  ),
});

/** The event data of assets, cuts and renders. */
export const eventData = {
  asset: exactly({
    entity_id: uuid,
    asset_id: uuid,
    project_id: uuid,
    external_id: orNull(text),
    previous_state: orNull(oneOf("processing", "pending_payment")),
  }),
  cut: exactly({ entity_id: uuid, asset_id: uuid }),
  render: exactly({ entity_id: uuid, asset_id: uuid, cut_id: orNull(uuid) }),
};

const apiKeyFields = {
  id: uuid,
  name: text,
  prefix: Type.String({ pattern: "^sk_" }),
  scopes: Type.Array(oneOf("read", "write"), { minItems: 1, maxItems: 2 }),
  workspace_id: uuid,
  created_at: time,
  last_used_at: orNull(time),
  expires_at: orNull(time),
};

export const apiKey = exactly(apiKeyFields);
export const apiKeyWithSecret = exactly({ ...apiKeyFields, key: orNull(Type.String({ pattern: "^sk_\\w{32,}$" })) });
