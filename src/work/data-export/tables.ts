/**
 * The JSON files of an export. Each lists its columns, with the API's names: unlisted columns are not exported, so that
 * no secret, hash or signed link gets into an export.
 */
import { formatDecimalSeconds } from "../../domain/time";
import type { Queries } from "../../store/db";
import { EXPORTED_ROWS, type RowReader } from "../../store/exported-rows";

/** A file with one object per row. `about` is for the README. */
export type ExportedTable = {
  file: string;
  about: string;
  /** Yields the rows of the user as JSON text, in batches. */
  read(db: Queries, userId: string): AsyncGenerator<string[]>;
};

/** Columns with a time, in milliseconds since 1970. */
const TIME_COLUMN = /_(?:at|until|end|since)$/;

const showValue = (name: string, value: unknown): unknown =>
  typeof value === "number" && TIME_COLUMN.test(name) ? new Date(value).toISOString() : value;

/** Names of columns with a space between them. Any other name does not compile. */
type ColumnNames<Row, Text extends string> = Text extends `${infer Name} ${infer More}`
  ? `${Name & keyof Row & string} ${ColumnNames<Row, More>}`
  : keyof Row & string;

type ColumnLists<Row, Texts extends readonly string[]> = {
  [Index in keyof Texts]: Texts[Index] & ColumnNames<Row, Texts[Index]>;
};

/** Returns these columns of a row. */
const show = <Row extends object, const Texts extends readonly string[]>(row: Row, ...names: ColumnLists<Row, Texts>) =>
  Object.fromEntries(
    (names.join(" ").split(" ") as (keyof Row & string)[]).map((name) => [name, showValue(name, row[name])]),
  );

/**
 * Describes a file. `toObject` returns the object of a row; `toJson` its text, where a part of it is stored as JSON.
 */
function table<Row extends object>(
  file: string,
  about: string,
  rows: RowReader<Row>,
  toObject: (row: Row) => Record<string, unknown>,
  toJson: (row: Row) => string = (row) => JSON.stringify(toObject(row)),
): ExportedTable {
  return {
    file,
    about,
    read: async function* (db, userId) {
      for await (const batch of rows(db, userId)) yield batch.map(toJson);
    },
  };
}

type RowOf<Name extends keyof typeof EXPORTED_ROWS> =
  (typeof EXPORTED_ROWS)[Name] extends RowReader<infer Row> ? Row : never;

const showCut = (cut: RowOf<"cuts">) =>
  show(
    cut,
    "id workspace_id asset_id state script options edited_from keep_edits_of name note is_set_aside superseded_by superseded_at",
    "error_code error_message",
    "created_at started_at completed_at",
  );

