/** The closed sets of values of resources, shared by the database columns, the API schemas and the types. */

export const PROJECT_STATES = ["active", "archived"] as const;
export type ProjectState = (typeof PROJECT_STATES)[number];

export const ASSET_KINDS = ["source", "rendered_video", "cut_file"] as const;
/** Only a `source` is charged, transcribed and cut. Others are finished files: pipeline outputs, or uploads. */
export type AssetKind = (typeof ASSET_KINDS)[number];
/** Type of an asset's content, detected from its bytes. */
export const ASSET_TYPES = ["audio", "video"] as const;
export const ASSET_STATES = ["pending_upload", "processing", "pending_payment", "ready", "failed"] as const;
export type AssetState = (typeof ASSET_STATES)[number];

/** The payment state of an asset. `held`: an active hold covers the charge; `settled`: the charge is in the ledger. */
export const PAYMENT_STATES = ["none", "held", "settled"] as const;

export const CUT_STATES = ["pending", "processing", "completed", "failed"] as const;
export type CutState = (typeof CUT_STATES)[number];

export const RENDER_STATES = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type RenderState = (typeof RENDER_STATES)[number];

export const RENDER_STRATEGIES = ["smart", "chunked", "audio"] as const;

/** The states of a pipeline and of each of its steps. */
export const STEP_STATES = ["pending", "running", "completed", "failed", "cancelled"] as const;
export type StepState = (typeof STEP_STATES)[number];

export const LEDGER_TYPES = ["topup", "grant", "consume_asset", "consume_step", "refund", "adjustment"] as const;
export type LedgerType = (typeof LEDGER_TYPES)[number];

export const ENDPOINT_STATES = ["enabled", "disabled"] as const;

/** Why an endpoint is disabled: by a user, because of a 410 Gone, or because of five days without a success. */
export const ENDPOINT_DISABLED_REASONS = ["manual", "gone", "failing"] as const;

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

export const DEVICE_CODE_STATES = ["pending", "approved", "denied", "exchanged"] as const;

export const MAIL_STATES = ["pending", "sent", "failed"] as const;

/** The purpose of a one-time token. A token is never accepted for another purpose. */
export const TOKEN_PURPOSES = [
  "email_verification",
  "password_reset",
  "invitation",
  "sign_in_challenge",
  "oidc_state",
] as const;

export const PAYMENT_PROVIDERS = ["offline", "stripe"] as const;
export type PaymentProvider = (typeof PAYMENT_PROVIDERS)[number];
export const PRICE_KINDS = ["pack", "subscription"] as const;
export const PRICE_INTERVALS = ["month", "year"] as const;
export type PriceInterval = (typeof PRICE_INTERVALS)[number];

/** `expired`: the checkout was abandoned. A refunded order stays `paid`; its invoice becomes `refunded`. */
export const ORDER_STATES = ["pending", "paid", "rejected", "expired"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

export const INVOICE_STATES = ["open", "paid", "failed", "refunded"] as const;
export type InvoiceState = (typeof INVOICE_STATES)[number];

/** `past_due`: the last payment failed, and the provider retries it. */
export const SUBSCRIPTION_STATES = ["incomplete", "active", "past_due", "cancelled"] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

export const NOTIFICATION_TYPES = [
  "pipeline_completed",
  "pipeline_failed",
  "asset_pending_payment",
  "webhook_disabled",
  "subscription_payment_failed",
  "data_export_ready",
  "workspace_invitation",
  "order_pending",
  "problem_found",
  "problem_resolved",
] as const;
export const NOTIFICATION_CHANNELS = ["in_app", "email"] as const;

/** `waiting`: the mail is combined with later ones of its type until the user may receive the next one. */
export const NOTIFICATION_MAIL_STATES = ["none", "waiting", "queued"] as const;

export const DATA_EXPORT_STATES = ["pending", "ready", "failed", "expired"] as const;

/** Sandbox modes of the processes that read recordings, strictest first. */
export const SANDBOX_MODES = ["bwrap", "unshare", "none"] as const;

/** `draining`: accepts no new work and completes its current work. */
export const WORKER_STATES = ["online", "draining", "no_redis", "offline"] as const;

/**
 * Outcome of an execution on a worker. `lost`: the worker's heartbeats stopped. `aborted`: the execution was cancelled,
 * or its worker revoked. `yielded` and `released`: returned to the head before the end. `disk_full`: returned because
 * the worker had no disk space left.
 */
export const WORKER_RUN_OUTCOMES = [
  "completed",
  "failed",
  "yielded",
  "released",
  "disk_full",
  "aborted",
  "lost",
] as const;

/** `drill`: a backup was restored to a scratch folder and tested. */
export const BACKUP_RUN_KINDS = ["backup", "verify", "drill"] as const;
export type BackupRunKind = (typeof BACKUP_RUN_KINDS)[number];
export const BACKUP_RUN_STATES = ["running", "completed", "failed"] as const;

/**
 * The problem of a file in the media folder. `missing`: a row says that it exists. `changed`: its content differs from
 * the record. `untracked`: no row refers to it. `undecodable`: ffmpeg cannot read it to its end.
 */
export const FILE_PROBLEMS = ["missing", "changed", "untracked", "undecodable"] as const;
export type FileProblem = (typeof FILE_PROBLEMS)[number];

/** Problems of the server that administrators are notified of. */
export const PROBLEMS = [
  "database_damaged",
  "backups_failing",
  "drill_failed",
  "folder_offline",
  "files_damaged",
  "disk_space",
  "certificate",
  "worker_gone",
  "webhooks_failing",
] as const;

/** `critical`: work is rejected or data is at risk. */
export const PROBLEM_SEVERITIES = ["warning", "critical"] as const;
