import { expect, test } from "bun:test";
import type { AuditAction } from "../../../src/domain/audit-actions";
import { ACTION_TEXTS, type AuditEntry, formatDetails } from "../../../web/pages/admin/audit/audit-texts";

const MAYA = "0197a5c0-0000-7000-8000-00000000000a";
const NOBODY = "0197a5c0-0000-7000-8000-00000000000b";
const KEY = { name: "CI", prefix: "sk_abc", scopes: ["write", "read"] };
const ORDER = { price_id: "pack-600", credits: 600, amount: 2900, currency: "EUR" };
const ORDER_TEXT = "600 credits, for €29.00, price “pack-600”";

/** The details of each action and their text. */
const DETAILS: [AuditAction, Record<string, unknown>, string][] = [
  ["api_key.created", KEY, "“CI”, starts with sk_abc…, may read and write"],
  ["api_key.deleted", { ...KEY, scopes: ["read"] }, "“CI”, starts with sk_abc…, may read"],
  ["asset.charge_refunded", { delta: 1 }, "added 1 credit"],
  ["asset.deleted", { path: "media/x/source", problem: "undecodable" }, "media/x/source, cannot be played"],
  ["render.deleted", { path: "renders/x/output.mp4", problem: "missing" }, "renders/x/output.mp4, missing"],
  ["file.accepted", { path: "media/x/source", problem: "changed" }, "media/x/source, changed"],
  ["file.deleted", { path: "media/junk", bytes: 5e6 }, "media/junk, 5\u00a0MB"],
  [
    "file.restored",
    { path: "media/x/source", problem: "missing", backup: "offcut-2027-01-31T02-00-00Z" },
    "media/x/source, missing, from offcut-2027-01-31T02-00-00Z",
  ],
  ["device.approved", { client_id: "Cutter", scopes: ["write"] }, "“Cutter”, may write"],
  ["device.denied", { client_id: "Cutter", scopes: ["read", "write"] }, "“Cutter”, may read and write"],
  ["job.cancelled", { name: "Talk" }, "“Talk”"],
  ["order.approved", ORDER, ORDER_TEXT],
  ["order.rejected", ORDER, ORDER_TEXT],
  ["session.created", { method: "password" }, "with the password"],
  ["session.created", { method: "sign_up" }, "at sign-up"],
  ["session.created", { method: "totp" }, "with an authenticator app"],
  ["session.refused", { step: "second_factor" }, "wrong second factor"],
  ["session.refused", { provider: "Studio", code: "forbidden" }, "with Studio, not allowed"],
  ["user.created", { role: "member" }, "as a member"],
  ["user.credits_changed", { delta: -1200, note: "Order 7" }, "removed 1,200 credits, “Order 7”"],
  ["user.identity_linked", { provider: "Studio" }, "with Studio"],
  ["user.identity_removed", { provider: "Studio" }, "with Studio"],
  ["user.invitation_accepted", { invited_by: MAYA }, "invited by maya@studio.example"],
  ["user.invitation_accepted", { invited_by: null }, ""],
  ["user.invited", { role: "admin" }, "as an admin"],
  ["user.password_reset", { api_keys: "kept" }, "API keys keep working"],
  ["user.password_reset", { api_keys: "revoked" }, "API keys were revoked"],
  [
    "user.purge_started",
    { projects: 1, assets: 2, renders: 0, bytes: 5e10 },
    "1 project, 2 recordings, 0 renders, 50\u00a0GB in all",
  ],
  ["user.quota_changed", { storage_quota_bytes: 5e10 }, "50\u00a0GB allowed"],
  ["user.quota_changed", { storage_quota_bytes: 0 }, "no limit"],
  ["user.quota_changed", { storage_quota_bytes: null }, "the server's default"],
  ["user.role_changed", { role: "admin", provider: "Studio" }, "as an admin, with Studio"],
  ["user.two_factor_changed", { enabled: true }, "turned on"],
  ["worker.drained", { name: "mac-1" }, "“mac-1”"],
  ["worker.resumed", { name: "mac-1" }, "“mac-1”"],
  ["worker_token.created", { name: "mac-1" }, "“mac-1”"],
  ["worker_token.revoked", { name: "mac-1" }, "“mac-1”"],
  ["workspace.invitation_declined", {}, ""],
  [
    "workspace.member_added",
    { user_id: MAYA, role: "editor", invited_by: NOBODY },
    "maya@studio.example, as an editor",
  ],
  ["workspace.member_changed", { user_id: NOBODY, role: "viewer" }, "a deleted user, as a viewer"],
  ["workspace.member_invited", { role: "owner" }, "as an owner"],
  ["workspace.member_removed", { user_id: MAYA }, "maya@studio.example"],
];

test.each(DETAILS)("%s has its details in words: %j", (action, details, text) => {
  const user = { id: MAYA, email: "maya@studio.example" };
  expect(formatDetails({ action, details, named_user: user } as unknown as AuditEntry)).toBe(text);
  expect(ACTION_TEXTS[action]).not.toMatch(/[_.]/);
});

/** The actions that are recorded without details. */
const WITHOUT_DETAILS: AuditAction[] = [
  "audit_log.exported",
  "backup.drill_started",
  "backup.started",
  "backup.verification_started",
  "server.set_up",
  "session.ended",
  "subscription.cancelled",
  "user.deletion_started",
  "user.disabled",
  "user.email_verified",
  "user.enabled",
  "user.password_change_refused",
  "user.password_changed",
  "user.password_reset_requested",
  "user.purged",
  "user.recovery_codes_replaced",
  "user.reset_link_created",
  "user.restored",
  "user.signed_up",
  "user.two_factor_change_refused",
  "workspace.created",
  "workspace.deleted",
  "workspace.invitation_revoked",
  "workspace.renamed",
];

test("every action has a row or has no details", () => {
  const rows = new Set([...DETAILS.map(([action]) => action), ...WITHOUT_DETAILS]);
  expect(Object.keys(ACTION_TEXTS).filter((action) => !rows.has(action as AuditAction))).toEqual([]);
});
