/** Tokens that work once: links in mails, invitations, challenges of a sign-in. */
import { and, count, eq, gt, isNull, lte, sql } from "drizzle-orm";
import type { TOKEN_PURPOSES } from "../domain/states";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { oneTimeTokens } from "./schema-accounts";

const oneTimeTokenRows = rowsOf(oneTimeTokens);

export type OneTimeToken = typeof oneTimeTokens.$inferSelect;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** Identifies a token that can be used at `now`. */
type TokenSearch = { purpose: TokenPurpose; hash: string; now: number };

const isUsable = ({ purpose, hash, now }: TokenSearch) =>
  and(
    eq(oneTimeTokens.hash, hash),
    eq(oneTimeTokens.purpose, purpose),
    isNull(oneTimeTokens.used_at),
    gt(oneTimeTokens.expires_at, now),
  );

export const insertOneTimeToken = oneTimeTokenRows.add;

export const findUsableToken = (db: Queries, search: TokenSearch) => oneTimeTokenRows.find(db, isUsable(search));

/** Returns the ID of the token with this hash, used or not, or null. */
export async function findOneTimeTokenId(db: Queries, hash: string): Promise<string | null> {
  return (await oneTimeTokenRows.find(db, { hash }))?.id ?? null;
}

/** Uses up a token. Returns it, or null if it can no longer be used. */
export const takeToken = (tx: Queries, search: TokenSearch) =>
  oneTimeTokenRows.update(tx, { used_at: search.now }, isUsable(search));

/** Counts a failed attempt at a token's code. Attempt number `maxAttempts` uses up the token. */
export const countFailedAttempt = (
  tx: Queries,
  id: string,
  { maxAttempts, now }: { maxAttempts: number; now: number },
) =>
  oneTimeTokenRows.updateAll(
    tx,
    {
      attempts: sql`${oneTimeTokens.attempts} + 1`,
      used_at: sql`CASE WHEN ${oneTimeTokens.attempts} + 1 >= ${maxAttempts} THEN ${now} ELSE ${oneTimeTokens.used_at} END`,
    },
    { id },
  );

/** Returns how many tokens of a user were created after `since`, and when the first of them was created. */
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
export const countTokensCreatedBy = (db: Queries, createdBy: string, since: number) =>
  oneTimeTokenRows.count(db, and(eq(oneTimeTokens.created_by, createdBy), gt(oneTimeTokens.created_at, since)));

export const takeTokensOf = (tx: Queries, userId: string, purpose: TokenPurpose, now: number) =>
  oneTimeTokenRows.updateAll(tx, { used_at: now }, { user_id: userId, purpose, used_at: null });

/**
 * Revokes the links that a user has created for others: all of them, or only those that require an administrator. The
 * rows still count against the inviter's limit.
 */
export const revokeTokensCreatedBy = (tx: Queries, createdBy: string, which: "all" | "administration", now: number) =>
  oneTimeTokenRows.updateAll(
    tx,
    { used_at: now, workspace_id: null },
    and(
      eq(oneTimeTokens.created_by, createdBy),
      isNull(oneTimeTokens.used_at),
      which === "all" ? undefined : isNull(oneTimeTokens.workspace_id),
    ),
  );

export const deleteExpiredTokens = oneTimeTokenRows.deleteBy(oneTimeTokens.expires_at, lte);
