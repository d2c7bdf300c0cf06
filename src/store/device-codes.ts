/** Requests of devices for an API key (RFC 8628). */
import { and, eq, gt, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, findRow, updateRows } from "./rows";
import { deviceCodes } from "./schema-accounts";

export type DeviceCode = typeof deviceCodes.$inferSelect;

export async function insertDeviceCode(tx: Queries, code: typeof deviceCodes.$inferInsert): Promise<void> {
  await tx.insert(deviceCodes).values(code);
}

/** Returns the request with this device code, in any state, or null. */
export const findDeviceCode = (db: Queries, hash: string): Promise<DeviceCode | null> =>
  findRow(db, deviceCodes, eq(deviceCodes.device_code_hash, hash));

/** Returns the request with this user code if it is waiting for its user, or null. */
export const findPendingDeviceCode = (db: Queries, userCodeHash: string, now: number): Promise<DeviceCode | null> =>
  findRow(
    db,
    deviceCodes,
    and(
      eq(deviceCodes.user_code_hash, userCodeHash),
      eq(deviceCodes.state, "pending"),
      gt(deviceCodes.expires_at, now),
    ),
  );

type DeviceCodeChange = Partial<
  Pick<DeviceCode, "state" | "user_id" | "workspace_id" | "interval_seconds" | "last_polled_at">
>;

export const updateDeviceCode = (tx: Queries, id: string, change: DeviceCodeChange): Promise<boolean> =>
  updateRows(tx, deviceCodes, change, eq(deviceCodes.id, id));

export const deleteDeviceCodesExpiredBefore = (tx: Queries, time: number): Promise<void> =>
  deleteRows(tx, deviceCodes, lt(deviceCodes.expires_at, time));

/** Deletes the device requests that a user has approved or denied, so that they yield no more keys. */
export const deleteDeviceCodesOf = (tx: Queries, userId: string): Promise<void> =>
  deleteRows(tx, deviceCodes, eq(deviceCodes.user_id, userId));
