/**
 * The queue of webhook deliveries, read by user and endpoint. The cost of each query depends on the number of users and endpoints with
 * pending deliveries, not on the number of deliveries. Partial indexes contain the pending ones; SQLite uses them only if the conditions
 * are the same as in the index, without parameters. `INDEXED BY` is needed because the planner, without statistics, prefers
 * `deliveries_due` and then reads all pending deliveries.
 */
import { and, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { deliveries, webhookEndpoints } from "./schema-outbox";
import type { Delivery, WebhookEndpoint } from "./webhooks";

/** Lists users with a due delivery to an enabled endpoint, without accounts that are disabled or being deleted. */
export async function listUsersWithDueDeliveries(db: Queries, now: number): Promise<string[]> {
  // Jumps from user to user through the index: SQLite has no loose index scan for DISTINCT.
  const rows = await db.all<{ id: string }>(sql`
    WITH RECURSIVE waiting(user_id) AS (
      SELECT min(user_id) FROM deliveries INDEXED BY deliveries_waiting_by_user WHERE state = 'pending'
      UNION ALL
      SELECT (
        SELECT min(d.user_id) FROM deliveries d INDEXED BY deliveries_waiting_by_user
        WHERE d.state = 'pending' AND d.user_id > waiting.user_id
      )
      FROM waiting WHERE waiting.user_id IS NOT NULL
    )
    SELECT u.id AS id FROM waiting CROSS JOIN users u ON u.id = waiting.user_id
    WHERE u.disabled_at IS NULL AND u.deleted_at IS NULL
      AND EXISTS (
        SELECT 1 FROM webhook_endpoints e
        WHERE e.user_id = u.id AND e.state = 'enabled' AND EXISTS (
          SELECT 1 FROM deliveries d INDEXED BY deliveries_waiting_by_endpoint
          WHERE d.state = 'pending' AND d.endpoint_id = e.id AND d.due_at <= ${now}
        )
      )`);
  return rows.map((row) => row.id);
}

export type DueDelivery = { id: string; endpointId: string };

/** Lists a user's due deliveries to enabled endpoints, longest due first, at most `maxPerEndpoint` to each. */
export async function listDueDeliveries(
  db: Queries,
  userId: string,
  now: number,
  maxPerEndpoint: number,
): Promise<DueDelivery[]> {
  return db.all<DueDelivery>(sql`
    SELECT d.id AS id, d.endpoint_id AS endpointId
    FROM webhook_endpoints e CROSS JOIN deliveries d
    WHERE e.user_id = ${userId} AND e.state = 'enabled' AND d.id IN (
      SELECT x.id FROM deliveries x INDEXED BY deliveries_waiting_by_endpoint
      WHERE x.state = 'pending' AND x.endpoint_id = e.id AND x.due_at <= ${now}
      ORDER BY x.due_at LIMIT ${maxPerEndpoint}
    )
    ORDER BY d.due_at, d.id`);
}

/** Returns a pending delivery with its endpoint, or null. */
export async function findPendingDelivery(
  db: Queries,
  id: string,
): Promise<{ delivery: Delivery; endpoint: WebhookEndpoint } | null> {
  const [row] = await db
    .select({ delivery: deliveries, endpoint: webhookEndpoints })
    .from(deliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, deliveries.endpoint_id))
    .where(and(eq(deliveries.id, id), eq(deliveries.state, "pending")))
    .limit(1);
  return row ?? null;
}

/** Returns the time at which the next delivery becomes due after `now`, or null. */
export async function findNextDeliveryTime(db: Queries, now: number): Promise<number | null> {
  const [row] = await db.all<{ at: number | null }>(
    sql`SELECT min(due_at) AS at FROM deliveries INDEXED BY deliveries_due WHERE state = 'pending' AND due_at > ${now}`,
  );
  return row?.at ?? null;
}

/** Counts the user's pending test events and returns when the first is due; null without any. */
export async function countQueuedTests(
  db: Queries,
  userId: string,
): Promise<{ count: number; nextDueAt: number | null }> {
  const [row] = await db.all<{ count: number; at: number | null }>(
    sql`SELECT count(*) AS count, min(due_at) AS at FROM deliveries INDEXED BY deliveries_waiting_tests
        WHERE state = 'pending' AND type = 'webhook.test' AND user_id = ${userId}`,
  );
  return { count: row?.count ?? 0, nextDueAt: row?.at ?? null };
}
