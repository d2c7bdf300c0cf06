/** Creation of accounts, shared by all ways to get one. */
import { conflict } from "../../domain/errors";
import { insertLedgerEntry } from "../../store/credits";
import type { Queries } from "../../store/db";
import { findUserByEmail, insertUser, type User } from "../../store/users";

type NewAccount = {
  id?: string;
  email: string;
  passwordHash: string | null;
  isAdmin: boolean;
  emailVerifiedAt: number | null;
  credits: number;
  invitedBy?: string;
  now: number;
};

/**
 * Inserts an account with its personal workspace and its credits. Throws `AppError` `conflict` when the address has an
 * account.
 */
export async function insertAccount(tx: Queries, account: NewAccount): Promise<User> {
  const { email, credits, now } = account;
  if (await findUserByEmail(tx, email)) throw conflict(`${email} already has an account.`);
  const user = await insertUser(tx, {
    id: account.id,
    email,
    password_hash: account.passwordHash,
    is_admin: account.isAdmin,
    email_verified_at: account.emailVerifiedAt,
    invited_by: account.invitedBy ?? null,
    created_at: now,
  });
  if (credits > 0) {
    await insertLedgerEntry(tx, { workspace_id: user.id, type: "grant", delta: credits, created_at: now });
  }
  return user;
}
