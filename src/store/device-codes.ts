/** Requests of devices for an API key (RFC 8628). */
import { and, eq, gt, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { deviceCodes } from "./schema-accounts";

const deviceCodeRows = rowsOf(deviceCodes);

export type DeviceCode = typeof deviceCodes.$inferSelect;

export const insertDeviceCode = deviceCodeRows.add;

/** Returns the request with this device code, in any state, or null. */
export const findDeviceCode = deviceCodeRows.findBy(deviceCodes.device_code_hash);

/** Returns the request with this user code if it is waiting for its user, or null. */
export const findPendingDeviceCode = (db: Queries, userCodeHash: string, now: number) =>
  deviceCodeRows.find(
    db,
    and(
      eq(deviceCodes.user_code_hash, userCodeHash),
      eq(deviceCodes.state, "pending"),
      gt(deviceCodes.expires_at, now),
    ),
  );

export const updateDeviceCode = deviceCodeRows.updateById;

export const deleteDeviceCodesExpiredBefore = deviceCodeRows.deleteBy(deviceCodes.expires_at, lt);

/** Deletes the device requests that a user has approved or denied, so that they yield no more keys. */
export const deleteDeviceCodesOf = deviceCodeRows.deleteBy(deviceCodes.user_id);
