/** The audit log. Rows are only added; purging an account removes personal data from them. */
import { and, asc, count, desc, eq, gt, gte, lt, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import { matchesFilter, type OffsetPage, only, readPage, rowsOf } from "./rows";
import { auditLog, users, workspaces } from "./schema-accounts";

const auditLogRows = rowsOf(auditLog);

/**
 * `actorEmail` is null if the actor is not a user or the account was purged; the same applies to `targetName` for users
 * and workspaces. `namedId` is the user named in the details, such as a workspace member that was changed.
 */
export type ListedAuditEntry = Awaited<ReturnType<typeof selectEntries>>[number];

export const insertAuditEntry = auditLogRows.add;

/** Undefined means any. `user`: part of an email, of the actor, target or named user. `since` is inclusive. */
export type AuditFilter = {
  user?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
} & Partial<Pick<typeof auditLog.$inferSelect, "actor_id" | "target_id" | "workspace_id" | "action">>;

const actors = alias(users, "actors");
const targets = alias(users, "targets");
const named = alias(users, "named");
/** No entry has both. */
const namedId = sql<
  string | null
>`coalesce(json_extract(${auditLog.details}, '$.user_id'), json_extract(${auditLog.details}, '$.invited_by'))`;

const matchesAudit = ({ user, since, until, ...values }: AuditFilter): SQL | undefined =>
  and(
    user === undefined
      ? undefined
      : or(...[actors, targets, named].map(({ email }) => sql`instr(${email}, lower(${user})) > 0`)),
    matchesFilter(auditLog, values),
    since === undefined ? undefined : gte(auditLog.created_at, since),
    until === undefined ? undefined : lt(auditLog.created_at, until),
  );

const selectEntries = (db: Queries) =>
  db
    .select({
      entry: auditLog,
      actorEmail: actors.email,
      targetName: sql<string | null>`coalesce(${targets.email}, ${workspaces.name})`,
      namedId,
      namedEmail: named.email,
    })
    .from(auditLog)
    .leftJoin(actors, eq(actors.id, auditLog.actor_id))
    .leftJoin(targets, and(eq(targets.id, auditLog.target_id), eq(auditLog.target_kind, "user")))
    .leftJoin(named, eq(named.id, namedId))
    .leftJoin(workspaces, and(eq(workspaces.id, auditLog.target_id), eq(auditLog.target_kind, "workspace")));

/** Lists entries, newest first. */
export async function listAuditEntries(db: Queries, filter: AuditFilter, page: OffsetPage) {
  const counted = db.select({ n: count() }).from(auditLog);
  const joined =
    filter.user === undefined
      ? counted
      : counted
          .leftJoin(actors, eq(actors.id, auditLog.actor_id))
          .leftJoin(targets, and(eq(targets.id, auditLog.target_id), eq(auditLog.target_kind, "user")))
          .leftJoin(named, eq(named.id, namedId));
  const { n } = await only(joined.where(matchesAudit(filter)));
  return readPage(selectEntries(db).where(matchesAudit(filter)).orderBy(desc(auditLog.id)), page, n);
}

/** Lists at most `limit` entries that follow the one with the ID `afterId`, oldest first. */
export const listAuditEntriesAfter = (
  db: Queries,
  filter: AuditFilter,
  page: { afterId: string; limit: number },
): Promise<ListedAuditEntry[]> =>
  selectEntries(db)
    .where(and(matchesAudit(filter), gt(auditLog.id, page.afterId)))
    .orderBy(asc(auditLog.id))
    .limit(page.limit);

export const hasAuditEntry = (db: Queries, action: string, targetId: string) =>
  auditLogRows.has(db, { action, target_id: targetId });

/**
 * Erases details that contain one of these texts, ignoring case, in the `limit` entries that follow the one with the ID
 * `afterId`. Returns the ID of the last of them, or null at the end of the log.
 */
export async function eraseAuditDetails(
  tx: Queries,
  texts: string[],
  page: { afterId: string; limit: number },
): Promise<string | null> {
  const [last] = await tx
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(gt(auditLog.id, page.afterId))
    .orderBy(asc(auditLog.id))
    .limit(1)
    .offset(page.limit - 1);
  const isInPage = last === undefined ? undefined : sql`${auditLog.id} <= ${last.id}`;
  const contains = texts.map((text) => sql`instr(lower(${auditLog.details}), ${text.toLowerCase()}) > 0`);
  await auditLogRows.updateAll(
    tx,
    { details: null },
    and(gt(auditLog.id, page.afterId), isInPage, sql`(${sql.join(contains, sql` OR `)})`),
  );
  return last?.id ?? null;
}

/**
 * Replaces the ID of a purged account, which is also the ID of its personal workspace, with a random one. Also removes
 * the addresses from which the account acted, and the details of entries about it, except those of `keptActions`. Call
 * it when the account no longer exists.
 */
export async function anonymizeAuditEntries(
  tx: Queries,
  account: { userId: string; randomId: string; keptActions: string[] },
): Promise<void> {
  const { userId, randomId, keptActions } = account;
  const actions = keptActions.map((action) => sql`${action}`);
  const kept = sql.join(actions, sql`, `);
  await auditLogRows.updateAll(
    tx,
    { target_id: randomId, details: sql`CASE WHEN ${auditLog.action} IN (${kept}) THEN ${auditLog.details} END` },
    { target_id: userId },
  );
  await tx
    .update(auditLog)
    .set({
      actor_id: randomId,
      credential_id: null,
      address: null,
      request_id: null,
      // Details about other accounts and workspaces are kept.
      details: sql`CASE WHEN ${auditLog.target_kind} IN ('user', 'workspace', 'order') THEN ${auditLog.details} END`,
    })
    .where(eq(auditLog.actor_id, userId));
  // A person who tried to sign in to the account was most likely its owner.
  await auditLogRows.updateAll(
    tx,
    { address: null, request_id: null },
    and(eq(auditLog.target_id, randomId), sql`${auditLog.actor_id} IS NULL`),
  );
  await tx.update(auditLog).set({ workspace_id: randomId }).where(eq(auditLog.workspace_id, userId));
}