/** All files with rows, in the order of the archive. */
export const EXPORTED_TABLES: readonly ExportedTable[] = [
  table("profile.json", "your account", EXPORTED_ROWS.users, (user) => ({
    ...show(user, "id email first_name last_name"),
    role: user.is_admin ? "admin" : "member",
    ...show(user, "two_factor_enabled email_verified_at deleted_at last_sign_in_at created_at"),
  })),
  table("sessions.json", "where you are signed in", EXPORTED_ROWS.sessions, (row) =>
    show(row, "id created_at authenticated_at last_seen_at expires_at user_agent address"),
  ),
  table("sign_in_networks.json", "networks from which you have signed in", EXPORTED_ROWS.signInNetworks, (row) =>
    show(row, "network last_sign_in_at"),
  ),
  table("sign_in_providers.json", "accounts of other providers that sign you in", EXPORTED_ROWS.oidcIdentities, (row) =>
    show(row, "issuer subject email created_at last_sign_in_at"),
  ),
  table("api_keys.json", "API keys, of which only the beginning is stored in clear", EXPORTED_ROWS.apiKeys, (row) =>
    show(row, "id workspace_id name prefix scopes is_device created_at last_used_at expires_at"),
  ),
  table("workspaces.json", "the workspaces that you are a member of, with your role", EXPORTED_ROWS.workspaces, (row) =>
    show(row, "id name is_personal role member_since storage_quota_bytes"),
  ),
  table("projects.json", "projects", EXPORTED_ROWS.projects, (row) =>
    show(row, "id workspace_id name state archived_at cut_mode cut_language created_at updated_at last_activity_at"),
  ),
  table("assets.json", "uploaded recordings and the outputs of pipelines", EXPORTED_ROWS.assets, (asset) => ({
    ...show(
      asset,
      "id workspace_id project_id kind type state filename name tags note extension content_type language",
      "language_detected external_id cut_id render_id has_transcript charge payment error_code error_message",
      "created_at prepared_at",
    ),
    size_bytes: asset.state === "pending_upload" ? null : asset.upload_length,
    duration_seconds: asset.duration === null ? null : formatDecimalSeconds(asset.duration),
    width: asset.info?.video?.width ?? null,
    height: asset.info?.video?.height ?? null,
    frame_rate: asset.info?.video?.frameRate ?? null,
    video_codec: asset.info?.video?.codec ?? null,
    audio_codec: asset.info?.audio[0]?.codec ?? null,
    audio_tracks: asset.info?.audio.length ?? null,
  })),
  table(
    "cuts.json",
    "cuts with their scripts, options and plans; times of a plan are seconds in the recording",
    EXPORTED_ROWS.cuts,
    showCut,
    // A plan is stored as JSON text of up to several megabytes.
    (cut) => `${JSON.stringify(showCut(cut)).slice(0, -1)},"plan":${cut.plan}}`,
  ),
  table("planned_cuts.json", "cuts that are made when their recording is prepared", EXPORTED_ROWS.plannedCuts, (row) =>
    show(row, "asset_id workspace_id mode script error_message retry_at"),
  ),
  table("drafts.json", "edits of cuts that are not saved as a cut yet", EXPORTED_ROWS.drafts, (row) =>
    show(row, "cut_id workspace_id revision segments texts updated_at"),
  ),
  table("review_decisions.json", "what you have decided in the reviews of cuts", EXPORTED_ROWS.reviewDecisions, (row) =>
    show(row, "cut_id workspace_id item_id decision reviewed_at"),
  ),
  table(
    "vocabularies.json",
    "names and terms of your workspace and projects, and vocabularies that you were the last to change",
    EXPORTED_ROWS.vocabularies,
    (row) => show(row, "workspace_id project_id revision entries updated_at"),
  ),
  table("renders.json", "rendered files", EXPORTED_ROWS.renders, (row) =>
    show(
      row,
      "id workspace_id asset_id cut_id state output size_bytes strategy encoded_share",
      "strategy_reasons warnings error_code error_message created_at started_at completed_at",
    ),
  ),
  table(
    "share_links.json",
    "links with which others download your renders, without their addresses",
    EXPORTED_ROWS.renderShares,
    (row) => show(row, "id workspace_id render_id created_at expires_at"),
  ),
  table("pipelines.json", "pipelines with their steps", EXPORTED_ROWS.pipelines, (pipeline) => ({
    ...show(
      pipeline,
      "id workspace_id state input_asset_id input_asset_deleted total_credits_reserved",
      "total_credits_consumed created_at started_at finished_at",
    ),
    steps: pipeline.steps.map((step) =>
      show(
        step,
        "id step_order processor_name state params subject_id input_asset_id input_asset_deleted",
        "output_asset_id output_asset_deleted credits_cost error_code error_message created_at",
        "started_at finished_at",
      ),
    ),
  })),
  table("credit_history.json", "every change of your credits", EXPORTED_ROWS.ledger, (row) =>
    show(row, "id type delta asset_id step_id payment_invoice_id created_at"),
  ),
  table("credit_holds.json", "credits that are reserved for running work", EXPORTED_ROWS.holds, (row) =>
    show(row, "pipeline_id asset_id amount created_at"),
  ),
  table(
    "orders.json",
    "orders of credits and subscriptions; amounts are in the smallest unit of the currency",
    EXPORTED_ROWS.orders,
    (row) =>
      show(
        row,
        "id workspace_id provider state price_id price_name price_kind credits amount currency",
        "interval created_at decided_at",
      ),
  ),
  table("invoices.json", "invoices", EXPORTED_ROWS.invoices, (row) =>
    show(
      row,
      "id workspace_id order_id subscription_id payment_invoice_id state price_id description",
      "credits amount amount_refunded currency created_at paid_at",
    ),
  ),
  table("subscriptions.json", "subscriptions", EXPORTED_ROWS.subscriptions, (row) =>
    show(
      row,
      "id workspace_id provider provider_subscription_id state price_id current_period_end",
      "is_ending created_at ended_at",
    ),
  ),
  table(
    "payment_customers.json",
    "which customer of the payment provider you are",
    EXPORTED_ROWS.paymentCustomers,
    (row) => show(row, "provider_customer_id created_at"),
  ),
  table("webhook_endpoints.json", "webhook endpoints, without their secrets", EXPORTED_ROWS.webhookEndpoints, (row) =>
    show(row, "id url event_types state created_at disabled_at disabled_reason last_success_at failing_since"),
  ),
  table("webhook_deliveries.json", "what was sent to your webhook endpoints", EXPORTED_ROWS.deliveries, (delivery) => ({
    ...show(delivery, "id endpoint_id state attempts"),
    event_type: delivery.type,
    body: delivery.body,
    response_status: delivery.last_status,
    response_milliseconds: delivery.last_milliseconds,
    error: delivery.last_error,
    ...show(delivery, "created_at last_attempt_at"),
  })),
  table("notifications.json", "notifications", EXPORTED_ROWS.notifications, (row) =>
    show(row, "id workspace_id type payload read_at mailed_at created_at"),
  ),
  table(
    "notification_preferences.json",
    "the notification preferences that you have changed",
    EXPORTED_ROWS.notificationPreferences,
    (row) => show(row, "type channel enabled"),
  ),
  table("data_exports.json", "your data exports", EXPORTED_ROWS.dataExports, (row) =>
    show(row, "id state has_media size_bytes error_message requested_at finished_at expires_at"),
  ),
  table("audit_log.json", "what you have done, from the audit log of the server", EXPORTED_ROWS.auditLog, (row) =>
    show(row, "id action target_kind target_id workspace_id address request_id details created_at"),
  ),
  table(
    "mails.json",
    "mails that were sent to you, without their content, which is not kept",
    EXPORTED_ROWS.mails,
    (row) => show(row, "id recipient template state attempts created_at sent_at"),
  ),
];
