/** Tokens that work once: links in mails, invitations, challenges of a sign-in. */
import { and, count, eq, gt, isNull, lte, sql } from "drizzle-orm";
import type { TOKEN_PURPOSES } from "../domain/states";
import type { Queries } from "./db";
import { oneTimeTokens } from "./schema-accounts";

export type OneTimeToken = typeof oneTimeTokens.$inferSelect;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** What identifies a token that can be used at `now`. */
type TokenSearch = { purpose: TokenPurpose; hash: string; now: number };

const isUsable = ({ purpose, hash, now }: TokenSearch) =>
  and(
    eq(oneTimeTokens.hash, hash),
    eq(oneTimeTokens.purpose, purpose),
    isNull(oneTimeTokens.used_at),
    gt(oneTimeTokens.expires_at, now),
  );

export async function insertOneTimeToken(tx: Queries, token: typeof oneTimeTokens.$inferInsert): Promise<void> {
  await tx.insert(oneTimeTokens).values(token);
}

/** Returns a token that can be used, or null. */
export async function findUsableToken(db: Queries, search: TokenSearch): Promise<OneTimeToken | null> {
  const [row] = await db.select().from(oneTimeTokens).where(isUsable(search)).limit(1);
  return row ?? null;
}

/** Returns the ID of the token with this hash, used or not; null if no token has it. */
export async function findOneTimeTokenId(db: Queries, hash: string): Promise<string | null> {
  const [row] = await db.select({ id: oneTimeTokens.id }).from(oneTimeTokens).where(eq(oneTimeTokens.hash, hash));
  return row?.id ?? null;
}

/** Uses up a token. Returns it, or null if it cannot be used (any more). */
export async function takeToken(tx: Queries, search: TokenSearch): Promise<OneTimeToken | null> {
  const [row] = await tx.update(oneTimeTokens).set({ used_at: search.now }).where(isUsable(search)).returning();
  return row ?? null;
}

/** Counts a failed attempt at the code of a token. The last one of `maxAttempts` uses it up. */
export async function countFailedAttempt(
  tx: Queries,
  id: string,
  { maxAttempts, now }: { maxAttempts: number; now: number },
): Promise<void> {
  await tx
    .update(oneTimeTokens)
    .set({
      attempts: sql`${oneTimeTokens.attempts} + 1`,
      used_at: sql`CASE WHEN ${oneTimeTokens.attempts} + 1 >= ${maxAttempts} THEN ${now} ELSE ${oneTimeTokens.used_at} END`,
    })
    .where(eq(oneTimeTokens.id, id));
}

/** Returns how many tokens of a user were created after `since`, and when the first of them was. */
export async function countRecentTokens(
  db: Queries,
  userId: string,
  purpose: TokenPurpose,
  since: number,
): Promise<{ count: number; firstAt: number | null }> {
  const [row] = await db
    .select({ n: count(), firstAt: sql<number | null>`min(${oneTimeTokens.created_at})` })
    .from(oneTimeTokens)
    .where(
      and(eq(oneTimeTokens.user_id, userId), eq(oneTimeTokens.purpose, purpose), gt(oneTimeTokens.created_at, since)),
    );
  return { count: row?.n ?? 0, firstAt: row?.firstAt ?? null };
}

/** Counts the tokens that a user created for others after `since`. */
export async function countTokensCreatedBy(db: Queries, createdBy: string, since: number): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(oneTimeTokens)
    .where(and(eq(oneTimeTokens.created_by, createdBy), gt(oneTimeTokens.created_at, since)));
  return row?.n ?? 0;
}

/** Uses up all tokens of a user for a purpose. */
export async function takeTokensOf(tx: Queries, userId: string, purpose: TokenPurpose, now: number): Promise<void> {
  await tx
    .update(oneTimeTokens)
    .set({ used_at: now })
    .where(and(eq(oneTimeTokens.user_id, userId), eq(oneTimeTokens.purpose, purpose), isNull(oneTimeTokens.used_at)));
}

/** Revokes the links that a user has created for others: all of them, or those that only an administrator can create. The rows still count against the limit of who invites. */
export async function revokeTokensCreatedBy(
  tx: Queries,
  createdBy: string,
  which: "all" | "administration",
  now: number,
): Promise<void> {
  await tx
    .update(oneTimeTokens)
    .set({ used_at: now, workspace_id: null })
    .where(
      and(
        eq(oneTimeTokens.created_by, createdBy),
        isNull(oneTimeTokens.used_at),
        which === "all" ? undefined : isNull(oneTimeTokens.workspace_id),
      ),
    );
}

export async function deleteExpiredTokens(tx: Queries, now: number): Promise<void> {
  await tx.delete(oneTimeTokens).where(lte(oneTimeTokens.expires_at, now));
}
