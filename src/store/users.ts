/** Accounts and their API keys. */
import { asc, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { preparedRow } from "./prepared";
import { apiKeys, users } from "./schema";

export type User = typeof users.$inferSelect;
export type ApiKey = typeof apiKeys.$inferSelect;

export async function insertUser(tx: Queries, user: typeof users.$inferInsert): Promise<User> {
  const [row] = await tx.insert(users).values(user).returning();
  return row!;
}

/** By e-mail address in any case. */
export async function findUserByEmail(db: Queries, email: string): Promise<User | null> {
  const [row] = await db.select().from(users).where(eq(users.email, email.toLowerCase())).limit(1);
  return row ?? null;
}

export async function getUser(db: Queries, id: string): Promise<User | null> {
  const [row] = await db.select().from(users).where(eq(users.id, id)).limit(1);
  return row ?? null;
}

/** All accounts, oldest first. */
export const listUsers = (db: Queries): Promise<User[]> => db.select().from(users).orderBy(asc(users.id));

export async function insertApiKey(tx: Queries, key: typeof apiKeys.$inferInsert): Promise<ApiKey> {
  const [row] = await tx.insert(apiKeys).values(key).returning();
  return row!;
}

const keyOwner = preparedRow<{ hash: string }, { key: ApiKey; user: User }>((db) =>
  db
    .select({ key: apiKeys, user: users })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.user_id))
    .where(eq(apiKeys.hash, sql.placeholder("hash")))
    .limit(1)
    .prepare(),
);

/** The key with this hash and its owner, or null. */
export const findKeyOwner = (db: Queries, hash: string) => keyOwner(db, { hash });

export async function touchApiKey(tx: Queries, id: string, now: number): Promise<void> {
  await tx.update(apiKeys).set({ last_used_at: now }).where(eq(apiKeys.id, id));
}
