/** The second factors of users: the authenticator and its recovery codes. Secrets are encrypted, codes are hashed. */
import { and, eq, isNotNull, isNull, lt, or } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { recoveryCodes, users } from "./schema-accounts";

const recoveryCodeRows = rowsOf(recoveryCodes);
const userRows = rowsOf(users);

export type RecoveryCode = typeof recoveryCodes.$inferInsert;

/** Starts the enrollment of an authenticator, replacing an unconfirmed one. */
export async function startTotpEnrollment(
  tx: Queries,
  userId: string,
  enrollment: { secret: string; codes: RecoveryCode[] },
): Promise<void> {
  await tx.update(users).set({ totp_pending_secret: enrollment.secret }).where(eq(users.id, userId));
  await tx.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, userId), isNull(recoveryCodes.activated_at)));
  await tx.insert(recoveryCodes).values(enrollment.codes);
}

/** Completes the enrollment, so that sign-in asks for a code. `step` is the time step of the confirming code. */
export async function completeTotpEnrollment(
  tx: Queries,
  userId: string,
  enrollment: { secret: string; step: number; now: number },
): Promise<void> {
  const { secret, step, now } = enrollment;
  const change = { totp_secret: secret, totp_pending_secret: null, totp_last_step: step, two_factor_enabled: true };
  await tx.update(users).set(change).where(eq(users.id, userId));
  await recoveryCodeRows.updateAll(tx, { activated_at: now }, { user_id: userId, activated_at: null });
}

/** Uses up a time step. Returns whether it and all later ones were unused. */
export async function takeTotpStep(tx: Queries, userId: string, step: number) {
  const isLater = or(isNull(users.totp_last_step), lt(users.totp_last_step, step));
  return userRows.updateAll(tx, { totp_last_step: step }, and(eq(users.id, userId), isLater));
}

/** Removes the authenticator and the recovery codes, so that sign-in asks only for the password. */
export async function removeTwoFactor(tx: Queries, userId: string) {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.user_id, userId));
  return userRows.update(
    tx,
    { totp_secret: null, totp_pending_secret: null, totp_last_step: null, two_factor_enabled: false },
    { id: userId },
  );
}

export async function replaceCodes(tx: Queries, userId: string, codes: RecoveryCode[]): Promise<void> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.user_id, userId));
  await tx.insert(recoveryCodes).values(codes);
}

const isUnused = (userId: string) =>
  and(eq(recoveryCodes.user_id, userId), isNotNull(recoveryCodes.activated_at), isNull(recoveryCodes.used_at));

/** Uses up a recovery code. Returns whether it was unused. */
export const takeRecoveryCode = (tx: Queries, userId: string, hash: string, now: number) =>
  recoveryCodeRows.updateAll(tx, { used_at: now }, and(isUnused(userId), eq(recoveryCodes.hash, hash)));

export const countRecoveryCodes = (db: Queries, userId: string) => recoveryCodeRows.count(db, isUnused(userId));
