/**
 * The tables of accounts, workspaces, sessions and administration. Times are milliseconds since 1970. Tokens, codes and keys are stored as
 * SHA-256.
 */
import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { type KEY_SCOPES, WORKSPACE_ROLES } from "../domain/access";
import { DEVICE_CODE_STATES, MAIL_STATES, TOKEN_PURPOSES } from "../domain/states";
import { belongsTo, flag, id, time } from "./schema-columns";

const scopes = () =>
  text({ mode: "json" }).$type<(typeof KEY_SCOPES)[number][]>().notNull().default(sql`'["read","write"]'`);

export const users = sqliteTable("users", {
  id: id(),
  /** Lower case; the sign-in name. */
  email: text().notNull().unique(),
  /** Null while the account can be signed in to only by an invitation link or a provider. */
  password_hash: text(),
  first_name: text(),
  last_name: text(),
  is_admin: flag(),
  email_verified_at: time(),
  /** Set in the grace period before the account is purged. */
  deleted_at: time(),
  /** Set while an administrator has disabled the account: its keys and sessions are refused. */
  disabled_at: time(),
  two_factor_enabled: flag(),
  /** The authenticator's secret, encrypted with a key of the data folder. */
  totp_secret: text(),
  /** The secret of an enrollment that has not been confirmed, encrypted likewise. */
  totp_pending_secret: text(),
  /** The time step of the last accepted code: a code works once. */
  totp_last_step: integer(),
  last_sign_in_at: time(),
  /** The administrator who created the account with an invitation. */
  invited_by: text().references((): AnySQLiteColumn => users.id, { onDelete: "set null" }),
  /** The last time that a shared workspace which the user created started with credits. */
  workspace_grant_at: time(),
  created_at: time().notNull(),
});

/** A user of a resource or token, null once that account is purged. */
const formerUser = () => text().references(() => users.id, { onDelete: "set null" });

export const workspaces = sqliteTable("workspaces", {
  /** The ID of a personal workspace is its user's. */
  id: id(),
  name: text().notNull(),
  is_personal: flag(),
  created_by: formerUser(),
  /** Overrides the configured quota; 0 is none. */
  storage_quota_bytes: integer(),
  /** Bytes of the scripts, options, plans, drafts and step parameters of the workspace. Triggers keep it (`0018_text_storage.sql`). */
  text_bytes: integer().notNull().default(0),
  created_at: time().notNull(),
});

export const workspaceMembers = sqliteTable(
  "workspace_members",
  {
    workspace_id: belongsTo(() => workspaces.id),
    user_id: belongsTo(() => users.id),
    role: text({ enum: WORKSPACE_ROLES }).notNull(),
    created_at: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.user_id] }), index("workspace_members_by_user").on(t.user_id)],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    /** The only workspace that the key can be used in. */
    workspace_id: belongsTo(() => workspaces.id),
    name: text().notNull(),
    prefix: text().notNull(),
    /** SHA-256 of the key. The key itself is never stored. */
    hash: text().notNull().unique(),
    scopes: scopes(),
    /** Created by the device grant: the key acts in its workspace only, never for the account. */
    is_device: flag(),
    created_at: time().notNull(),
    last_used_at: time(),
    expires_at: time(),
  },
  (t) => [index("api_keys_by_user").on(t.user_id, t.id), index("api_keys_by_workspace").on(t.workspace_id, t.id)],
);

/** The ID is the `sid` of the session's tokens. A session that has ended has no row. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    created_at: time().notNull(),
    /** The last sign-in, which decides whether the session may administer and how long it can last. */
    authenticated_at: time().notNull(),
    last_seen_at: time().notNull(),
    expires_at: time().notNull(),
    user_agent: text(),
    address: text(),
  },
  (t) => [index("sessions_by_user").on(t.user_id, t.id), index("sessions_by_expiry").on(t.expires_at)],
);

/** One row: counts the changes of accounts, keys, workspaces and their members, and of existing sessions. Triggers write it. */
export const accountsRevision = sqliteTable("accounts_revision", { revision: integer().notNull() });

/** Networks from which a user has signed in: failures of others do not lock them out. */
export const signInNetworks = sqliteTable(
  "sign_in_networks",
  {
    user_id: belongsTo(() => users.id),
    /** The /24 of an IPv4 address, the /64 of an IPv6 address. */
    network: text().notNull(),
    last_sign_in_at: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.network] })],
);

