/**
 * The queue of webhook deliveries, read by workspace and endpoint. The cost of each query depends on the number of
 * workspaces and endpoints with pending deliveries, not on the number of deliveries. Partial indexes contain the
 * pending ones; SQLite uses them only if the conditions are the same as in the index, without parameters. `INDEXED BY`
 * is needed because the planner, without statistics, prefers `deliveries_due` and then reads all pending deliveries.
 */
import { and, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { first, listIds, readValue } from "./rows";
import { deliveries, webhookEndpoints } from "./schema-outbox";
import type { Delivery } from "./webhooks";
import { hasActiveOwner } from "./workspaces";

/** Lists workspaces with a due delivery to an enabled endpoint, unless all owners are disabled or being deleted. */
export async function listWorkspacesWithDueDeliveries(db: Queries, now: number) {
  // Jumps from workspace to workspace through the index, because SQLite has no loose index scan for DISTINCT.
  return listIds(
    db.all<{ id: string }>(sql`
    WITH RECURSIVE waiting(workspace_id) AS (
      SELECT min(workspace_id) FROM deliveries INDEXED BY deliveries_waiting_by_workspace WHERE state = 'pending'
      UNION ALL
      SELECT (
        SELECT min(d.workspace_id) FROM deliveries d INDEXED BY deliveries_waiting_by_workspace
        WHERE d.state = 'pending' AND d.workspace_id > waiting.workspace_id
      )
      FROM waiting WHERE waiting.workspace_id IS NOT NULL
    )
    SELECT waiting.workspace_id AS id FROM waiting
    WHERE waiting.workspace_id IS NOT NULL AND ${hasActiveOwner(sql`waiting.workspace_id`)}
      AND EXISTS (
        SELECT 1 FROM webhook_endpoints e
        WHERE e.workspace_id = waiting.workspace_id AND e.state = 'enabled' AND EXISTS (
          SELECT 1 FROM deliveries d INDEXED BY deliveries_waiting_by_endpoint
          WHERE d.state = 'pending' AND d.endpoint_id = e.id AND d.due_at <= ${now}
        )
      )`),
  );
}

export type DueDelivery = { id: string; endpointId: string };

/** Lists a workspace's due deliveries to enabled endpoints, longest due first, at most `maxPerEndpoint` to each. */
export async function listDueDeliveries(
  db: Queries,
  workspaceId: string,
  now: number,
  maxPerEndpoint: number,
): Promise<DueDelivery[]> {
  return db.all<DueDelivery>(sql`
    SELECT d.id AS id, d.endpoint_id AS endpointId
    FROM webhook_endpoints e CROSS JOIN deliveries d
    WHERE e.workspace_id = ${workspaceId} AND e.state = 'enabled' AND d.id IN (
      SELECT x.id FROM deliveries x INDEXED BY deliveries_waiting_by_endpoint
      WHERE x.state = 'pending' AND x.endpoint_id = e.id AND x.due_at <= ${now}
      ORDER BY x.due_at LIMIT ${maxPerEndpoint}
    )
    ORDER BY d.due_at, d.id`);
}

export const findPendingDelivery = (db: Queries, id: string) =>
  first(
    db
      .select({ delivery: deliveries, endpoint: webhookEndpoints })
      .from(deliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, deliveries.endpoint_id))
      .where(and(eq(deliveries.id, id), eq(deliveries.state, "pending")))
      .limit(1),
  );

/** Returns the time at which the next delivery becomes due after `now`, or null. */
export const findNextDeliveryTime = (db: Queries, now: number): Promise<number | null> =>
  readValue(
    db,
    sql`SELECT min(due_at) FROM deliveries INDEXED BY deliveries_due WHERE state = 'pending' AND due_at > ${now}`,
  );

/** Counts the workspace's pending test events, and returns when the first is due, or null without any. */
export async function countQueuedTests(
  db: Queries,
  workspaceId: string,
): Promise<{ count: number; nextDueAt: number | null }> {
  const [row] = await db.all<{ count: number; at: number | null }>(
    sql`SELECT count(*) AS count, min(due_at) AS at FROM deliveries INDEXED BY deliveries_waiting_tests
        WHERE state = 'pending' AND type = 'webhook.test' AND workspace_id = ${workspaceId}`,
  );
  return { count: row?.count ?? 0, nextDueAt: row?.at ?? null };
}

/** Counts the deliveries of all workspaces in a state. `pending` includes due deliveries and retries. */
export const countDeliveries = (db: Queries, state: Delivery["state"]): Promise<number> =>
  db.$count(deliveries, eq(deliveries.state, state));
