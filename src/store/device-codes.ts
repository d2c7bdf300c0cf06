/** Requests of devices for an API key (RFC 8628). */
import { and, eq, gt, lt } from "drizzle-orm";
import type { Queries } from "./db";
import { deviceCodes } from "./schema-accounts";

export type DeviceCode = typeof deviceCodes.$inferSelect;

export async function insertDeviceCode(tx: Queries, code: typeof deviceCodes.$inferInsert): Promise<void> {
  await tx.insert(deviceCodes).values(code);
}

/** Returns the request with this device code, in any state, or null. */
export async function findDeviceCode(db: Queries, hash: string): Promise<DeviceCode | null> {
  const [row] = await db.select().from(deviceCodes).where(eq(deviceCodes.device_code_hash, hash)).limit(1);
  return row ?? null;
}

/** Returns the request with this user code if it waits for its user, or null. */
export async function findPendingDeviceCode(
  db: Queries,
  userCodeHash: string,
  now: number,
): Promise<DeviceCode | null> {
  const [row] = await db
    .select()
    .from(deviceCodes)
    .where(
      and(
        eq(deviceCodes.user_code_hash, userCodeHash),
        eq(deviceCodes.state, "pending"),
        gt(deviceCodes.expires_at, now),
      ),
    )
    .limit(1);
  return row ?? null;
}

type DeviceCodeChange = Partial<
  Pick<DeviceCode, "state" | "user_id" | "workspace_id" | "interval_seconds" | "last_polled_at">
>;

export async function updateDeviceCode(tx: Queries, id: string, change: DeviceCodeChange): Promise<void> {
  await tx.update(deviceCodes).set(change).where(eq(deviceCodes.id, id));
}

export async function deleteDeviceCodesExpiredBefore(tx: Queries, time: number): Promise<void> {
  await tx.delete(deviceCodes).where(lt(deviceCodes.expires_at, time));
}

/** Deletes the requests of devices that a user has approved or denied: no key comes from them any longer. */
export async function deleteDeviceCodesOf(tx: Queries, userId: string): Promise<void> {
  await tx.delete(deviceCodes).where(eq(deviceCodes.user_id, userId));
}
