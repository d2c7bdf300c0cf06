/** The audit log: actor, action, target and address. Entries are written in the transaction of the action. */
import type { AuditAction } from "../../domain/audit-actions";
import { insertAuditEntry } from "../../store/audit";
import type { Queries } from "../../store/db";

/** The actor: a user with a session or a key, an anonymous client, the command line, or the server itself. */
export type AuditActor = {
  kind: "user" | "anonymous" | "command" | "server";
  userId: string | null;
  /** The session or key that was used. */
  credentialId: string | null;
  address: string | null;
  requestId: string | null;
};

const NOBODY = { userId: null, credentialId: null, address: null, requestId: null };

/** The command line, which anyone who owns the data folder can use. */
export const COMMAND_ACTOR: AuditActor = { kind: "command", ...NOBODY };
/** The server itself, in scheduled work. */
export const SERVER_ACTOR: AuditActor = { kind: "server", ...NOBODY };

type AuditRecord = {
  action: AuditAction;
  /** The changed resource. The kind of a plain ID is the first word of the action. */
  target: string | { kind: string; id: string } | null;
  workspaceId?: string;
  /** Values that are not secret. */
  details?: Record<string, unknown>;
};

export function recordAudit(tx: Queries, actor: AuditActor, record: AuditRecord, now: number): Promise<void> {
  const [kind] = record.action.split(".");
  const target = typeof record.target === "string" ? { kind: kind!, id: record.target } : record.target;
  return insertAuditEntry(tx, {
    created_at: now,
    actor_id: actor.userId,
    actor_kind: actor.kind,
    credential_id: actor.credentialId,
    action: record.action,
    target_kind: target?.kind ?? null,
    target_id: target?.id ?? null,
    workspace_id: record.workspaceId ?? null,
    address: actor.address,
    request_id: actor.requestId,
    details: record.details ?? null,
  });
}
