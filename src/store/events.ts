/** The outbox of events, and the answers remembered for `Idempotency-Key`. */
import { and, eq, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { events, idempotency } from "./schema-outbox";

export type OutboxEvent = typeof events.$inferSelect;

/** Adds an event. False when the same one has been told already. */
export async function insertEvent(tx: Queries, event: typeof events.$inferInsert): Promise<boolean> {
  const rows = await tx.insert(events).values(event).onConflictDoNothing().returning({ id: events.id });
  return rows.length > 0;
}

/** The entity's events, oldest first. */
export const listEntityEvents = (db: Queries, entityId: string): Promise<OutboxEvent[]> =>
  db.select().from(events).where(eq(events.entity_id, entityId)).orderBy(events.id);

export type StoredResponse = typeof idempotency.$inferSelect;

export async function findStoredResponse(db: Queries, userId: string, key: string): Promise<StoredResponse | null> {
  const [row] = await db
    .select()
    .from(idempotency)
    .where(and(eq(idempotency.user_id, userId), eq(idempotency.key, key)))
    .limit(1);
  return row ?? null;
}

export async function insertStoredResponse(tx: Queries, answer: typeof idempotency.$inferInsert): Promise<void> {
  await tx.insert(idempotency).values(answer);
}

export async function deleteStoredResponsesBefore(tx: Queries, time: number): Promise<void> {
  await tx.delete(idempotency).where(lt(idempotency.created_at, time));
}
