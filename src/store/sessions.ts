/** Sessions of users. An ended session has no row. */
import { and, desc, eq, lte, ne, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { prepareRowQuery } from "./prepared-query";
import { exists, listIds, type OffsetPage } from "./rows";
import { sessions, users } from "./schema-accounts";
import type { User } from "./users";

export type Session = typeof sessions.$inferSelect;

/** Successful sign-ins are not limited, and each adds a row with text from the client. */
const MAX_SESSIONS_PER_USER = 500;

/** Inserts a session. Ends the user's least recently used sessions above the limit. */
export async function insertSession(tx: Queries, session: typeof sessions.$inferInsert): Promise<Session> {
  const [row] = await tx.insert(sessions).values(session).returning();
  const surplus = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.user_id, session.user_id))
    .orderBy(desc(sessions.last_seen_at), desc(sessions.id))
    .limit(MAX_SESSIONS_PER_USER)
    .offset(MAX_SESSIONS_PER_USER);
  // A deletion invalidates the caches of all sessions.
  for (const { id } of surplus) await deleteSession(tx, session.user_id, id);
  return row!;
}

const sessionWithUserQuery = prepareRowQuery<{ id: string }, { session: Session; user: User }>((db) =>
  db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .where(eq(sessions.id, sql.placeholder("id")))
    .limit(1)
    .prepare(),
);

export const findSessionWithUser = (db: Queries, id: string) => sessionWithUserQuery(db, { id });

/** Lists the user's sessions that have not expired, last used first. */
export const listSessions = (db: Queries, userId: string, page: OffsetPage & { now: number }): Promise<Session[]> =>
  db
    .select()
    .from(sessions)
    .where(isOpen(userId, page.now))
    .orderBy(desc(sessions.last_seen_at), desc(sessions.id))
    .limit(page.limit)
    .offset(page.offset);

export const countSessions = (db: Queries, userId: string, now: number): Promise<number> =>
  db.$count(sessions, isOpen(userId, now));

const isOpen = (userId: string, now: number) => and(eq(sessions.user_id, userId), sql`${sessions.expires_at} > ${now}`);

/** Records the use of a session, and when it will end without another use. Does not change `Store.accountsRevision`. */
export async function touchSession(tx: Queries, id: string, use: { now: number; expiresAt: number }): Promise<void> {
  await tx.update(sessions).set({ last_seen_at: use.now, expires_at: use.expiresAt }).where(eq(sessions.id, id));
}

/** Ends a session of the user. Returns whether it existed. */
export const deleteSession = (tx: Queries, userId: string, id: string): Promise<boolean> =>
  exists(
    tx
      .delete(sessions)
      .where(and(eq(sessions.id, id), eq(sessions.user_id, userId)))
      .returning({ id: sessions.id }),
  );

/** Ends all sessions of the user except one. Returns the IDs of the ended sessions. */
export const endOtherSessions = (tx: Queries, userId: string, keptId: string): Promise<string[]> =>
  listIds(
    tx
      .delete(sessions)
      .where(and(eq(sessions.user_id, userId), ne(sessions.id, keptId)))
      .returning({ id: sessions.id }),
  );

/** Ends all sessions of the user, except the one with the ID `keptId`. */
export async function deleteSessionsOf(tx: Queries, userId: string, keptId: string | null): Promise<void> {
  const isKept = keptId === null ? undefined : ne(sessions.id, keptId);
  await tx.delete(sessions).where(and(eq(sessions.user_id, userId), isKept));
}

export async function deleteExpiredSessions(tx: Queries, now: number): Promise<void> {
  await tx.delete(sessions).where(lte(sessions.expires_at, now));
}
