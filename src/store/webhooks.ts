/** The outbox of events, webhook endpoints and their deliveries. */
import { and, asc, count, desc, eq, gt, inArray, lt, lte, or, sql } from "drizzle-orm";
import type { Queries } from "./db";
import type { SortKey } from "./paging";
import { follows, type IdPage, rowsOf, toRowPage } from "./rows";
import { deliveries, events, webhookEndpoints } from "./schema-outbox";
import { hasRemainingOwner } from "./workspaces";

const deliveryRows = rowsOf(deliveries);
const eventRows = rowsOf(events);
const webhookEndpointRows = rowsOf(webhookEndpoints);

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect;
export type Delivery = typeof deliveries.$inferSelect;

export const insertEndpoint = webhookEndpointRows.insert;

export const findEndpoint = (db: Queries, workspaceId: string, id: string) =>
  webhookEndpointRows.find(db, { id, workspace_id: workspaceId });

/** Lists the workspace's endpoints, newest first. */
export const listEndpoints = (db: Queries, workspaceId: string, page: IdPage) =>
  webhookEndpointRows.listNewest(db, { workspace_id: workspaceId }, page);

export const countEndpoints = (db: Queries, workspaceId: string) =>
  webhookEndpointRows.count(db, { workspace_id: workspaceId });

/** Lists the workspace's enabled endpoints; none while all of its owners are being deleted. */
export const listEnabledEndpoints = (tx: Queries, workspaceId: string) =>
  webhookEndpointRows.list(
    tx,
    and(
      eq(webhookEndpoints.workspace_id, workspaceId),
      eq(webhookEndpoints.state, "enabled"),
      hasRemainingOwner(sql`${workspaceId}`),
    ),
  );

/**
 * Counts the failing endpoints of all workspaces: those whose deliveries have failed since before `failingBefore`, and
 * those that the server disabled after `disabledAfter`. Returns the URLs of at most `limit`, longest failing first.
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

export const updateEndpoint = webhookEndpointRows.updateById;

export const deleteEndpoint = webhookEndpointRows.deleteById;

export const deleteEndpointsOf = webhookEndpointRows.deleteBy(webhookEndpoints.workspace_id);

/** Inserts a delivery, unless there is one of the same event to the same endpoint. */
export const insertDelivery = deliveryRows.addOnce;

export const updateDelivery = deliveryRows.updateById;

export const findDelivery = (db: Queries, endpointId: string, id: string) =>
  deliveryRows.find(db, { id, endpoint_id: endpointId });

/** Lists the endpoint's deliveries, of one state or all, newest first. `after` is the previous page's last sort key. */
export async function listDeliveries(
  db: Queries,
  endpointId: string,
  filter: { state: Delivery["state"] | null; after: SortKey | null; limit: number },
) {
  const condition = and(
    eq(deliveries.endpoint_id, endpointId),
    filter.state === null ? undefined : eq(deliveries.state, filter.state),
    follows(deliveries.created_at, deliveries.id, filter.after, true),
  );
  const query = db.select().from(deliveries).where(condition);
  return toRowPage(query.orderBy(desc(deliveries.created_at), desc(deliveries.id)), filter.limit);
}

/** Deletes deliveries in a terminal state that were created before `time`. */
export const deleteFinishedDeliveriesBefore = (tx: Queries, time: number) =>
  deliveryRows.delete(
    tx,
    and(lt(deliveries.created_at, time), or(eq(deliveries.state, "delivered"), eq(deliveries.state, "failed"))),
  );

/** Inserts an event. Returns false if the entity already has an event of this type. */
export const insertEvent = eventRows.addOnce;

/** Lists the entity's events, oldest first. */
export const listEntityEvents = (db: Queries, entityId: string) =>
  eventRows.list(db, { entity_id: entityId }, events.id);
