/** The content of an export: every column of every table is in it, or is listed here. No secret of the database is. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getTableColumns, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { getFolders } from "../../../../src/blobs/folders";
import { newId } from "../../../../src/lib/ids";
import * as schema from "../../../../src/store/schema";
import * as accounts from "../../../../src/store/schema-accounts";
import * as billing from "../../../../src/store/schema-billing";
import * as cutTables from "../../../../src/store/schema-cuts";
import * as notices from "../../../../src/store/schema-notifications";
import * as outbox from "../../../../src/store/schema-outbox";
import * as upkeepTables from "../../../../src/store/schema-upkeep";
import * as workerTables from "../../../../src/store/schema-workers";
import { findUserById } from "../../../../src/store/users";
import { writeArchive } from "../../../../src/work/data-export/archive";
import type { CoreNeeds } from "../../../../src/work/needs";
import { readZip } from "../../../zip";
import { freshStore } from "../../store/test-store";

const TABLES = Object.values({
  ...schema,
  ...accounts,
  ...billing,
  ...notices,
  ...outbox,
  ...cutTables,
  ...workerTables,
  ...upkeepTables,
}).filter((one) => is(one, SQLiteTable));

/** Secrets, and hashes of secrets. */
const SECRETS = [
  "users.password_hash",
  "users.totp_secret",
  "users.totp_pending_secret",
  "users.totp_last_step",
  "api_keys.hash",
  "render_shares.password_hash",
  "webhook_endpoints.secret",
  "webhook_endpoints.old_secret",
  "webhook_endpoints.old_secret_until",
  "mails.sealed_values",
  // A page of the payment provider that works without signing in.
  "invoices.url",
  "orders.provider_checkout_id",
];

/** Not data of the user: internals of the server, or repetitions of other columns. */
const INTERNAL = [
  "accounts_revision.revision",
  "users.disabled_at",
  // Another user.
  "users.invited_by",
  "users.workspace_grant_at",
  "oidc_identities.id",
  "workspaces.created_at",
  "workspaces.text_bytes",
  "assets.demuxer",
  "assets.upload_active_at",
  "assets.upload_metadata",
  "assets.put_until",
  "assets.derived_bytes",
  "cuts.request_hash",
  // The items that a plan has too.
  "cuts.review_items",
  // A count of the changes to a draft.
  "cuts.ended_draft_revision",
  // The basis of a plan.
  "cuts.basis",
  // The ID of the workspace or the project.
  "vocabularies.id",
  "renders.resolved",
  "renders.request_hash",
  "renders.made_with",
  ...["attempts", "failures", "unclean_starts", "kernel_kills"].map((name) => `steps.${name}`),
  ...["run_after", "served_at", "lease_owner", "lease_until", "progress"].map((name) => `steps.${name}`),
  "holds.id",
  "orders.decided_by",
  "subscriptions.provider_updated_at",
  "deliveries.event_id",
  "deliveries.due_at",
  "notifications.cause",
  "notifications.mail_state",
  "data_exports.failures",
  "audit_log.actor_kind",
  "audit_log.credential_id",
  "mails.due_at",
  "mails.last_error",
];

/** Tables without data that would outlive a day or two, or that repeat what others contain. */
const INTERNAL_TABLES = [
  "one_time_tokens",
  "recovery_codes",
  "device_codes",
  "idempotency",
  "payment_events",
  "live_events",
  // A count of the changes to review_decisions.
  "reviews",
  // Data of cuts for lists.
  "cut_summaries",
  // Sums of them.
  "recording_totals",
  "project_totals",
  "events",
  // Server data: backups of all workspaces.
  "backup_runs",
  // The machines of the administrator, and their runs.
  "worker_tokens",
  "workers",
  "worker_runs",
  // Hashes of files, and their problems.
  "file_checks",
  // The state of the server.
  "alerts",
  "disk_samples",
  "server_choices",
  "clock_readings",
];

