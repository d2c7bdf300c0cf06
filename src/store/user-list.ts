/** Accounts in the view of administrators, with credits, storage and content. */
import { and, asc, desc, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { AccountRole, WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { first, type OffsetPage, readPage } from "./rows";
import { users, workspaces } from "./schema-accounts";
import { hasOwnFile } from "./storage";
import type { User } from "./users";
import { listSolelyOwnedWorkspaces } from "./workspaces";

/** `quotaBytes` null means that the configured quota applies. */
export type ListedUser = { user: User; credits: number; storageBytes: number; quotaBytes: number | null };

/** `q` is part of the email address or the name. A `deleted` account is in its grace period. */
export type UserFilter = {
  q?: string | undefined;
  role?: AccountRole | undefined;
  state?: "active" | "disabled" | "deleted" | undefined;
};

const STATES = {
  active: and(isNull(users.disabled_at), isNull(users.deleted_at)),
  disabled: isNotNull(users.disabled_at),
  deleted: isNotNull(users.deleted_at),
};

const searched = sql`lower(users.email || ' ' || coalesce(users.first_name, '') || ' ' || coalesce(users.last_name, ''))`;

const matchesUser = ({ q, role, state }: UserFilter): SQL | undefined =>
  and(
    q === undefined ? undefined : sql`instr(${searched}, lower(${q})) > 0`,
    role === undefined ? undefined : eq(users.is_admin, role === "admin"),
    state === undefined ? undefined : STATES[state],
  );

const credits = sql<number>`((SELECT coalesce(sum(delta), 0) FROM ledger WHERE workspace_id = users.id)
  - (SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = users.id))`;
const storageBytes = sql<number>`((SELECT coalesce(sum(upload_length + derived_bytes), 0) FROM assets
    WHERE workspace_id = users.id AND ${hasOwnFile})
  + (SELECT coalesce(sum(size_bytes), 0) FROM renders WHERE workspace_id = users.id)
  + coalesce((SELECT text_bytes FROM workspaces WHERE id = users.id), 0))`;

export const USER_SORTS = ["created_at", "email", "last_sign_in_at", "credits", "storage_used_bytes"] as const;
export type UserSorting = { sort: (typeof USER_SORTS)[number]; isDescending: boolean };

const SORT_COLUMNS = {
  created_at: users.created_at,
  email: users.email,
  last_sign_in_at: users.last_sign_in_at,
  credits,
  storage_used_bytes: storageBytes,
};

const selectUsers = (db: Queries) =>
  db
    .select({
      user: users,
      credits,
      storageBytes,
      quotaBytes: workspaces.storage_quota_bytes,
    })
    .from(users)
    .leftJoin(workspaces, eq(workspaces.id, users.id));

/** Lists accounts. Those that have never signed in come before the first sign-in. */
export async function listUserPage(
  db: Queries,
  filter: UserFilter,
  { sort, isDescending, ...page }: UserSorting & OffsetPage,
) {
  const direction = isDescending ? desc : asc;
  const query = selectUsers(db).where(matchesUser(filter)).orderBy(direction(SORT_COLUMNS[sort]), direction(users.id));
  return readPage(query, page, db.$count(users, matchesUser(filter)));
}

export const findListedUser = (db: Queries, id: string) => first(selectUsers(db).where(eq(users.id, id)).limit(1));

type ContentCounts = {
  /** Counts in the personal workspace. */
  projects: number;
  assets: number;
  cuts: number;
  renders: number;
  openJobs: number;
  webhookEndpoints: number;
  /** Counts in all workspaces, excluding expired keys. */
  apiKeys: number;
  sessions: number;
};

/** If `isOnlyOwner` is true, the account cannot be deleted. */
export type SharedWorkspace = { id: string; name: string; role: WorkspaceRole; isOnlyOwner: boolean };

export type UserContents = ContentCounts & { sharedWorkspaces: SharedWorkspace[] };

export async function readUserContents(db: Queries, userId: string, now: number): Promise<UserContents> {
  const [counts] = await db.all<ContentCounts>(sql`SELECT
    (SELECT count(*) FROM projects WHERE workspace_id = ${userId}) AS projects,
    (SELECT count(*) FROM assets WHERE workspace_id = ${userId} AND ${hasOwnFile}) AS assets,
    (SELECT count(*) FROM cuts WHERE workspace_id = ${userId}) AS cuts,
    (SELECT count(*) FROM renders WHERE workspace_id = ${userId}) AS renders,
    (SELECT count(*) FROM pipelines WHERE workspace_id = ${userId} AND finished_at IS NULL AND is_hidden = 0) AS openJobs,
    (SELECT count(*) FROM webhook_endpoints WHERE workspace_id = ${userId}) AS webhookEndpoints,
    (SELECT count(*) FROM api_keys WHERE user_id = ${userId} AND (expires_at IS NULL OR expires_at > ${now})) AS apiKeys,
    (SELECT count(*) FROM sessions WHERE user_id = ${userId} AND expires_at > ${now}) AS sessions`);
  const shared = await db.all<Omit<SharedWorkspace, "isOnlyOwner">>(sql`
    SELECT w.id, w.name, m.role FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = ${userId} AND w.is_personal = 0 ORDER BY w.name, w.id`);
  const onlyOwned = new Set((await listSolelyOwnedWorkspaces(db, userId)).map(({ id }) => id));
  return { ...counts!, sharedWorkspaces: shared.map((one) => ({ ...one, isOnlyOwner: onlyOwned.has(one.id) })) };
}