/** Links, challenges and codes that work once. */
export const oneTimeTokens = sqliteTable(
  "one_time_tokens",
  {
    id: id(),
    purpose: text({ enum: TOKEN_PURPOSES }).notNull(),
    hash: text().notNull().unique(),
    /** The account that the token is for; null when it has none yet. */
    user_id: text().references(() => users.id, { onDelete: "cascade" }),
    /** The address that the token was made for. */
    email: text(),
    /** The workspace that an invitation leads to. */
    workspace_id: text().references(() => workspaces.id, { onDelete: "cascade" }),
    data: text({ mode: "json" }).$type<Record<string, unknown>>(),
    /** Failed attempts at a code that belongs to the token. */
    attempts: integer().notNull().default(0),
    created_by: formerUser(),
    created_at: time().notNull(),
    expires_at: time().notNull(),
    used_at: time(),
    /** When the account of an invited address was notified of the invitation. */
    notified_at: time(),
  },
  (t) => [
    index("one_time_tokens_by_user").on(t.user_id, t.purpose),
    index("one_time_tokens_by_email").on(t.email, t.purpose),
    index("one_time_tokens_by_workspace").on(t.workspace_id),
    index("one_time_tokens_by_expiry").on(t.expires_at),
  ],
);

export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    hash: text().notNull(),
    created_at: time().notNull(),
    /** Null until the enrollment that the code belongs to is confirmed. */
    activated_at: time(),
    used_at: time(),
  },
  (t) => [uniqueIndex("recovery_codes_once").on(t.user_id, t.hash)],
);

/** Accounts of OIDC providers that sign in a user. */
export const oidcIdentities = sqliteTable(
  "oidc_identities",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    /** Issuer and subject identify an account; the provider's name in the configuration may change. */
    issuer: text().notNull(),
    subject: text().notNull(),
    email: text(),
    created_at: time().notNull(),
    last_sign_in_at: time(),
  },
  (t) => [uniqueIndex("oidc_identities_once").on(t.issuer, t.subject), index("oidc_identities_by_user").on(t.user_id)],
);

/** Requests of devices for a key (RFC 8628). */
export const deviceCodes = sqliteTable(
  "device_codes",
  {
    id: id(),
    device_code_hash: text().notNull().unique(),
    user_code_hash: text().notNull().unique(),
    client_id: text().notNull(),
    scopes: scopes(),
    state: text({ enum: DEVICE_CODE_STATES }).notNull(),
    /** Who approved the request, and the workspace of the key. */
    user_id: text().references(() => users.id, { onDelete: "cascade" }),
    workspace_id: text().references(() => workspaces.id, { onDelete: "cascade" }),
    address: text(),
    /** The least time between two polls; grows with each `slow_down`. */
    interval_seconds: integer().notNull(),
    last_polled_at: time(),
    created_at: time().notNull(),
    expires_at: time().notNull(),
  },
  (t) => [
    index("device_codes_by_user").on(t.user_id),
    index("device_codes_by_workspace").on(t.workspace_id),
    index("device_codes_by_expiry").on(t.expires_at),
  ],
);

/** The queue of mails. */
export const mails = sqliteTable(
  "mails",
  {
    id: id(),
    user_id: text().references(() => users.id, { onDelete: "cascade" }),
    recipient: text().notNull(),
    template: text().notNull(),
    /** The template's values, encrypted because links contain tokens; null once the mail is sent or given up. */
    sealed_values: text(),
    state: text({ enum: MAIL_STATES }).notNull(),
    attempts: integer().notNull().default(0),
    due_at: time(),
    last_error: text(),
    created_at: time().notNull(),
    sent_at: time(),
  },
  (t) => [index("mails_due").on(t.state, t.due_at), index("mails_by_user").on(t.user_id)],
);

/** What was done, by whom. Rows are never deleted, and outlive the accounts that they name: no foreign keys. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: id(),
    created_at: time().notNull(),
    /** The user, or null for the command line and the server itself. A random ID replaces that of a purged account. */
    actor_id: text(),
    /** `user`, `command` or `server`. */
    actor_kind: text().notNull(),
    /** The session or key that was used. */
    credential_id: text(),
    action: text().notNull(),
    target_kind: text(),
    target_id: text(),
    workspace_id: text(),
    address: text(),
    request_id: text(),
    details: text({ mode: "json" }).$type<Record<string, unknown>>(),
  },
  (t) => [
    index("audit_log_by_actor").on(t.actor_id, t.id),
    index("audit_log_by_target").on(t.target_id, t.id),
    index("audit_log_by_action").on(t.action, t.id),
    index("audit_log_by_workspace").on(t.workspace_id, t.id),
  ],
);
