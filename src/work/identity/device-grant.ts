/**
 * Device authorization (RFC 8628): a device without a browser shows a code, its user approves the code here, and the
 * device gets an API key of the user.
 */
import { KEY_SCOPES, type KeyScope } from "../../domain/access";
import {
  decidePoll,
  formatUserCode,
  OAuthError,
  type OAuthErrorCode,
  POLL_INTERVAL_SECONDS,
  parseUserCode,
  USER_CODE_LENGTH,
  USER_CODE_LETTERS,
} from "../../domain/device-grant";
import { AppError } from "../../domain/errors";
import { sha256 } from "../../lib/hash";
import { randomText, randomToken } from "../../lib/ids";
import type { Queries } from "../../store/db";
import {
  type DeviceCode,
  findDeviceCode,
  findPendingDeviceCode,
  insertDeviceCode,
  updateDeviceCode,
} from "../../store/device-codes";
import { findKeyOwner, findUserById } from "../../store/users";
import { type AuditActor, recordAudit } from "../access/audit";
import { createOwnKey, requireRoomForKey, revokeOwnKey } from "./api-keys";
import type { IdentityNeeds } from "./needs";
import { type SignInClient, toAuditActor } from "./sign-in";
import type { UserCodeAttempt } from "./sign-in-limits";

const DEVICE_CODE_CHARACTERS = 43;
const DEVICE_CODE_LIFETIME_MS = 10 * 60 * 1000;

/**
 * Starts the grant. Returns the code that the device shows, and the one that it polls with. `scope`: names separated by
 * spaces, null for all. Throws `OAuthError` `invalid_scope`; `AppError` `rate_limited`.
 */
export async function startDeviceGrant(
  services: IdentityNeeds,
  request: { clientId: string; scope: string | null },
  client: SignInClient,
) {
  services.signInLimits.takeAnonymousCall(client.address);
  const scopes = parseScope(request.scope);
  const deviceCode = randomToken(DEVICE_CODE_CHARACTERS);
  const userCode = randomText(USER_CODE_LETTERS, USER_CODE_LENGTH);
  const now = services.now();
  await services.store.write((tx) =>
    insertDeviceCode(tx, {
      device_code_hash: sha256(deviceCode),
      user_code_hash: sha256(userCode),
      client_id: request.clientId,
      scopes,
      state: "pending",
      address: client.address,
      interval_seconds: POLL_INTERVAL_SECONDS,
      created_at: now,
      expires_at: now + DEVICE_CODE_LIFETIME_MS,
    }),
  );
  return {
    deviceCode,
    userCode: formatUserCode(userCode),
    expiresInSeconds: DEVICE_CODE_LIFETIME_MS / 1000,
    intervalSeconds: POLL_INTERVAL_SECONDS,
  };
}

function parseScope(text: string | null): KeyScope[] {
  const words = (text ?? "").split(" ").filter((word) => word !== "");
  const scopes = KEY_SCOPES.filter((scope) => words.includes(scope));
  if (words.some((word) => !scopes.includes(word as KeyScope)))
    throw new OAuthError("invalid_scope", `Scope must be one or more of ${KEY_SCOPES.join(", ")}.`);
  return scopes.length === 0 ? [...KEY_SCOPES] : scopes;
}

export const formatScope = (scopes: readonly KeyScope[]): string => scopes.join(" ");

type DeviceKey = { key: string; scopes: readonly KeyScope[] };

const MESSAGES: Partial<Record<OAuthErrorCode, string>> = {
  authorization_pending: "The user has not decided yet.",
  slow_down: "Polling too fast: the interval is 5 seconds longer from now on.",
  access_denied: "The user denied the request.",
  expired_token: "Device code has expired. Start again.",
  invalid_grant: "Device code is invalid or was already used.",
};

const refuse = (error: OAuthErrorCode): OAuthError => new OAuthError(error, MESSAGES[error] ?? "");

/**
 * Returns the key that the user approved, once. Throws `OAuthError`: `authorization_pending` and `slow_down` until the
 * user decides.
 */
export async function exchangeDeviceCode(
  services: IdentityNeeds,
  request: { deviceCode: string; clientId: string },
  client: SignInClient,
): Promise<DeviceKey> {
  const hash = sha256(request.deviceCode);
  // Checked before the transaction, so that guesses cost no write.
  const known = await findDeviceCode(services.store.read, hash);
  if (!known || known.client_id !== request.clientId) throw refuse("invalid_grant");
  // The same for polls that change nothing: a device that polls without a pause must not keep the database busy.
  const early = decidePoll(known, services.now());
  const isUnchanged =
    early.kind === "wait" && early.error === "slow_down" && early.intervalSeconds === known.interval_seconds;
  if (early.kind === "refuse" || isUnchanged) throw refuse(early.error);
  const result = await services.store.write(async (tx): Promise<DeviceKey | OAuthErrorCode> => {
    const code = await findDeviceCode(tx, hash);
    return code ? poll(services, tx, code, client) : "invalid_grant";
  });
  // After the transaction, which must store the time of the poll.
  if (typeof result === "string") throw refuse(result);
  return result;
}

