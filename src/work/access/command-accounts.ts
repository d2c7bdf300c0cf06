/** Administration of accounts, API keys and credits. */

import { KEY_SCOPES, type KeyScope } from "../../domain/access";
import { isPlainAddress, parseEmailAddress } from "../../domain/email-address";
import { AppError, badRequest, requireFound } from "../../domain/errors";
import { MAX_KEY_NAME_CHARACTERS } from "../../domain/field-limits";
import { parseIsoTime } from "../../domain/iso-time";
import { findPasswordProblem } from "../../domain/passwords";
import { readBalance } from "../../store/credits";
import type { Queries } from "../../store/db";
import { removeTwoFactor } from "../../store/two-factor";
import {
  type ApiKeyWithOwner,
  deleteApiKey,
  findUserByEmail,
  findWorkspaceOwner,
  listApiKeys,
  listUsers,
  type User,
} from "../../store/users";
import { findRole } from "../../store/workspaces";
import { refundCharge } from "../billing/charge";
import { mintKey, recordKey } from "../identity/api-keys";
import { insertAccount } from "../identity/new-account";
import type { Passwords } from "../identity/passwords";
import type { Mails } from "../mail/mails";
import type { CoreNeeds } from "../needs";
import { changeAccount, changeCredits } from "./administration";
import { COMMAND_ACTOR, recordAudit } from "./audit";

const toAccountView = (user: User, credits: number) => ({
  id: user.id,
  email: user.email,
  is_admin: user.is_admin,
  disabled: user.disabled_at !== null,
  credits,
  created_at: new Date(user.created_at).toISOString(),
});
export type AccountView = ReturnType<typeof toAccountView>;

/**
 * Creates an account. `credits` null: the sign-up grant. Errors: `bad_request`; `conflict` when the address has an
 * account.
 */
export async function createUser(
  services: CoreNeeds & { passwords: Passwords },
  request: { email: string; password: string; admin: boolean; credits: number | null },
): Promise<AccountView> {
  const email = parseEmailAddress(request.email);
  if (email === null) throw badRequest(`"${request.email}" is not an email address.`);
  if (!isPlainAddress(request.email))
    throw badRequest("Email address contains invisible characters or look-alikes of others.");
  const problem = findPasswordProblem(request.password, email);
  if (problem !== null) throw badRequest(`Password ${problem}.`);
  const credits = request.credits ?? services.config.signupCredits;
  if (!Number.isSafeInteger(credits) || credits < 0) throw badRequest("Credits must be an integer of at least 0.");
  const passwordHash = await services.passwords.hash("command", request.password);
  const now = services.now();
  return services.store.write(async (tx) => {
    const user = await insertAccount(tx, {
      email,
      passwordHash,
      isAdmin: request.admin,
      emailVerifiedAt: now,
      credits,
      now,
    });
    const details = { role: request.admin ? "admin" : "member" };
    await recordAudit(tx, COMMAND_ACTOR, { action: "user.created", target: user.id, details }, now);
    return toAccountView(user, credits);
  });
}

export async function listAccounts(services: CoreNeeds): Promise<AccountView[]> {
  const users = await listUsers(services.store.read);
  return Promise.all(users.map(async (user) => toAccountView(user, await readBalance(services.store.read, user.id))));
}

/** Grants credits. Assets that wait for them become ready. Errors: `bad_request`, `not_found`. */
export async function grantCredits(services: CoreNeeds, request: { email: string; credits: number }) {
  if (!Number.isSafeInteger(request.credits) || request.credits <= 0) {
    throw badRequest("Credits must be an integer of at least 1.");
  }
  const { read } = services.store;
  const user = await getUserByEmail(read, request.email);
  const change = { userId: user.id, delta: request.credits, note: null, workspaceId: null };
  await services.store.write((tx) => changeCredits(tx, COMMAND_ACTOR, change, services.now()));
  return toAccountView(user, await readBalance(read, user.id));
}

/** Refunds the charge of an asset, once. Returns an owner of its workspace. Errors: those of `refundCharge`. */
export async function refundAsset(services: CoreNeeds, request: { assetId: string }): Promise<AccountView> {
  return services.store.write(async (tx) => {
    const now = services.now();
    const { workspace_id: workspaceId, delta } = await refundCharge(tx, request.assetId, now);
    const owner = await findWorkspaceOwner(tx, workspaceId);
    // Ledger entries outlive accounts.
    if (!owner) throw new AppError("not_found", `The account that paid for asset ${request.assetId} was deleted.`);
    const record = {
      action: "asset.charge_refunded",
      target: request.assetId,
      workspaceId,
      details: { delta },
    } as const;
    await recordAudit(tx, COMMAND_ACTOR, record, now);
    return toAccountView(owner, await readBalance(tx, workspaceId));
  });
}

