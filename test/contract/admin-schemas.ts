/** The schemas of administration, written independently of those of the server. */
import { type TSchema, Type } from "@sinclair/typebox";
import { count, exactly, oneOf, orNull, text, time, url, uuid } from "./schema-parts";

const adminUser = exactly({
  id: uuid,
  email: Type.String({ pattern: "@" }),
  first_name: orNull(text),
  last_name: orNull(text),
  role: oneOf("member", "admin"),
  disabled: Type.Boolean(),
  two_factor_enabled: Type.Boolean(),
  credits: Type.Integer(),
  storage_used_bytes: count,
  storage_quota_bytes: orNull(count),
  email_verified_at: orNull(time),
  last_sign_in_at: orNull(time),
  deleted_at: orNull(time),
  created_at: time,
});

export const adminUserDetail = exactly({
  ...adminUser.properties,
  default_storage_quota_bytes: orNull(count),
  contents: exactly({
    projects: count,
    assets: count,
    cuts: count,
    renders: count,
    open_jobs: count,
    webhook_endpoints: count,
    api_keys: count,
    sessions: count,
    shared_workspaces: Type.Array(
      exactly({ id: uuid, name: text, role: oneOf("owner", "editor", "viewer"), is_only_owner: Type.Boolean() }),
    ),
  }),
});

export const storageTotals = exactly({
  used_bytes: count,
  source_bytes: count,
  derived_bytes: count,
  render_bytes: count,
  text_bytes: count,
  recordings: count,
  renders: count,
  database_bytes: orNull(count),
  trash_bytes: count,
  disk: exactly({ free_bytes: count, total_bytes: count, reserve_bytes: count, is_low: Type.Boolean() }),
});

export const storageChecks = exactly({
  files: count,
  open_findings: count,
  last_checked_at: orNull(time),
  oldest_checked_at: orNull(time),
});

export const storageFindingPage = exactly({
  items: Type.Array(
    exactly({
      id: uuid,
      path: text,
      problem: oneOf("missing", "changed", "untracked", "undecodable"),
      detail: text,
      bytes: count,
      found_at: time,
      owner: orNull(exactly({ kind: oneOf("asset", "render"), id: uuid, name: orNull(text), workspace_id: uuid })),
      actions: Type.Array(oneOf("accept", "delete_file", "restore", "delete_owner")),
      is_being_restored: Type.Boolean(),
      restore_error: orNull(text),
    }),
  ),
  total: count,
  limit: Type.Integer({ minimum: 1 }),
  offset: count,
});

export const healthCheck = exactly({ name: text, state: oneOf("ok", "warning", "broken"), about: text });

export const problem = exactly({
  problem: text,
  severity: oneOf("warning", "critical"),
  title: text,
  detail: text,
  found_at: time,
});

export const adminUserPage = exactly({
  items: Type.Array(adminUser),
  total: count,
  limit: Type.Integer({ minimum: 1 }),
  offset: count,
});

export const invitedUser = exactly({ user: adminUser, invitation_url: url, expires_at: time });

const kind = oneOf("prepare", "cut", "render", "split", "chunk", "join");

const workerFields = {
  id: uuid,
  name: text,
  state: oneOf("online", "draining", "offline"),
  version: text,
  jobs: Type.Array(oneOf("prepare", "cut", "render")),
  slots: count,
  current: Type.Array(
    exactly({
      id: uuid,
      kind,
      job_id: uuid,
      subject_id: uuid,
      progress: orNull(Type.Number({ minimum: 0, maximum: 1 })),
      started_at: time,
    }),
  ),
  speed: orNull(Type.Number()),
  last_seen_at: time,
};

export const worker = exactly(workerFields);

export const workerDetail = exactly({
  ...workerFields,
  is_draining: Type.Boolean(),
  protocol: count,
  ffmpeg: text,
  encoder: text,
  sandbox: exactly({ mode: oneOf("bwrap", "unshare", "none"), reason: orNull(text) }),
  languages: Type.Array(text),
  free_bytes: count,
  created_at: time,
  revoked_at: orNull(time),
  runs: Type.Array(
    exactly({
      id: uuid,
      kind,
      job_id: uuid,
      subject_id: uuid,
      outcome: oneOf("completed", "failed", "yielded", "released", "disk_full", "aborted", "lost"),
      media_seconds: orNull(Type.Number()),
      started_at: time,
      ended_at: time,
    }),
  ),
});

const workerToken = { id: uuid, name: text, worker_id: orNull(uuid), created_at: time, last_used_at: orNull(time) };

const page = (items: TSchema) =>
  exactly({ items: Type.Array(items), total: count, limit: Type.Integer({ minimum: 1 }), offset: count });

export const workerPage = page(worker);
export const workerTokenPage = page(exactly(workerToken));
export const createdWorkerToken = exactly({ ...workerToken, token: Type.String({ pattern: "^wt_[0-9A-Za-z]{43}$" }) });

export const backupRun = exactly({
  id: uuid,
  kind: oneOf("backup", "verify", "drill"),
  state: oneOf("running", "completed", "failed"),
  name: orNull(Type.String({ pattern: "^offcut-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ$" })),
  path: text,
  is_available: Type.Boolean(),
  files: orNull(count),
  bytes: orNull(count),
  copied_bytes: orNull(count),
  checked_files: orNull(count),
  balances: orNull(count),
  render_frames: orNull(count),
  error: orNull(text),
  started_at: time,
  ended_at: orNull(time),
});

export const backupList = exactly({
  ...page(backupRun).properties,
  running: orNull(backupRun),
  last_backup: orNull(backupRun),
  last_proven_restore: orNull(backupRun),
  last_failure: orNull(backupRun),
  settings: exactly({
    backup_to: orNull(text),
    backup_at: Type.String({ pattern: "^\\d\\d:\\d\\d$" }),
    backup_keep_daily: count,
    backup_keep_weekly: count,
    next_at: orNull(time),
  }),
});
