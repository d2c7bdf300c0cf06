/** The schemas of what administrators read. */
import { Type } from "@sinclair/typebox";
import { JOB_NAMES } from "../../../domain/jobs";
import { STEP_STATES } from "../../../domain/states";
import { strictObject } from "../../fields";
import { enumeration, id, integer, orNull, text, time } from "../../schema-parts";

const flag = Type.Boolean();

const link = (description: string) => Type.String({ format: "uri", description });

const user = strictObject({
  id,
  email: text,
  first_name: orNull(text),
  last_name: orNull(text),
  role: enumeration(["member", "admin"]),
  disabled: Type.Boolean({ description: "sessions and keys are 401" }),
  two_factor_enabled: flag,
  credits: Type.Integer({ description: "of the personal workspace, after holds" }),
  storage_used_bytes: Type.Integer({ description: "of the personal workspace" }),
  storage_quota_bytes: orNull(integer, "of the personal workspace. null: the configured quota, 0: no limit"),
  email_verified_at: orNull(time),
  last_sign_in_at: orNull(time),
  deleted_at: orNull(time, "not null: the account is in its grace period of 30 days before it is deleted"),
  created_at: time,
});

const account = strictObject({ id, email: text });

/** The schemas by their names in the OpenAPI documents. */
export const ADMIN_SCHEMAS = {
  AdminUser: user,
  InvitedUser: strictObject({
    user,
    invitation_url: orNull(
      link("where the user chooses a password; works once"),
      "shown once: null in a response replayed for an Idempotency-Key",
    ),
    expires_at: time,
  }),
  AccountLink: strictObject({ url: link("where the user chooses a password; works once"), expires_at: time }),
  AdminJob: strictObject({
    id,
    pipeline_id: id,
    name: enumeration(JOB_NAMES),
    state: enumeration(STEP_STATES),
    progress: orNull(Type.Number(), "0 to 1, null before the job has started"),
    attempts: integer,
    subject_id: Type.String({ format: "uuid", description: "the asset, cut or render that the job works on" }),
    input_asset_id: orNull(id),
    workspace: strictObject({ id, name: text }),
    created_by: orNull(account, "null: the account was purged"),
    error_code: orNull(text),
    error_message: orNull(text),
    created_at: time,
    started_at: orNull(time),
    finished_at: orNull(time),
  }),
  WorkspaceStorage: strictObject({
    workspace: strictObject({ id, name: text, is_personal: flag }),
    owners: Type.Array(account),
    used_bytes: integer,
    source_bytes: Type.Integer({ description: "unfinished uploads count with their full size" }),
    derived_bytes: integer,
    render_bytes: integer,
    storage_quota_bytes: orNull(integer, "null: no limit"),
  }),
  SystemHealth: strictObject({
    status: enumeration(["ok", "degraded"]),
    version: text,
    disk: strictObject({
      free_bytes: integer,
      total_bytes: integer,
      reserve_bytes: Type.Integer({ description: "uploads and renders stop below this much free space" }),
      is_low: flag,
    }),
    database: strictObject({ is_alive: flag, size_bytes: orNull(integer) }),
    ffmpeg: strictObject({ path: text, version: text, is_bundled: flag }),
    sandbox: strictObject({ mode: text, reason: orNull(text, "why it is not bwrap") }),
    encoders: orNull(
      strictObject({ in_use: orNull(text), video: Type.Array(text), audio: Type.Array(text) }),
      "null: they are being tried, ask again",
    ),
    models: Type.Array(strictObject({ name: text, languages: Type.Array(text), is_built_in: flag })),
    damaged_models: Type.Array(strictObject({ name: text, problem: text })),
    queue: Type.Array(
      strictObject({ name: enumeration(JOB_NAMES), slots: integer, pending: integer, running: integer }),
    ),
    webhooks: strictObject({ pending_deliveries: integer }),
  }),
  AuditEntry: strictObject({
    id,
    created_at: time,
    action: Type.String({ description: "`noun.verb_past`, such as `user.disabled`" }),
    actor: strictObject({
      kind: enumeration(["user", "anonymous", "command", "server"]),
      id: orNull(id, "a random ID once the account is purged"),
      email: orNull(text),
      credential_id: orNull(id, "the session or API key"),
    }),
    target: orNull(strictObject({ kind: text, id: text })),
    workspace_id: orNull(id),
    address: orNull(text),
    request_id: orNull(text, "`X-Request-Id` of the response"),
    details: orNull(Type.Record(Type.String(), Type.Unknown())),
  }),
};