async function poll(
  services: IdentityNeeds,
  tx: Queries,
  code: DeviceCode,
  client: SignInClient,
): Promise<DeviceKey | OAuthErrorCode> {
  const now = services.now();
  const result = decidePoll(code, now);
  if (result.kind === "refuse") return result.error;
  if (result.kind === "wait") {
    await updateDeviceCode(tx, code.id, { last_polled_at: now, interval_seconds: result.intervalSeconds });
    return result.error;
  }
  const { user_id: userId, workspace_id: workspaceId } = code;
  if (userId === null || workspaceId === null) return "invalid_grant";
  const { client_id: name, scopes } = code;
  const request = { userId, workspaceId, name, scopes, expiresAt: null, isDevice: true };
  const created = (await isActive(tx, userId))
    ? await createOwnKey(services, tx, request, toAuditActor(userId, code.id, client), now).catch(toRefusal)
    : null;
  if (created === null) {
    await updateDeviceCode(tx, code.id, { state: "denied" });
    return "access_denied";
  }
  await updateDeviceCode(tx, code.id, { state: "exchanged" });
  const { row, key } = created;
  return { key, scopes: row.scopes };
}

/** Returns whether the account was neither disabled nor deleted since its user approved. */
async function isActive(tx: Queries, userId: string): Promise<boolean> {
  const user = await findUserById(tx, userId);
  return user !== null && user.disabled_at === null && user.deleted_at === null;
}

/** Returns null for a user who has left the workspace, or has created too many keys, since the approval. */
function toRefusal(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}

/** Deletes an API key (RFC 7009): anyone who has a key may revoke it. Ignores other tokens. */
export async function revokeToken(services: IdentityNeeds, token: string, client: SignInClient): Promise<void> {
  const hash = sha256(token);
  if (!token.startsWith("sk_") || !(await findKeyOwner(services.store.read, hash))) return;
  await services.store.write(async (tx) => {
    const found = await findKeyOwner(tx, hash);
    if (!found) return;
    const { id: keyId, user_id: userId } = found.key;
    await revokeOwnKey(tx, { userId, keyId }, toAuditActor(userId, keyId, client), services.now());
  });
}

/** The request that the user decides on. `userCode` is formatted as the device shows it. */
export type DeviceRequest = { userCode: string; code: DeviceCode };

/** A user who decides, in the workspace that the device's key will act in. */
type Approver = UserCodeAttempt & { workspaceId: string; audit: AuditActor };

const toDeviceRequest = (letters: string, code: DeviceCode): DeviceRequest => ({
  userCode: formatUserCode(letters),
  code,
});

const unknownCode = () => new AppError("not_found", "Code is wrong or has expired. Compare it with your device.");

/** Returns the request with a user code. Throws `AppError` `not_found`; `rate_limited` after too many wrong codes. */
export async function readDeviceRequest(services: IdentityNeeds, text: string, attempt: UserCodeAttempt) {
  const { signInLimits, store } = services;
  signInLimits.checkUserCode(attempt);
  const userCode = parseUserCode(text);
  const found = userCode === null ? null : await findPendingDeviceCode(store.read, sha256(userCode), services.now());
  if (userCode === null || !found) {
    signInLimits.recordWrongUserCode(attempt);
    throw unknownCode();
  }
  return toDeviceRequest(userCode, found);
}

/**
 * Approves or denies a request. Errors: those of `readDeviceRequest`; to approve also `conflict` when the user has too
 * many API keys.
 */
export async function decideDeviceRequest(
  services: IdentityNeeds,
  { userCode: text, isApproved }: { userCode: string; isApproved: boolean },
  approver: Approver,
): Promise<DeviceRequest> {
  const { userCode } = await readDeviceRequest(services, text, approver);
  const letters = parseUserCode(userCode)!;
  const { userId, workspaceId } = approver;
  const now = services.now();
  return services.store.write(async (tx) => {
    // Read again: of two concurrent decisions, the first counts.
    const code = await findPendingDeviceCode(tx, sha256(letters), now);
    if (!code) throw unknownCode();
    if (isApproved) await requireRoomForKey(tx, { userId, workspaceId });
    const change = isApproved
      ? ({ state: "approved", user_id: userId, workspace_id: workspaceId } as const)
      : ({ state: "denied", user_id: userId } as const);
    await updateDeviceCode(tx, code.id, change);
    const { client_id, scopes } = code;
    const action = isApproved ? "device.approved" : "device.denied";
    const target = { kind: "device_code", id: code.id };
    await recordAudit(tx, approver.audit, { action, target, workspaceId, details: { client_id, scopes } }, now);
    return toDeviceRequest(letters, code);
  });
}
