/** Responses stored for `Idempotency-Key`. */
import { and, eq, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { idempotency } from "./schema-outbox";

const responseRows = rowsOf(idempotency);

export const findStoredResponse = (db: Queries, userId: string, key: string) =>
  responseRows.find(db, and(eq(idempotency.user_id, userId), eq(idempotency.key, key)));

export const insertStoredResponse = responseRows.add;

export const deleteStoredResponsesBefore = responseRows.deleteBy(idempotency.created_at, lt);
