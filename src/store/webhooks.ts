/** Webhook endpoints and their deliveries. */
import { and, asc, count, desc, eq, gt, inArray, lt, lte, or, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";
import { deliveries, webhookEndpoints } from "./schema-outbox";
import { hasRemainingOwner } from "./workspaces";

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect;
export type Delivery = typeof deliveries.$inferSelect;

export async function insertEndpoint(
  tx: Queries,
  endpoint: typeof webhookEndpoints.$inferInsert,
): Promise<WebhookEndpoint> {
  const [row] = await tx.insert(webhookEndpoints).values(endpoint).returning();
  return row!;
}

/** Returns the endpoint if it belongs to the workspace, else null. */
export async function findEndpoint(db: Queries, workspaceId: string, id: string): Promise<WebhookEndpoint | null> {
  const [row] = await db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.workspace_id, workspaceId)))
    .limit(1);
  return row ?? null;
}

/** Lists the workspace's endpoints, newest first. */
export async function listEndpoints(
  db: Queries,
  workspaceId: string,
  filter: { afterId: string | null; limit: number },
): Promise<RowPage<WebhookEndpoint>> {
  const rows = await db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.workspace_id, workspaceId),
        filter.afterId ? lt(webhookEndpoints.id, filter.afterId) : undefined,
      ),
    )
    .orderBy(desc(webhookEndpoints.id))
    .limit(filter.limit + 1);
  return toRowPage(rows, filter.limit);
}

export async function countEndpoints(db: Queries, workspaceId: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, workspaceId));
  return row?.n ?? 0;
}

/** Lists the workspace's enabled endpoints; none while all of its owners are being deleted. */
export const listEnabledEndpoints = (tx: Queries, workspaceId: string): Promise<WebhookEndpoint[]> =>
  tx
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.workspace_id, workspaceId),
        eq(webhookEndpoints.state, "enabled"),
        hasRemainingOwner(sql`${workspaceId}`),
      ),
    );

/**
 * Counts the endpoints of all workspaces that fail: those whose deliveries have failed since before `failingBefore`, and those that the server
 * disabled after `disabledAfter`. Returns the URLs of at most `limit`, those that fail longest first.
 */
export async function readFailingEndpoints(
  db: Queries,
  { failingBefore, disabledAfter }: { failingBefore: number; disabledAfter: number },
  limit: number,
): Promise<{ urls: string[]; total: number; disabled: number }> {
  const { disabled_at, disabled_reason, failing_since, id, state, url } = webhookEndpoints;
  const isDisabled = and(
    eq(state, "disabled"),
    inArray(disabled_reason, ["gone", "failing"]),
    gt(disabled_at, disabledAfter),
  );
  const isFailing = or(isDisabled, and(eq(state, "enabled"), lte(failing_since, failingBefore)));
  const rows = await db
    .select({ url })
    .from(webhookEndpoints)
    .where(isFailing)
    .orderBy(asc(failing_since), asc(id))
    .limit(limit);
  const [counted] = await db
    .select({ total: count(), disabled: sql<number>`coalesce(sum(${state} = 'disabled'), 0)` })
    .from(webhookEndpoints)
    .where(isFailing);
  return { urls: rows.map((row) => row.url), total: counted?.total ?? 0, disabled: counted?.disabled ?? 0 };
}

export async function updateEndpoint(
  tx: Queries,
  id: string,
  change: Partial<typeof webhookEndpoints.$inferInsert>,
): Promise<WebhookEndpoint | null> {
  const [row] = await tx.update(webhookEndpoints).set(change).where(eq(webhookEndpoints.id, id)).returning();
  return row ?? null;
}

export async function deleteEndpoint(tx: Queries, id: string): Promise<void> {
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id));
}

/** Deletes all endpoints of a workspace. */
export async function deleteEndpointsOf(tx: Queries, workspaceId: string): Promise<void> {
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.workspace_id, workspaceId));
}

/** Inserts a delivery, unless one of the same event to the same endpoint exists. */
export async function insertDelivery(tx: Queries, delivery: typeof deliveries.$inferInsert): Promise<void> {
  await tx.insert(deliveries).values(delivery).onConflictDoNothing();
}

export async function updateDelivery(
  tx: Queries,
  id: string,
  change: Partial<typeof deliveries.$inferInsert>,
): Promise<Delivery | null> {
  const [row] = await tx.update(deliveries).set(change).where(eq(deliveries.id, id)).returning();
  return row ?? null;
}

export async function findDelivery(db: Queries, endpointId: string, id: string): Promise<Delivery | null> {
  const [row] = await db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.endpoint_id, endpointId)))
    .limit(1);
  return row ?? null;
}

/**
 * Lists the endpoint's deliveries, of one state or of all, newest first. `after` is the sort key of the previous page's last delivery.
 */
export async function listDeliveries(
  db: Queries,
  endpointId: string,
  filter: { state: Delivery["state"] | null; after: { createdAt: number; id: string } | null; limit: number },
): Promise<RowPage<Delivery>> {
  const { state, after } = filter;
  const beyond = after
    ? or(
        lt(deliveries.created_at, after.createdAt),
        and(eq(deliveries.created_at, after.createdAt), lt(deliveries.id, after.id)),
      )
    : undefined;
  const rows = await db
    .select()
    .from(deliveries)
    .where(
      and(eq(deliveries.endpoint_id, endpointId), state === null ? undefined : eq(deliveries.state, state), beyond),
    )
    .orderBy(desc(deliveries.created_at), desc(deliveries.id))
    .limit(filter.limit + 1);
  return toRowPage(rows, filter.limit);
}

/** Deletes deliveries in a terminal state that were created before `time`. */
export async function deleteFinishedDeliveriesBefore(tx: Queries, time: number): Promise<void> {
  await tx
    .delete(deliveries)
    .where(and(lt(deliveries.created_at, time), or(eq(deliveries.state, "delivered"), eq(deliveries.state, "failed"))));
}
