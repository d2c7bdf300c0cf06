/** The schemas of responses for administrators. */
import { Type } from "@sinclair/typebox";
import { ACCOUNT_ROLES, WORKSPACE_ROLES } from "../../../domain/access";
import { AUDIT_ACTIONS } from "../../../domain/audit-actions";
import { JOB_NAMES } from "../../../domain/jobs";
import { NOTIFICATION_PAYLOADS } from "../../../domain/notification-payloads";
import {
  enumeration,
  id,
  integer,
  link,
  orNull,
  strictObject,
  text,
  time,
  withDescription,
} from "../../../domain/schema-parts";
import { BACKUP_RUN_KINDS, BACKUP_RUN_STATES, FILE_PROBLEMS, STEP_STATES } from "../../../domain/states";
import { CHECK_STATES } from "../../../work/health/checks";
import { FINDING_ACTIONS } from "../../../work/upkeep/file-findings";

const flag = Type.Boolean();

const storedBytes = {
  used_bytes: integer,
  source_bytes: Type.Integer({ description: "unfinished uploads count with their full size" }),
  derived_bytes: integer,
  render_bytes: integer,
  text_bytes: withDescription(integer, "scripts, plans, drafts and parameters, which are in the database"),
};

const user = strictObject({
  id,
  email: text,
  first_name: orNull(text),
  last_name: orNull(text),
  role: enumeration(ACCOUNT_ROLES),
  disabled: Type.Boolean({ description: "if true, sessions and keys get 401" }),
  two_factor_enabled: flag,
  credits: Type.Integer({ description: "credits of the personal workspace, minus holds" }),
  storage_used_bytes: Type.Integer({ description: "of the personal workspace" }),
  storage_quota_bytes: orNull(integer, "quota of the personal workspace; null is the configured quota, 0 no limit"),
  email_verified_at: orNull(time),
  last_sign_in_at: orNull(time),
  deleted_at: orNull(time, "set during the grace period of 30 days before the account is deleted"),
  created_at: time,
});

const contents = strictObject({
  projects: Type.Integer({
    description: "in the personal workspace, like assets, cuts, renders, jobs and endpoints",
  }),
  assets: integer,
  cuts: integer,
  renders: integer,
  open_jobs: Type.Integer({ description: "waiting and running pipelines" }),
  webhook_endpoints: integer,
  api_keys: integer,
  sessions: integer,
  shared_workspaces: Type.Array(
    strictObject({
      id,
      name: text,
      role: enumeration(WORKSPACE_ROLES),
      is_only_owner: Type.Boolean({ description: "if true, the account cannot be deleted" }),
    }),
  ),
});

const account = strictObject({ id, email: text });

const disk = strictObject({
  free_bytes: integer,
  total_bytes: integer,
  reserve_bytes: Type.Integer({ description: "uploads and renders stop below this much free space" }),
  is_low: flag,
});

const backupRun = strictObject({
  id,
  kind: enumeration(BACKUP_RUN_KINDS, "`drill`: the backup was restored to a scratch folder and tested"),
  state: enumeration(BACKUP_RUN_STATES),
  name: orNull(text, "the name of the backup; null while it is being written"),
  path: Type.String({ description: "path of the backup, or of the folder to which it is written" }),
  is_available: Type.Boolean({ description: "whether the backup exists and can be verified" }),
  files: orNull(integer),
  bytes: orNull(integer, "total size of all files"),
  copied_bytes: orNull(integer, "size of the files that the previous backup lacks; null for other kinds"),
  checked_files: orNull(integer, "number of files whose contents were read and compared; null for a backup"),
  balances: orNull(integer, "number of workspaces whose credits were compared; null except for a drill"),
  render_frames: orNull(integer, "number of frames of the render that was repeated and compared; null without one"),
  error: orNull(text, "why the run failed"),
  started_at: time,
  ended_at: orNull(time),
});

const backupSettings = strictObject({
  backup_to: orNull(text, "null if backups are disabled; set it to a folder on another disk"),
  backup_at: Type.String({ description: "local time of the server, such as 02:00" }),
  backup_keep_daily: integer,
  backup_keep_weekly: integer,
  next_at: orNull(time, "when the next nightly backup is due"),
});

