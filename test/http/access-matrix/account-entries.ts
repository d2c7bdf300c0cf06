/** The entries of accounts, sessions, workspaces and API keys. */

import { newId } from "../../../src/lib/ids";
import { insertSession } from "../../../src/store/sessions";
import { listInvitations } from "../../../src/store/workspace-invitations";
import { insertMember } from "../../../src/store/workspaces";
import { createInvitation } from "../../../src/work/identity/invitations";
import { emailOf, PASSWORD } from "../accounts";
import { type Entry, newAddress } from "./entries";
import type { Fixtures } from "./fixtures";
import type { Caller } from "./principals";

const NEW_PASSWORD = "staple horse 4711";
const TOKEN = "0000000000000000000000000000000000000000000";

/** Only the owner has these sessions and keys. */
const ofOwner = ({ name }: Caller) => (name.startsWith("owner") ? undefined : "404 not_found");

async function newSession({ server, owner }: Fixtures): Promise<Record<string, string>> {
  const { sessions, store } = server.services();
  const { row } = await sessions.issue(owner.userId, { userAgent: null, address: null });
  await store.write((tx) => insertSession(tx, row));
  return { session_id: row.id };
}

async function newKey({ ownerSession }: Fixtures): Promise<Record<string, string>> {
  return { key_id: (await ownerSession.must<{ id: string }>("POST", "/api-keys", { json: { name: "k" } })).id };
}

async function newWorkspace({ ownerSession }: Fixtures): Promise<Record<string, string>> {
  const made = await ownerSession.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "W" } });
  return { workspace_id: made.id };
}

async function newMember({ server, workspaceId }: Fixtures): Promise<Record<string, string>> {
  const { userId } = await server.user(0);
  const { store } = server.services();
  await store.write((tx) =>
    insertMember(tx, { workspace_id: workspaceId, user_id: userId, role: "viewer", created_at: 1 }),
  );
  return { workspace_id: workspaceId, user_id: userId };
}

async function newInvitation({ server, owner, workspaceId, next }: Fixtures): Promise<Record<string, string>> {
  const invitedBy = { id: owner.userId, email: emailOf(owner), first_name: null, last_name: null, is_admin: true };
  const { store, now } = server.services();
  const email = `invited${next()}@example.test`;
  const workspace = { id: workspaceId, role: "viewer" } as const;
  await store.write((tx) => createInvitation(server.services(), tx, { email, userId: null, workspace, invitedBy }));
  const { rows } = await listInvitations(store.read, workspaceId, { now: now(), limit: 100, offset: 0 });
  return { workspace_id: workspaceId, invitation_id: rows.find(({ token }) => token.email === email)!.token.id };
}

