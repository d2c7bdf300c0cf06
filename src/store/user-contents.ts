/** The content of an account that is affected when the account is deleted or disabled. */
import { sql } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { hasOwnFile } from "./storage";
import { listSolelyOwnedWorkspaces } from "./workspaces";

type ContentCounts = {
  /** In the personal workspace. */
  projects: number;
  assets: number;
  cuts: number;
  renders: number;
  openJobs: number;
  webhookEndpoints: number;
  /** In all workspaces, excluding expired keys. */
  apiKeys: number;
  sessions: number;
};

/** If `isOnlyOwner` is true, the account cannot be deleted. */
export type SharedWorkspace = { id: string; name: string; role: WorkspaceRole; isOnlyOwner: boolean };

export type UserContents = ContentCounts & { sharedWorkspaces: SharedWorkspace[] };

/** Counts the content of an account. */
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