export const ADMIN_SCHEMAS = {
  AdminUser: user,
  AdminUserDetail: strictObject({
    ...user.properties,
    default_storage_quota_bytes: orNull(integer, "the configured quota; null if there is no limit"),
    contents,
  }),
  InvitedUser: strictObject({
    user,
    invitation_url: orNull(
      link("page where the user chooses a password; works once"),
      "shown only once; null in a response replayed for an Idempotency-Key",
    ),
    expires_at: time,
  }),
  AccountLink: strictObject({ url: link("page where the user chooses a password; works once"), expires_at: time }),
  AdminJob: strictObject({
    id,
    pipeline_id: id,
    name: enumeration(JOB_NAMES),
    state: enumeration(STEP_STATES),
    progress: orNull(Type.Number(), "0 to 1; null before the job has started"),
    attempts: integer,
    subject_id: orNull(
      Type.String({
        format: "uuid",
        description: "the asset, cut or render that the job works on; null until the previous steps have completed",
      }),
    ),
    input_asset_id: orNull(id),
    input_asset_name: orNull(text),
    workspace: strictObject({ id, name: text }),
    created_by: orNull(account, "null if the account was purged"),
    error_code: orNull(text),
    error_message: orNull(text),
    created_at: time,
    started_at: orNull(time),
    finished_at: orNull(time),
  }),
  WorkspaceStorage: strictObject({
    workspace: strictObject({ id, name: text, is_personal: flag }),
    owners: Type.Array(account),
    ...storedBytes,
    storage_quota_bytes: orNull(integer, "null if there is no limit"),
  }),
  StorageTotals: strictObject({
    ...storedBytes,
    recordings: integer,
    renders: Type.Integer({ description: "number of completed renders" }),
    database_bytes: orNull(integer),
    trash_bytes: Type.Integer({ description: "deleted files, which are kept for 48 hours unless the disk is full" }),
    disk,
  }),
  StorageChecks: strictObject({
    files: Type.Integer({ description: "number of files that were read so far" }),
    open_findings: Type.Integer({ description: "number of problems that were not accepted" }),
    last_checked_at: orNull(time),
    oldest_checked_at: orNull(time, "the oldest time at which a file was last read"),
  }),
  StorageFinding: strictObject({
    id,
    path: Type.String({ description: "relative to the media folder" }),
    problem: enumeration(FILE_PROBLEMS),
    detail: Type.String({ description: "the problem as a sentence" }),
    bytes: Type.Integer({ description: "the correct size; the actual size of an untracked file or folder" }),
    found_at: time,
    owner: orNull(
      strictObject({
        kind: enumeration(["asset", "render"]),
        id,
        name: orNull(text, "the file name of a recording"),
        workspace_id: id,
      }),
      "null if it belongs to no recording or render",
    ),
    actions: Type.Array(enumeration(FINDING_ACTIONS), { description: "the actions that can resolve the problem" }),
    is_being_restored: flag,
    restore_error: orNull(text, "why the last restore failed"),
  }),
  ResolvedFindings: strictObject({
    items: Type.Array(
      strictObject({
        id,
        state: enumeration(
          ["resolved", "started", "failed"],
          "`started`: a restore has started. When it ends, the problem is gone or has a `restore_error`",
        ),
        error: orNull(text),
      }),
    ),
  }),
  SystemHealth: strictObject({
    status: enumeration(["ok", "degraded"]),
    version: text,
    checks: Type.Array(
      strictObject({
        name: text,
        state: enumeration(CHECK_STATES),
        about: Type.String({ description: "the part in use, or the problem and its solution" }),
      }),
      { description: "the checks of `offcut doctor` and `/readyz` that a running server can run" },
    ),
    problems: Type.Array(NOTIFICATION_PAYLOADS.problem_found, {
      description: "problems that administrators are notified about, checked every minute; newest first",
    }),
    disk,
    database: strictObject({ is_alive: flag, size_bytes: orNull(integer) }),
    ffmpeg: strictObject({ path: text, version: text, is_bundled: flag }),
    sandbox: strictObject({ mode: text, reason: orNull(text, "why it is not bwrap") }),
    encoders: orNull(
      strictObject({ in_use: orNull(text), video: Type.Array(text), audio: Type.Array(text) }),
      "null while they are being tested; ask again later",
    ),
    models: Type.Array(strictObject({ name: text, languages: Type.Array(text), is_built_in: flag })),
    damaged_models: Type.Array(strictObject({ name: text, problem: text })),
    redis: orNull(
      strictObject({ host: text, is_reachable: flag, version: orNull(text, "null while it is unreachable") }),
      "null if none is configured, and there are no workers on other machines",
    ),
    queue: Type.Array(
      strictObject({ name: enumeration(JOB_NAMES), slots: integer, pending: integer, running: integer }),
    ),
    webhooks: strictObject({ pending_deliveries: integer }),
  }),
  AuditEntry: strictObject({
    id,
    created_at: time,
    action: enumeration(AUDIT_ACTIONS),
    actor: strictObject({
      kind: enumeration(["user", "anonymous", "command", "server"]),
      id: orNull(id, "a random ID once the account is purged"),
      email: orNull(text),
      credential_id: orNull(id, "the session or API key"),
    }),
    target: orNull(
      strictObject({
        kind: text,
        id: text,
        name: orNull(
          text,
          "the email address of a user, or the name of a workspace; null once it is deleted, and for other kinds",
        ),
      }),
    ),
    workspace_id: orNull(id),
    address: orNull(text),
    request_id: orNull(text, "`X-Request-Id` of the response"),
    details: orNull(Type.Record(Type.String(), Type.Unknown())),
    named_user: orNull(
      strictObject({ id, email: orNull(text, "null once the account is deleted") }),
      "the user whose ID is in the details, such as a member of a workspace",
    ),
  }),
  BackupRun: backupRun,
  BackupList: strictObject({
    items: Type.Array(backupRun),
    total: Type.Integer({ description: "number of items on all pages" }),
    limit: integer,
    offset: integer,
    running: orNull(backupRun, "the current run; there is at most one"),
    last_backup: orNull(backupRun, "the last complete backup"),
    last_proven_restore: orNull(backupRun, "the last drill without a problem"),
    last_failure: orNull(
      backupRun,
      "the last failure, until a run of its kind succeeds, or after a verification until the next backup to the same place",
    ),
    settings: backupSettings,
  }),
};
