/** Texts for entries of the audit log. */

import type { Schemas } from "../../../app/api";
import { formatBytes, formatCount } from "../../../app/format";
import { formatAmount } from "../../../app/rare-formats";

export type AuditEntry = Schemas["AuditEntry"];
type AuditAction = AuditEntry["action"];

export const ACTION_TEXTS: Record<AuditAction, string> = {
  "api_key.created": "Created an API key",
  "api_key.deleted": "Revoked an API key",
  "asset.charge_refunded": "Refunded the credits of a recording",
  "asset.deleted": "Deleted a recording with a damaged file",
  "audit_log.exported": "Downloaded the audit log",
  "backup.drill_started": "Started a restore drill",
  "backup.started": "Started a backup",
  "backup.verification_started": "Started the verification of a backup",
  "device.approved": "Approved a device",
  "device.denied": "Denied a device",
  "file.accepted": "Accepted a file as it is",
  "file.deleted": "Deleted an unknown file",
  "file.restored": "Restored a file from a backup",
  "job.cancelled": "Cancelled a job of a user",
  "order.approved": "Approved an order",
  "order.rejected": "Rejected an order",
  "render.deleted": "Deleted a render with a damaged file",
  "server.set_up": "Set up the server",
  "session.created": "Signed in",
  "session.ended": "Signed out",
  "session.refused": "Sign-in refused",
  "subscription.cancelled": "Cancelled a subscription",
  "user.created": "Created an account",
  "user.credits_changed": "Changed credits",
  "user.deletion_started": "Started the deletion of an account",
  "user.disabled": "Disabled an account",
  "user.email_verified": "Confirmed the email address",
  "user.enabled": "Enabled an account",
  "user.identity_linked": "Linked a sign-in provider",
  "user.identity_removed": "Removed a sign-in provider",
  "user.invitation_accepted": "Accepted an invitation",
  "user.invited": "Invited a user",
  "user.password_change_refused": "Password change refused",
  "user.password_changed": "Changed the password",
  "user.password_reset": "Reset the password",
  "user.password_reset_requested": "Requested a password reset",
  "user.purge_started": "Permanent deletion started",
  "user.purged": "Permanently deleted an account",
  "user.quota_changed": "Changed the storage quota",
  "user.recovery_codes_replaced": "Replaced recovery codes",
  "user.reset_link_created": "Created a password reset link",
  "user.restored": "Restored an account",
  "user.role_changed": "Changed the role",
  "user.signed_up": "Signed up",
  "user.two_factor_change_refused": "Second factor change refused",
  "user.two_factor_changed": "Changed the second factor",
  "worker.drained": "Drained a worker",
  "worker.resumed": "Resumed a worker",
  "worker_token.created": "Created a join token for a worker",
  "worker_token.revoked": "Revoked the join token of a worker",
  "workspace.created": "Created a workspace",
  "workspace.deleted": "Deleted a workspace",
  "workspace.invitation_declined": "Declined an invitation to a workspace",
  "workspace.invitation_revoked": "Revoked an invitation to a workspace",
  "workspace.member_added": "Added a member to a workspace",
  "workspace.member_changed": "Changed a member of a workspace",
  "workspace.member_invited": "Invited a member to a workspace",
  "workspace.member_removed": "Removed a member from a workspace",
  "workspace.renamed": "Renamed a workspace",
};

const ACTOR_TEXTS: Record<AuditEntry["actor"]["kind"], string> = {
  user: "Deleted user",
  anonymous: "Not signed in",
  command: "Command line",
  server: "Server",
};

/** Returns the actor of an entry. */
export const nameActor = ({ actor }: AuditEntry): string => actor.email ?? ACTOR_TEXTS[actor.kind];

/** Returns the name of a kind of target: "worker token". */
export const nameKind = (kind: string): string => kind.replaceAll("_", " ").replace("api", "API");

