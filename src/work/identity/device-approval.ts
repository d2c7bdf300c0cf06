import { formatUserCode, parseUserCode } from "../../domain/device-grant";
import { AppError } from "../../domain/errors";
import { sha256 } from "../../lib/hash";
import { type DeviceCode, findPendingDeviceCode, updateDeviceCode } from "../../store/device-codes";
import { type AuditActor, recordAudit } from "../access/audit";
import { requireRoomForKey } from "./api-keys";
import type { IdentityNeeds } from "./needs";
import type { UserCodeAttempt } from "./sign-in-limits";

/** The request that the user decides on. `userCode` is formatted as the device shows it. */
export type DeviceRequest = { userCode: string; code: DeviceCode };

/** A user who decides, in the workspace that the device's key will act in. */
export type Approver = UserCodeAttempt & { workspaceId: string; audit: AuditActor };

const toDeviceRequest = (letters: string, code: DeviceCode): DeviceRequest => ({
  userCode: formatUserCode(letters),
  code,
});

const unknownCode = () => new AppError("not_found", "Code is wrong or has expired. Compare it with your device.");

/** Returns the request with a user code. Throws `AppError` `not_found`; `rate_limited` after too many wrong codes. */
export async function readDeviceRequest(
  services: IdentityNeeds,
  text: string,
  attempt: UserCodeAttempt,
): Promise<DeviceRequest> {
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
 * Approves or denies a request. Errors: those of `readDeviceRequest`; to approve also `conflict` when the user has too many API keys.
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
