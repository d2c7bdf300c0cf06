/**
 * Reads all data of a user, table by table, in batches: the whole personal workspace, and everything that the user has
 * created in shared workspaces where the user is a member.
 */

import { and, type Column, eq, getTableColumns, ne, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { yieldToEventLoop } from "../lib/event-loop";
import type { Queries } from "./db";
import { isAnyOf } from "./rows";
import { assets, cuts, drafts, holds, ledger, pipelines, projects, renders, steps } from "./schema";
import {
  apiKeys,
  auditLog,
  mails,
  oidcIdentities,
  sessions,
  signInNetworks,
  users,
  workspaceMembers,
  workspaces,
} from "./schema-accounts";
import { invoices, orders, paymentCustomers, subscriptions } from "./schema-billing";
import { plannedCuts, renderShares, reviewDecisions, vocabularies } from "./schema-cuts";
import { dataExports, notificationPreferences, notifications } from "./schema-notifications";
import { deliveries, webhookEndpoints } from "./schema-outbox";

const ROWS_PER_BATCH = 200;
/** Scripts may have hundreds of kilobytes, and plans megabytes. */
const CUTS_PER_BATCH = 4;
/** The steps of a chain may have a megabyte of parameters. */
const CHAINS_PER_BATCH = 4;

/** Selects rows of a table. They are read in the order of `key`, which is indexed, so that a batch is a short query. */
type Selection = { where(userId: string): SQL; key: "id" | "rowid" };

/** Yields batches of a table's rows that belong to the user. */
export type RowReader<Row> = (db: Queries, userId: string) => AsyncGenerator<Row[]>;

type OwnedTable = SQLiteTable & { workspace_id: Column };

const byId = (where: Selection["where"]): Selection => ({ where, key: "id" });
const byRowId = (where: Selection["where"]): Selection => ({ where, key: "rowid" });
const inPersonal = (table: OwnedTable) => byId((userId) => eq(table.workspace_id, userId));
const isMembership = (column: Column, userId: string): SQL =>
  sql`${column} in (select m.workspace_id from workspace_members m where m.user_id = ${userId})`;
const madeByMember = (table: OwnedTable, maker: Column) =>
  byRowId((userId) => and(eq(maker, userId), isMembership(table.workspace_id, userId))!);
const madeInShared = (table: OwnedTable, maker: Column) =>
  byRowId((userId) => and(ne(table.workspace_id, userId), madeByMember(table, maker).where(userId))!);
const workOf = (table: OwnedTable & { created_by: Column }) => [
  inPersonal(table),
  madeInShared(table, table.created_by),
];
const ofUser = (table: { user_id: Column }, key: Selection["key"]): Selection => ({
  where: (userId) => eq(table.user_id, userId),
  key,
});

/** Returns a reader for these rows of a table. Other work can run between two batches. */
function readRows<Table extends SQLiteTable>(
  table: Table,
  selections: Selection[],
  limit = ROWS_PER_BATCH,
): RowReader<Table["$inferSelect"]> {
  return async function* (db, userId) {
    for (const { where, key } of selections) {
      const column = key === "rowid" ? sql`${table}.rowid` : sql`${table}.id`;
      let after: string | number = key === "rowid" ? 0 : "";
      for (;;) {
        const keys = sql`(select ${column} from ${table} where ${where(userId)} and ${column} > ${after} order by ${column} limit ${limit})`;
        const rows = await db
          .select({ row: getTableColumns(table), key: sql<string | number>`${column}` })
          .from(table as SQLiteTable)
          .where(sql`${column} in ${keys}`)
          .orderBy(column);
        if (rows.length > 0) yield rows.map(({ row }) => row as Table["$inferSelect"]);
        if (rows.length < limit) break;
        after = rows.at(-1)!.key;
        await yieldToEventLoop();
      }
    }
  };
}

type JoinedWorkspace = Omit<typeof workspaces.$inferSelect, "created_at"> & {
  role: (typeof workspaceMembers.$inferSelect)["role"];
  member_since: number;
};

const readWorkspaces: RowReader<JoinedWorkspace> = async function* (db, userId) {
  for await (const memberships of readMemberships(db, userId)) {
    const rows = await db
      .select()
      .from(workspaces)
      .where(
        isAnyOf(
          workspaces.id,
          memberships.map((one) => one.workspace_id),
        ),
      );
    const roles = new Map(memberships.map((one) => [one.workspace_id, one]));
    yield rows.map((row) => ({ ...row, role: roles.get(row.id)!.role, member_since: roles.get(row.id)!.created_at }));
  }
};
const readMemberships = readRows(workspaceMembers, [ofUser(workspaceMembers, "rowid")]);

type PipelineWithSteps = typeof pipelines.$inferSelect & { steps: (typeof steps.$inferSelect)[] };

const readPipelines: RowReader<PipelineWithSteps> = async function* (db, userId) {
  const read = readRows(pipelines, workOf(pipelines));
  for await (const rows of read(db, userId)) {
    for (const batch of splitByChains(rows)) {
      const ids = batch.map((pipeline) => pipeline.id);
      const itsSteps = await db
        .select()
        .from(steps)
        .where(isAnyOf(steps.pipeline_id, ids))
        .orderBy(steps.pipeline_id, steps.step_order);
      const stepsOf = Map.groupBy(itsSteps, (step) => step.pipeline_id);
      yield batch.map((pipeline) => ({ ...pipeline, steps: stepsOf.get(pipeline.id) ?? [] }));
      await yieldToEventLoop();
    }
  }
};

/** Splits rows into batches that have at most `CHAINS_PER_BATCH` chains. */
function splitByChains<Row extends { is_chain: boolean }>(rows: Row[]): Row[][] {
  const batches: Row[][] = [];
  let chains = 0;
  for (const row of rows) {
    if (batches.length === 0 || (row.is_chain && chains === CHAINS_PER_BATCH)) {
      batches.push([]);
      chains = 0;
    }
    batches.at(-1)!.push(row);
    if (row.is_chain) chains++;
  }
  return batches;
}

const readDeliveries: RowReader<typeof deliveries.$inferSelect> = async function* (db, userId) {
  for await (const endpoints of readRows(webhookEndpoints, [inPersonal(webhookEndpoints)])(db, userId)) {
    for (const { id } of endpoints)
      yield* readRows(deliveries, [byId(() => eq(deliveries.endpoint_id, id))])(db, userId);
  }
};

export const EXPORTED_ROWS = {
  users: readRows(users, [byId((userId) => eq(users.id, userId))]),
  sessions: readRows(sessions, [ofUser(sessions, "id")]),
  signInNetworks: readRows(signInNetworks, [ofUser(signInNetworks, "rowid")]),
  oidcIdentities: readRows(oidcIdentities, [ofUser(oidcIdentities, "rowid")]),
  apiKeys: readRows(apiKeys, [ofUser(apiKeys, "id")]),
  workspaces: readWorkspaces,
  projects: readRows(projects, workOf(projects)),
  assets: readRows(assets, workOf(assets)),
  cuts: readRows(cuts, workOf(cuts), CUTS_PER_BATCH),
  drafts: readRows(drafts, [madeByMember(drafts, drafts.updated_by)], CUTS_PER_BATCH),
  plannedCuts: readRows(plannedCuts, [
    byRowId((userId) => eq(plannedCuts.workspace_id, userId)),
    madeInShared(plannedCuts, plannedCuts.created_by),
  ]),
  reviewDecisions: readRows(reviewDecisions, [madeByMember(reviewDecisions, reviewDecisions.reviewed_by)]),
  vocabularies: readRows(
    vocabularies,
    [inPersonal(vocabularies), madeInShared(vocabularies, vocabularies.updated_by)],
    CUTS_PER_BATCH,
  ),
  renders: readRows(renders, workOf(renders)),
  renderShares: readRows(renderShares, [madeByMember(renderShares, renderShares.created_by)]),
  pipelines: readPipelines,
  ledger: readRows(ledger, [inPersonal(ledger)]),
  holds: readRows(holds, [inPersonal(holds)]),
  orders: readRows(orders, [
    inPersonal(orders),
    byRowId((userId) => and(eq(orders.user_id, userId), ne(orders.workspace_id, userId))!),
  ]),
  invoices: readRows(invoices, [
    inPersonal(invoices),
    byId(
      (userId) =>
        and(
          ne(invoices.workspace_id, userId),
          sql`${invoices.order_id} in (select o.id from orders o where o.user_id = ${userId})`,
        )!,
    ),
  ]),
  subscriptions: readRows(subscriptions, [
    byId((userId) => sql`(${subscriptions.workspace_id} = ${userId} or ${subscriptions.user_id} = ${userId})`),
  ]),
  paymentCustomers: readRows(paymentCustomers, [byRowId((userId) => eq(paymentCustomers.workspace_id, userId))]),
  webhookEndpoints: readRows(webhookEndpoints, [inPersonal(webhookEndpoints)]),
  deliveries: readDeliveries,
  notifications: readRows(notifications, [ofUser(notifications, "id")]),
  notificationPreferences: readRows(notificationPreferences, [ofUser(notificationPreferences, "rowid")]),
  dataExports: readRows(dataExports, [ofUser(dataExports, "id")]),
  auditLog: readRows(auditLog, [byId((userId) => eq(auditLog.actor_id, userId))]),
  mails: readRows(mails, [ofUser(mails, "rowid")]),
};
