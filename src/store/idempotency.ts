/** Responses stored for `Idempotency-Key`. */
import { lt } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { idempotency } from "./schema-outbox";

const responseRows = rowsOf(idempotency);

export const findStoredResponse = (db: Queries, userId: string, key: string) =>
  responseRows.find(db, { user_id: userId, key });

export const deleteStoredResponse = (tx: Queries, userId: string, key: string) =>
  responseRows.delete(tx, { user_id: userId, key });

export const insertStoredResponse = responseRows.add;

export const deleteStoredResponsesBefore = responseRows.deleteBy(idempotency.created_at, lt);