/** Columns that connect rows, and have the same value in many of them. */
const LINKS = [
  "user_id",
  "workspace_id",
  "created_by",
  "updated_by",
  "reviewed_by",
  "actor_id",
  "endpoint_id",
  "pipeline_id",
  "notification_id",
];

const START = 1_800_000_000_000;

type Cell = { column: string; value: string | number; shown: string };

/**
 * Returns a row of a table in which each value says where it comes from, as it is stored and as it would be shown; ""
 * where that is not unique.
 */
function fill(table: SQLiteTable, ids: { user: string; next(): number }): Cell[] {
  const { name: tableName } = getTableConfig(table);
  return Object.values(getTableColumns(table)).map(({ name: column, columnType }) => {
    const name = `${tableName}.${column}`;
    const mark = `<${name}>`;
    if (["users.id", "workspaces.id"].includes(name)) return { column, value: ids.user, shown: "" };
    if (column === "endpoint_id") return { column, value: "<webhook_endpoints.id>", shown: "" };
    if (column === "pipeline_id") return { column, value: "<pipelines.id>", shown: "" };
    if (LINKS.includes(column)) return { column, value: ids.user, shown: "" };
    if (name === "assets.info")
      return { column, value: JSON.stringify({ video: null, audio: [{ codec: mark }] }), shown: mark };
    if (columnType === "SQLiteBoolean") return { column, value: 1, shown: "" };
    if (columnType === "SQLiteTextJson" || name === "cuts.plan")
      return { column, value: JSON.stringify([mark]), shown: mark };
    if (columnType === "SQLiteText") return { column, value: mark, shown: mark };
    const value = 1_000 * ids.next();
    const time = START + value;
    if (/_(?:at|until|end|since|after)$/.test(column))
      return { column, value: time, shown: new Date(time).toISOString() };
    const number = 70_000_000 + value;
    return { column, value: number, shown: name === "assets.duration" ? String(number / 1e6) : String(number) };
  });
}

test("every column is exported or listed as internal, and no secret is exported", async () => {
  await using db = await freshStore();
  const user = newId();
  let count = 0;
  const ids = { user, next: () => ++count };
  const cells = new Map<string, string>();
  using raw = new Database(join(db.folder, "test.db"));
  for (const table of TABLES) {
    const { name } = getTableConfig(table);
    const row = fill(table, ids);
    for (const { column, shown } of row) if (shown !== "") cells.set(`${name}.${column}`, shown);
    const columns = row.map(({ column }) => `"${column}"`).join(", ");
    raw
      .query(`INSERT INTO "${name}" (${columns}) VALUES (${row.map(() => "?").join(", ")})`)
      .run(...row.map(({ value }) => value));
  }

  const path = join(db.folder, "export.zip");
  const parts: Uint8Array[] = [];
  let size = 0;
  const output = {
    write: async (bytes: Uint8Array) => {
      parts.push(new Uint8Array(bytes));
      size += bytes.byteLength;
    },
    patch: async (bytes: Uint8Array, position: number) => {
      const whole = Buffer.concat(parts.splice(0));
      whole.set(bytes, position);
      parts.push(whole);
    },
  };
  const services = { store: db.store, folders: getFolders(db.folder), now: () => START } as CoreNeeds;
  const request = { user: (await findUserById(db.store.read, user))!, hasMedia: true, output };
  expect(await writeArchive(services, { ...request, signal: new AbortController().signal })).toBe(size);
  await Bun.write(path, Buffer.concat(parts));
  const { texts } = await readZip(path);
  const everything = [...texts.values()].join("\n");

  const isInternal = (column: string) => INTERNAL_TABLES.some((name) => column.startsWith(`${name}.`));
  const missing = [...cells].filter(([, shown]) => !everything.includes(shown)).map(([column]) => column);
  expect(missing.filter((column) => !isInternal(column)).toSorted()).toEqual([...SECRETS, ...INTERNAL].toSorted());
  const leaked = [...cells].filter(([column]) => isInternal(column)).filter(([, shown]) => everything.includes(shown));
  expect(leaked).toEqual([]);
});
