/** The outbox of events. */
import { eq } from "drizzle-orm";
import type { Queries } from "./db";
import { exists } from "./rows";
import { events } from "./schema-outbox";

export type OutboxEvent = typeof events.$inferSelect;

/** Inserts an event. Returns false if the entity already has an event of this type. */
export const insertEvent = (tx: Queries, event: typeof events.$inferInsert): Promise<boolean> =>
  exists(tx.insert(events).values(event).onConflictDoNothing().returning({ id: events.id }));

/** Lists the entity's events, oldest first. */
export const listEntityEvents = (db: Queries, entityId: string): Promise<OutboxEvent[]> =>
  db.select().from(events).where(eq(events.entity_id, entityId)).orderBy(events.id);
