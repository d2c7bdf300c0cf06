/** The schemas of the public resources. They type the mappers of the resources and make the OpenAPI documents. */
import { Type } from "@sinclair/typebox";
import { outputJson } from "../../domain/output-schema";
import { CUT_MODE_NAMES, MANUAL_MODE } from "../../domain/plan";
import { planSchema } from "../../domain/plan-schema";
import { enumeration, id, integer, orNull, rational, strictObject, text, time } from "../../domain/schema-parts";
import {
  ASSET_KINDS,
  ASSET_STATES,
  ASSET_TYPES,
  CUT_STATES,
  DELIVERY_STATES,
  ENDPOINT_DISABLED_REASONS,
  ENDPOINT_STATES,
  LEDGER_TYPES,
  PROJECT_STATES,
  RENDER_STATES,
  RENDER_STRATEGIES,
} from "../../domain/states";
import { EVENT_TYPES } from "../../domain/webhooks";

/** The creator field that a family adds. It is missing in the OpenAPI document of other families. */
export const authorship = {
  created_by: Type.Optional(
    orNull(strictObject({ id, name: orNull(text) }), "the user who created it; null if that account was deleted"),
  ),
};

/** The outcome of a cut's or render's job. */
const outcome = {
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
  ...authorship,
};

const assetSummary = {
  id,
  project_id: id,
  kind: enumeration(ASSET_KINDS),
  type: orNull(enumeration(ASSET_TYPES), "detected from the first bytes of the upload"),
  state: enumeration(ASSET_STATES),
  extension: orNull(text),
  size_bytes: orNull(integer),
  content_type: orNull(text),
  duration_seconds: orNull(Type.String({ pattern: "^[0-9]+(\\.[0-9]+)?$" }), "decimal number of seconds"),
  language: orNull(text, "ISO 639-1 code; null if detected automatically"),
  external_id: orNull(text, "from Upload-Metadata"),
  name: orNull(text, "given by a user, in place of the file name"),
  tags: Type.Array(text),
  note: orNull(text),
  error_code: orNull(text),
  error_message: orNull(text),
  created_at: time,
  upload_url: orNull(text, "TUS transfer URL while pending_upload"),
  ...authorship,
};

const cut = {
  id,
  asset_id: id,
  state: enumeration(CUT_STATES),
  script: text,
  options: strictObject({
    mode: enumeration([...CUT_MODE_NAMES, MANUAL_MODE]),
    min_silence_seconds: Type.Number(),
    padding_before_seconds: Type.Number(),
    padding_after_seconds: Type.Number(),
    remove_fillers: Type.Boolean(),
    remove_retakes: Type.Boolean(),
  }),
  edited_from: orNull(id),
  name: orNull(text),
  note: orNull(text),
  is_set_aside: Type.Boolean({
    description:
      "Whether the cut was saved with `keep_draft`. It counts as the newest cut only if all cuts of the recording are set aside",
  }),
  superseded_by: orNull(id, "the edited cut that was saved in its place. A cut that has one is in no list"),
  ...outcome,
};

const render = {
  id,
  asset_id: id,
  cut_id: orNull(id),
  state: enumeration(RENDER_STATES),
  output: outputJson,
  size_bytes: orNull(integer),
  ...outcome,
};

const endpoint = {
  id,
  url: text,
  event_types: Type.Array(enumeration(EVENT_TYPES)),
  state: enumeration(ENDPOINT_STATES),
  disabled_reason: orNull(
    enumeration(ENDPOINT_DISABLED_REASONS),
    "disabled by a user (manual), after a 410 response (gone), or after five days without a success (failing)",
  ),
  disabled_at: orNull(time),
  last_success_at: orNull(time),
  failing_since: orNull(time, "time of the first failed attempt since the last success"),
  old_secret_expires_at: orNull(
    time,
    "time until which deliveries are also signed with the previous secret; may be in the past",
  ),
  created_at: time,
};

const link = orNull(text, "signed link, valid for 15 minutes");

const delivery = {
  id,
  event_type: text,
  state: enumeration(DELIVERY_STATES),
  attempts: integer,
  response_status: orNull(integer),
  response_milliseconds: orNull(integer),
  error: orNull(text),
  created_at: time,
  last_attempt_at: orNull(time),
  next_attempt_at: orNull(time),
};

/** The schemas by their names in the OpenAPI documents. */
export const PUBLIC_SCHEMAS = {
  Project: strictObject({
    id,
    name: text,
    state: enumeration(PROJECT_STATES),
    archived_at: orNull(time),
    created_at: time,
    updated_at: time,
    last_activity_at: time,
    ...authorship,
    cut_after_upload: Type.Optional(
      orNull(
        strictObject({
          mode: enumeration(CUT_MODE_NAMES),
          language: orNull(text, "of recordings that are uploaded without one; null if it is detected"),
        }),
        "how new recordings are cut as soon as they can be; null if they are not",
      ),
    ),
  }),
  Asset: strictObject(assetSummary),
  AssetDetail: strictObject({
    ...assetSummary,
    filename: orNull(text),
    download_url: link,
    cuttable: Type.Boolean(),
    progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    width: orNull(integer),
    height: orNull(integer),
    frame_rate: orNull(rational),
    video_codec: orNull(text),
    audio_codec: orNull(text),
    audio_tracks: orNull(integer),
    has_transcript: Type.Boolean(),
    language_detected: orNull(
      strictObject({ code: text, confidence: Type.Number({ minimum: 0, maximum: 1 }) }),
      "the language in which the speech was transcribed, given or detected, and the share of the first minutes that was understood in it; null before that, and with too little speech",
    ),
    poster_url: link,
    filmstrip_url: link,
    preview_url: link,
    waveform_url: link,
    transcript_url: link,
  }),
  Cut: strictObject(cut),
  CutDetail: strictObject({ ...cut, plan: orNull(planSchema, "null until completed") }),
  Render: strictObject(render),
  RenderDetail: strictObject({
    ...render,
    download_url: link,
    progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy: orNull(enumeration(RENDER_STRATEGIES)),
    encoded_share: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    strategy_reasons: Type.Array(text),
    warnings: Type.Array(text),
  }),
  LedgerEntry: strictObject({
    id,
    type: enumeration(LEDGER_TYPES),
    delta: integer,
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
      description:
        "sources, derived files, completed renders, and text such as scripts, plans and drafts; unfinished uploads count with their full size",
    }),
    storage_quota_bytes: orNull(integer, "null if there is no limit"),
  }),
  WebhookEndpoint: strictObject(endpoint),
  WebhookEndpointWithSecret: strictObject({
    ...endpoint,
    secret: orNull(
      Type.String({ pattern: "^whsec_" }),
      "shown only once; null in a response replayed for an Idempotency-Key",
    ),
  }),
  Delivery: strictObject(delivery),
  DeliveryDetail: strictObject({
    ...delivery,
    payload: Type.String({ description: "the JSON body that is sent on each attempt" }),
  }),
  DeliveryReference: strictObject({ delivery_id: id }),
};
