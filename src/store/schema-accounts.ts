/**
 * The tables of accounts, workspaces, sessions and administration. Times are in milliseconds since 1970. Tokens, codes
 * and keys are stored as SHA-256.
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
  /** Null while users can sign in to the account only with an invitation link or a provider. */
  password_hash: text(),
  first_name: text(),
  last_name: text(),
  is_admin: flag(),
  email_verified_at: time(),
  /** Set in the grace period before the account is purged. */
  deleted_at: time(),
  /** Set while an administrator has disabled the account: its keys and sessions are rejected. */
  disabled_at: time(),
  two_factor_enabled: flag(),
  /** The authenticator's secret, encrypted with a key of the data folder. */
  totp_secret: text(),
  /** The secret of an unconfirmed enrollment, encrypted in the same way. */
  totp_pending_secret: text(),
  /** The time step of the last accepted code, because each code works once. */
  totp_last_step: integer(),
  last_sign_in_at: time(),
  /** The administrator who created the account with an invitation. */
  invited_by: text().references((): AnySQLiteColumn => users.id, { onDelete: "set null" }),
  /** The last time that a shared workspace created by the user started with credits. */
  workspace_grant_at: time(),
  created_at: time().notNull(),
});

/** A user of a resource or token; null once that account is purged. */
export const formerUser = () => text().references(() => users.id, { onDelete: "set null" });

export const workspaces = sqliteTable("workspaces", {
  /** A personal workspace has the ID of its user. */
  id: id(),
  name: text().notNull(),
  is_personal: flag(),
  created_by: formerUser(),
  /** Overrides the configured quota; 0 disables it. */
  storage_quota_bytes: integer(),
  /** Size of scripts, options, plans, drafts and parameters. Triggers maintain it (`0018_text_storage.sql`). */
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
    /** The only workspace in which the key can be used. */
    workspace_id: belongsTo(() => workspaces.id),
    name: text().notNull(),
    prefix: text().notNull(),
    /** SHA-256 of the key. The key itself is never stored. */
    hash: text().notNull().unique(),
    scopes: scopes(),
    /** Created by the device grant: the key acts only in its workspace, never for the account. */
    is_device: flag(),
    created_at: time().notNull(),
    last_used_at: time(),
    expires_at: time(),
  },
  (t) => [index("api_keys_by_user").on(t.user_id, t.id), index("api_keys_by_workspace").on(t.workspace_id, t.id)],
);

/** The ID is the `sid` of the session's tokens. An ended session has no row. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    created_at: time().notNull(),
    /** The last sign-in, which determines whether the session may administer and how long it can last. */
    authenticated_at: time().notNull(),
    last_seen_at: time().notNull(),
    expires_at: time().notNull(),
    user_agent: text(),
    address: text(),
  },
  (t) => [index("sessions_by_user").on(t.user_id, t.id), index("sessions_by_expiry").on(t.expires_at)],
);

/**
 * One row: counts the changes of accounts, keys, workspaces and their members, and of existing sessions. Triggers write
 * it.
 */
export const accountsRevision = sqliteTable("accounts_revision", { revision: integer().notNull() });

/** Networks from which a user has signed in. Failures from other networks do not lock the user out there. */
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
    /** The account that the token is for; null if it does not exist yet. */
    user_id: text().references(() => users.id, { onDelete: "cascade" }),
    /** The address for which the token was created. */
    email: text(),
    /** The workspace of an invitation. */
    workspace_id: text().references(() => workspaces.id, { onDelete: "cascade" }),
    data: text({ mode: "json" }).$type<Record<string, unknown>>(),
    /** Failed attempts at a code that belongs to the token. */
    attempts: integer().notNull().default(0),
    created_by: formerUser(),
    created_at: time().notNull(),
    expires_at: time().notNull(),
    used_at: time(),
    /** When the account of an invited address was notified about the invitation. */
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
    /** Null until the enrollment of the code is confirmed. */
    activated_at: time(),
    used_at: time(),
  },
  (t) => [uniqueIndex("recovery_codes_once").on(t.user_id, t.hash)],
);

/** Accounts of OIDC providers with which a user signs in. */
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
    /** The user who approved the request, and the workspace of the key. */
    user_id: text().references(() => users.id, { onDelete: "cascade" }),
    workspace_id: text().references(() => workspaces.id, { onDelete: "cascade" }),
    address: text(),
    /** Minimum time between two polls; grows with each `slow_down`. */
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

/** The audit log. Rows are never deleted and outlive the accounts that they name, so the table has no foreign keys. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: id(),
    created_at: time().notNull(),
    /** The user, or null for the command line and the server. Purging the account replaces it with a random ID. */
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
