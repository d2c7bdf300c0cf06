/** Sessions of users, and the networks from which they have signed in. An ended session has no row. */
import { and, desc, eq, gt, lte, ne, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { exists, listIds, type OffsetPage, prepareRowQuery, rowsOf } from "./rows";
import { sessions, signInNetworks, users } from "./schema-accounts";
import type { User } from "./users";

const signInNetworkRows = rowsOf(signInNetworks);

const sessionRows = rowsOf(sessions);

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
export const listSessions = (db: Queries, userId: string, page: OffsetPage & { now: number }) =>
  sessionRows.listPage(
    db,
    and(eq(sessions.user_id, userId), gt(sessions.expires_at, page.now)),
    page,
    desc(sessions.last_seen_at),
    desc(sessions.id),
  );

/** Records the use of a session, and when it will end without another use. Does not change `Store.accountsRevision`. */
export async function touchSession(tx: Queries, id: string, use: { now: number; expiresAt: number }): Promise<void> {
  await tx.update(sessions).set({ last_seen_at: use.now, expires_at: use.expiresAt }).where(eq(sessions.id, id));
}

/** Ends a session of the user. Returns whether it existed. */
export const deleteSession = (tx: Queries, userId: string, id: string) =>
  sessionRows.delete(tx, { id, user_id: userId });

/** Ends all sessions of the user except one. Returns the IDs of the ended sessions. */
export const endOtherSessions = (tx: Queries, userId: string, keptId: string) =>
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

export const deleteExpiredSessions = sessionRows.deleteBy(sessions.expires_at, lte);

const MAX_NETWORKS_PER_USER = 50;

const putSignInNetwork = signInNetworkRows.putBy(signInNetworks.user_id, signInNetworks.network);

export const hasSignedInFrom = (db: Queries, email: string, network: string) =>
  exists(
    db
      .select({ id: users.id })
      .from(users)
      .innerJoin(signInNetworks, and(eq(signInNetworks.user_id, users.id), eq(signInNetworks.network, network)))
      .where(eq(users.email, email))
      .limit(1),
  );

/** Records a sign-in from a network. Deletes the least recently used networks above the limit. */
export async function recordSignInNetwork(tx: Queries, userId: string, network: string, now: number): Promise<void> {
  await putSignInNetwork(tx, { user_id: userId, network, last_sign_in_at: now });
  await tx.delete(signInNetworks).where(
    and(
      eq(signInNetworks.user_id, userId),
      sql`${signInNetworks.network} NOT IN (SELECT network FROM sign_in_networks WHERE user_id = ${userId}
          ORDER BY last_sign_in_at DESC LIMIT ${MAX_NETWORKS_PER_USER})`,
    ),
  );
}

export const deleteSignInNetworksOf = signInNetworkRows.deleteBy(signInNetworks.user_id);
