/** The audit log. Rows are only ever added. */
import type { Queries } from "./db";
import { auditLog } from "./schema-accounts";

export type AuditEntry = typeof auditLog.$inferInsert;

export async function insertAuditEntry(tx: Queries, entry: AuditEntry): Promise<void> {
  await tx.insert(auditLog).values(entry);
}
