/** Responses stored for `Idempotency-Key`. */
import { and, eq, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { idempotency } from "./schema-outbox";

type StoredResponse = typeof idempotency.$inferSelect;

export async function findStoredResponse(db: Queries, userId: string, key: string): Promise<StoredResponse | null> {
  const [row] = await db
    .select()
    .from(idempotency)
    .where(and(eq(idempotency.user_id, userId), eq(idempotency.key, key)))
    .limit(1);
  return row ?? null;
}

export async function insertStoredResponse(tx: Queries, response: typeof idempotency.$inferInsert): Promise<void> {
  await tx.insert(idempotency).values(response);
}

export async function deleteStoredResponsesBefore(tx: Queries, time: number): Promise<void> {
  await tx.delete(idempotency).where(lt(idempotency.created_at, time));
}
