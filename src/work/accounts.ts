/** Accounts, keys and credits as an administrator handles them. */
import { AppError } from "../domain/errors";
import { newId, randomToken, sha256 } from "../lib/ids";
import { balance, insertLedgerEntry } from "../store/credits";
import { findUserByEmail, getUser, insertApiKey, insertUser, listUsers, type User } from "../store/users";
import { refundCharge, settleWaiting } from "./charge";
import type { Services } from "./services";

type Accounts = Pick<Services, "store" | "config" | "now">;

/** An account as the shell shows it. */
export type AccountView = { id: string; email: string; is_admin: boolean; credits: number; created_at: string };

const show = (user: User, credits: number): AccountView => ({
  id: user.id,
  email: user.email,
  is_admin: user.is_admin,
  credits,
  created_at: new Date(user.created_at).toISOString(),
});

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const SHORTEST_PASSWORD = 8;

/** Makes an account. `credits` null: the sign-up grant. Errors: `bad_request`, `conflict` when the address is taken. */
export async function createUser(
  services: Accounts,
  request: { email: string; password: string; admin: boolean; credits: number | null },
): Promise<AccountView> {
  const email = request.email.trim().toLowerCase();
  if (!EMAIL.test(email) || email.length > 254)
    throw new AppError("bad_request", `"${request.email}" is not an e-mail address.`);
  if (request.password.length < SHORTEST_PASSWORD) {
    throw new AppError("bad_request", `The password needs at least ${SHORTEST_PASSWORD} characters.`);
  }
  const credits = request.credits ?? services.config.signupCredits;
  if (!Number.isSafeInteger(credits) || credits < 0)
    throw new AppError("bad_request", "Credits are a whole number from 0.");
  const passwordHash = await Bun.password.hash(request.password);
  const now = services.now();
  return services.store.write(async (tx) => {
    if (await findUserByEmail(tx, email)) throw new AppError("conflict", `${email} has an account already.`);
    const user = await insertUser(tx, {
      id: newId(),
      email,
      password_hash: passwordHash,
      is_admin: request.admin,
      email_verified_at: now,
      created_at: now,
    });
    if (credits > 0) {
      await insertLedgerEntry(tx, { id: newId(), user_id: user.id, type: "grant", delta: credits, created_at: now });
    }
    return show(user, credits);
  });
}

/** All accounts with what they can spend. */
export async function listAccounts(services: Accounts): Promise<AccountView[]> {
  const users = await listUsers(services.store.read);
  return Promise.all(users.map(async (user) => show(user, await balance(services.store.read, user.id))));
}

/** Gives credits; assets that wait for them become ready. Errors: `bad_request`, `not_found`. */
export async function grantCredits(
  services: Accounts,
  request: { email: string; credits: number },
): Promise<AccountView> {
  if (!Number.isSafeInteger(request.credits) || request.credits <= 0) {
    throw new AppError("bad_request", "Credits are a whole number above 0.");
  }
  return services.store.write(async (tx) => {
    const user = await existing(tx, request.email);
    const now = services.now();
    await insertLedgerEntry(tx, {
      id: newId(),
      user_id: user.id,
      type: "grant",
      delta: request.credits,
      created_at: now,
    });
    await settleWaiting(tx, user.id, now);
    return show(user, await balance(tx, user.id));
  });
}

/** Gives the charge of an asset back, once. Errors: as `refundCharge`. */
export async function refundAsset(services: Accounts, request: { assetId: string }): Promise<AccountView> {
  return services.store.write(async (tx) => {
    const { user_id } = await refundCharge(tx, request.assetId, services.now());
    // The ledger goes with its account.
    const user = (await getUser(tx, user_id))!;
    return show(user, await balance(tx, user.id));
  });
}

/** Makes an API key, which is in the answer and nowhere else. Errors: `not_found`. */
export async function createApiKey(
  services: Accounts,
  request: { email: string; name: string },
): Promise<{ id: string; name: string; prefix: string; key: string; created_at: string }> {
  const key = `sk_${randomToken(40)}`;
  const now = services.now();
  return services.store.write(async (tx) => {
    const user = await existing(tx, request.email);
    const row = await insertApiKey(tx, {
      id: newId(),
      user_id: user.id,
      name: request.name,
      prefix: key.slice(0, 9),
      hash: sha256(key),
      created_at: now,
    });
    return { id: row.id, name: row.name, prefix: row.prefix, key, created_at: new Date(now).toISOString() };
  });
}

async function existing(tx: Parameters<typeof findUserByEmail>[0], email: string): Promise<User> {
  const user = await findUserByEmail(tx, email.trim());
  if (!user) throw new AppError("not_found", `${email} has no account.`);
  return user;
}
