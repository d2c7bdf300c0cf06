/** Responses stored for `Idempotency-Key`. */
import { and, eq, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, findRow } from "./rows";
import { idempotency } from "./schema-outbox";

type StoredResponse = typeof idempotency.$inferSelect;

export const findStoredResponse = (db: Queries, userId: string, key: string): Promise<StoredResponse | null> =>
  findRow(db, idempotency, and(eq(idempotency.user_id, userId), eq(idempotency.key, key)));

export async function insertStoredResponse(tx: Queries, response: typeof idempotency.$inferInsert): Promise<void> {
  await tx.insert(idempotency).values(response);
}

export const deleteStoredResponsesBefore = (tx: Queries, time: number): Promise<void> =>
  deleteRows(tx, idempotency, lt(idempotency.created_at, time));