/**
 * Disables an account or enables it again. While it is disabled, its API keys get 401, its download links fail and its
 * webhooks wait. Jobs that were accepted before run to completion. Errors: `not_found`, `conflict` for the last
 * administrator.
 */
export async function disableUser(services: CoreNeeds, request: { email: string; disabled: boolean }) {
  const { read } = services.store;
  const { id } = await getUserByEmail(read, request.email);
  const user = await changeAccount(services, COMMAND_ACTOR, id, { disabled: request.disabled });
  return toAccountView(user, await readBalance(read, id));
}

/** Removes the second factor of a user who has lost it: sign-in asks for the password only. Errors: `not_found`. */
export async function resetTwoFactor(services: CoreNeeds, request: { email: string }): Promise<AccountView> {
  return services.store.write(async (tx) => {
    const user = await getUserByEmail(tx, request.email);
    await removeTwoFactor(tx, user.id);
    const record = { action: "user.two_factor_changed", target: user.id, details: { enabled: false } } as const;
    await recordAudit(tx, COMMAND_ACTOR, record, services.now());
    return toAccountView(user, await readBalance(tx, user.id));
  });
}

const toIsoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Returns an API key as the command line shows it, with the email address of its owner. */
const toKeyView = ({ key, email }: ApiKeyWithOwner) => ({
  id: key.id,
  email,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  workspace_id: key.workspace_id,
  created_at: new Date(key.created_at).toISOString(),
  last_used_at: toIsoTime(key.last_used_at),
  expires_at: toIsoTime(key.expires_at),
});
export type KeyView = ReturnType<typeof toKeyView>;

/**
 * Creates an API key, and mails that to its owner if `mails` is given. Only the result contains the key. `expires` is
 * an ISO 8601 time; null: never. `workspace` is an ID; null: the personal one. Errors: `not_found`, also for a
 * workspace that the account is not a member of; `bad_request` for a name that is too long, or a time that is malformed
 * or in the past.
 */
export async function createApiKey(
  services: CoreNeeds,
  request: {
    email: string;
    name: string;
    expires?: string | null;
    scopes?: KeyScope[];
    workspace?: string | null;
  },
  mails?: Mails,
): Promise<KeyView & { key: string }> {
  const now = services.now();
  if (request.name.length > MAX_KEY_NAME_CHARACTERS)
    throw badRequest(`Key name must have at most ${MAX_KEY_NAME_CHARACTERS} characters.`);
  const expiresAt = request.expires == null ? null : parseExpiry(request.expires, now);
  return services.store.write(async (tx) => {
    const user = await getUserByEmail(tx, request.email);
    const workspaceId = request.workspace?.toLowerCase() ?? user.id;
    if ((await findRole(tx, workspaceId, user.id)) === null)
      throw new AppError("not_found", `${user.email} is not a member of workspace "${request.workspace}".`);
    const { name, scopes = KEY_SCOPES } = request;
    const wanted = { userId: user.id, workspaceId, name, scopes, expiresAt };
    const { row, key } = await mintKey({ mails }, tx, wanted, COMMAND_ACTOR, now);
    return { ...toKeyView({ key: row, email: user.email }), key };
  });
}

function parseExpiry(text: string, now: number): number {
  const time = parseIsoTime(text);
  if (time === null) throw badRequest(`"${text}" is not an ISO 8601 date or time, such as 2027-01-31T18:00Z.`);
  if (time <= now) throw badRequest(`Expiry ${toIsoTime(time)} is in the past.`);
  return time;
}

/** Lists API keys, oldest first; `email` null lists those of all accounts. Errors: `not_found`. */
export async function listKeys(services: CoreNeeds, request: { email: string | null }): Promise<KeyView[]> {
  const { read } = services.store;
  const user = request.email === null ? null : await getUserByEmail(read, request.email);
  return (await listApiKeys(read, user?.id ?? null)).map(toKeyView);
}

/** Deletes an API key. Later requests with it get 401. Errors: `not_found`. */
export async function revokeKey(services: CoreNeeds, request: { id: string }): Promise<KeyView> {
  const revoked = await services.store.write(async (tx) => {
    const deleted = await deleteApiKey(tx, request.id);
    if (deleted) await recordKey(tx, "api_key.deleted", deleted.key, COMMAND_ACTOR, services.now());
    return deleted;
  });
  if (!revoked) throw new AppError("not_found", `API key "${request.id}" not found. offcut key list shows the IDs.`);
  return toKeyView(revoked);
}

async function getUserByEmail(tx: Queries, email: string): Promise<User> {
  return requireFound(await findUserByEmail(tx, email.trim()), `Account ${email}`);
}
