/** The audit log: who did what, to what, from which address. Entries are written in the transaction of what they record. */
import { newId } from "../lib/ids";
import { insertAuditEntry } from "../store/audit";
import type { Queries } from "../store/db";

/** What can be recorded, as `noun.verb_past`. */
export type AuditAction =
  | "api_key.created"
  | "api_key.deleted"
  | "device.approved"
  | "device.denied"
  | "asset.charge_refunded"
  | "audit_log.exported"
  | "server.set_up"
  | "session.created"
  | "session.ended"
  | "session.refused"
  | "user.created"
  | "user.credits_changed"
  | "user.deletion_started"
  | "user.disabled"
  | "user.email_verified"
  | "user.enabled"
  | "user.identity_linked"
  | "user.invitation_accepted"
  | "user.invited"
  | "user.password_change_refused"
  | "user.password_changed"
  | "user.password_reset"
  | "user.password_reset_requested"
  | "user.purge_started"
  | "user.purged"
  | "user.quota_changed"
  | "user.reset_link_created"
  | "user.restored"
  | "user.role_changed"
  | "user.signed_up"
  | "user.two_factor_change_refused"
  | "user.two_factor_changed"
  | "workspace.created"
  | "workspace.deleted"
  | "workspace.member_added"
  | "workspace.member_changed"
  | "workspace.member_invited"
  | "workspace.member_removed"
  | "workspace.renamed";

/** Who acts: a user with a session or a key, somebody who is not authenticated, the command line, or the server itself. */
export type AuditActor = {
  kind: "user" | "anonymous" | "command" | "server";
  userId: string | null;
  /** The session or key that was used. */
  credentialId: string | null;
  address: string | null;
  requestId: string | null;
};

const NOBODY = { userId: null, credentialId: null, address: null, requestId: null };

/** The command line, which whoever owns the data folder can use. */
export const COMMAND_ACTOR: AuditActor = { kind: "command", ...NOBODY };
/** The server itself, in scheduled work. */
export const SERVER_ACTOR: AuditActor = { kind: "server", ...NOBODY };

type AuditRecord = {
  action: AuditAction;
  /** What was changed; its kind is the name of a resource, such as `user`. */
  target: { kind: string; id: string } | null;
  workspaceId?: string;
  /** Values that are not secret. */
  details?: Record<string, unknown>;
};

/** Appends an entry to the audit log. */
export function recordAudit(tx: Queries, actor: AuditActor, record: AuditRecord, now: number): Promise<void> {
  return insertAuditEntry(tx, {
    id: newId(),
    created_at: now,
    actor_id: actor.userId,
    actor_kind: actor.kind,
    credential_id: actor.credentialId,
    action: record.action,
    target_kind: record.target?.kind ?? null,
    target_id: record.target?.id ?? null,
    workspace_id: record.workspaceId ?? null,
    address: actor.address,
    request_id: actor.requestId,
    details: record.details ?? null,
  });
}