export const ACCOUNT_ENTRIES: Record<string, Entry> = {
  "GET /auth/methods": { allowed: "200" },
  "POST /auth/setup": {
    allowed: "409 conflict",
    body: (context) => ({ token: TOKEN, email: newAddress(context), password: PASSWORD }),
  },
  "POST /auth/signup": {
    allowed: "201",
    body: (context) => ({ email: newAddress(context), password: PASSWORD }),
  },
  "POST /auth/login": {
    allowed: "200",
    body: ({ fixtures }) => ({ email: emailOf(fixtures.owner), password: PASSWORD }),
  },
  "POST /auth/login/two-factor": {
    allowed: "401 unauthenticated",
    body: () => ({ challenge: TOKEN, code: "123456" }),
  },
  "POST /auth/logout": { allowed: "204", isIsolated: true },
  "POST /auth/verify-email": { allowed: "401 unauthenticated", body: () => ({ token: TOKEN }) },
  "POST /auth/password/forgot": { allowed: "202", body: (context) => ({ email: newAddress(context) }) },
  "POST /auth/password/reset": {
    allowed: "401 unauthenticated",
    body: () => ({ token: TOKEN, password: NEW_PASSWORD }),
  },
  "POST /auth/invitation": {
    allowed: "401 unauthenticated",
    body: () => ({ token: TOKEN, password: NEW_PASSWORD }),
  },

  "GET /status": { allowed: "200" },
  "GET /licenses": { allowed: "200" },
  "GET /notifications": { allowed: "200" },
  "POST /notifications/read": { allowed: "204" },
  "POST /notifications/:notification_id/read": { allowed: "200", allowedFor: ofOwner },
  "GET /notifications/preferences": { allowed: "200" },
  "PATCH /notifications/preferences": {
    allowed: "200",
    body: () => ({ items: [{ type: "pipeline_failed", channel: "email", enabled: true }] }),
  },

  "GET /sessions": { allowed: "200" },
  "DELETE /sessions": { allowed: "204", isIsolated: true },
  "DELETE /sessions/:session_id": { allowed: "204", allowedFor: ofOwner, make: newSession },

  "PATCH /users/me": { allowed: "200", body: () => ({ first_name: "Ada" }) },
  "PUT /users/me/password": {
    allowed: "204",
    body: () => ({ current_password: PASSWORD, password: NEW_PASSWORD }),
    isIsolated: true,
  },
  "GET /users/me/identities": { allowed: "200" },
  // Removing one ends the other sessions of the caller, who has none.
  "DELETE /users/me/identities/:identity_id": {
    allowed: "404 not_found",
    make: async () => ({ identity_id: newId() }),
  },
  // No mails are configured.
  "POST /users/me/email-verification": { allowed: "409 conflict" },
  "GET /users/me/two-factor": { allowed: "200" },
  // The caller has no authenticator.
  "POST /users/me/two-factor/recovery-codes": { allowed: "409 conflict", body: () => ({ password: PASSWORD }) },
  "POST /users/me/two-factor": { allowed: "201", body: () => ({ password: PASSWORD }), isIsolated: true },
  "POST /users/me/two-factor/confirm": { allowed: "409 conflict", body: () => ({ code: "123456" }) },
  "DELETE /users/me/two-factor": { allowed: "204", body: () => ({ password: PASSWORD }), isIsolated: true },

  "GET /users/me/export": { allowed: "200" },
  "POST /users/me/export": { allowed: "202" },

  "GET /workspaces": { allowed: "200" },
  "POST /workspaces": { allowed: "201", body: () => ({ name: "W" }), isIsolated: true },
  "GET /workspaces/:workspace_id": { allowed: "200" },
  "PATCH /workspaces/:workspace_id": { allowed: "200", body: () => ({ name: "Studio" }) },
  "DELETE /workspaces/:workspace_id": {
    allowed: "204",
    make: newWorkspace,
  },
  "GET /workspaces/:workspace_id/members": { allowed: "200" },
  "POST /workspaces/:workspace_id/members": {
    allowed: "201",
    body: (context) => ({ email: newAddress(context), role: "viewer" }),
  },
  "PATCH /workspaces/:workspace_id/members/:user_id": {
    allowed: "200",
    body: () => ({ role: "editor" }),
    make: newMember,
  },
  "DELETE /workspaces/:workspace_id/members/:user_id": {
    allowed: "204",
    // Everybody may leave, only an owner may remove somebody else.
    allowedFor: ({ role }) => (role === "owner" ? undefined : "403 forbidden"),
    make: newMember,
  },
  // Those of the shared workspace are for other addresses.
  "GET /invitations": { allowed: "200" },
  "POST /invitations/read": { allowed: "404 not_found", body: () => ({ token: TOKEN }) },
  "POST /invitations/accept": { allowed: "404 not_found", body: () => ({ token: TOKEN }) },
  "POST /invitations/:invitation_id/accept": { allowed: "404 not_found", make: newInvitation },
  "POST /invitations/:invitation_id/decline": { allowed: "404 not_found", make: newInvitation },
  "GET /workspaces/:workspace_id/invitations": { allowed: "200" },
  "DELETE /workspaces/:workspace_id/invitations/:invitation_id": { allowed: "204", make: newInvitation },
};

export const KEY_ENTRIES: Record<string, Entry> = {
  "POST ": { allowed: "201", body: () => ({ name: "k" }), isIsolated: true },
  "GET ": { allowed: "200" },
  "DELETE /:key_id": { allowed: "204", allowedFor: ofOwner, make: newKey },
};