/** Returns the name of the changed target: "maya@studio.example", or "order". */
export const nameTarget = ({ target }: AuditEntry): string =>
  target === null ? "" : (target.name ?? nameKind(target.kind));

type Details = NonNullable<AuditEntry["details"]>;

/** Sign-in methods. */
const METHODS: Record<string, string> = {
  oidc: "with a sign-in provider",
  password: "with the password",
  setup: "while setting up the server",
  sign_up: "at sign-up",
  invitation: "with an invitation",
  totp: "with an authenticator app",
  email: "with a code by email",
  recovery: "with a recovery code",
};

const SCOPES: Record<string, string> = { "read write": "may read and write", read: "may read", write: "may write" };

const REFUSALS: Record<string, string> = { forbidden: "not allowed", unauthenticated: "not accepted" };

const FILE_PROBLEMS: Record<string, string> = { undecodable: "cannot be played", untracked: "unknown" };

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

const toWords = (value: unknown): string => String(value).replaceAll("_", " ");
const toBytes = (value: unknown): string => formatBytes(Number(value));

/** Formats each detail by its name, in display order. Null means that another text already includes the value. */
const TEXTS: Record<string, (value: unknown, details: Details) => string | null> = {
  name: (name) => `“${name}”`,
  client_id: (name) => `“${name}”`,
  prefix: (prefix) => `starts with ${prefix}…`,
  scopes: (scopes) => {
    const list = (scopes as string[]).toSorted().join(" ");
    return SCOPES[list] ?? `may ${list}`;
  },
  user_id: (user) => (UUID.test(String(user)) ? "a deleted user" : String(user)),
  role: (role) => `as ${/^[aeo]/.test(String(role)) ? "an" : "a"} ${role}`,
  invited_by: (user) => (user === null || UUID.test(String(user)) ? null : `invited by ${user}`),
  provider: (provider) => `with ${provider}`,
  method: (method) => METHODS[String(method)] ?? toWords(method),
  step: (step) => (step === "second_factor" ? "wrong second factor" : toWords(step)),
  code: (code) => REFUSALS[String(code)] ?? toWords(code),
  api_keys: (state) => (state === "kept" ? "API keys keep working" : "API keys were revoked"),
  enabled: (isEnabled) => (isEnabled ? "turned on" : "turned off"),
  delta: (delta) => `${Number(delta) < 0 ? "removed" : "added"} ${formatCount(Math.abs(Number(delta)), "credit")}`,
  note: (note) => `“${note}”`,
  storage_quota_bytes: (bytes) =>
    bytes === null ? "the server's default" : bytes === 0 ? "no limit" : `${toBytes(bytes)} allowed`,
  credits: (credits) => formatCount(Number(credits), "credit"),
  amount: (amount, { currency }) => `for ${formatAmount(Number(amount), String(currency))}`,
  currency: () => null,
  price_id: (price) => `price “${price}”`,
  projects: (count) => formatCount(Number(count), "project"),
  assets: (count) => formatCount(Number(count), "recording"),
  renders: (count) => formatCount(Number(count), "render"),
  path: (path) => String(path),
  problem: (problem) => FILE_PROBLEMS[String(problem)] ?? toWords(problem),
  backup: (backup) => `from ${backup}`,
  bytes: (bytes, { path }) => (path === undefined ? `${toBytes(bytes)} in all` : toBytes(bytes)),
};

const NAMES = Object.keys(TEXTS);

/**
 * Returns a text such as "added 600 credits, “Order 2026-117”". Users are named by address while their account exists.
 */
export function formatDetails({ details, named_user: user }: AuditEntry): string {
  const known = details ?? {};
  const nameUser = (value: unknown) => (user !== null && user.email !== null && value === user.id ? user.email : value);
  const texts = NAMES.filter((name) => name in known).map((name) => TEXTS[name]!(nameUser(known[name]), known));
  return texts.filter((text) => text !== null).join(", ");
}
