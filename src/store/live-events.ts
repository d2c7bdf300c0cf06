/** Live events: one row per change that a page shows. Database triggers write them in the transaction of the change. */
import { sql } from "drizzle-orm";
import type { Queries } from "./db";
import { only } from "./rows";
import { liveEvents } from "./schema-notifications";

/** `pipeline_id` is the pipeline to which the entity belongs. */
export type LiveEvent = Pick<
  typeof liveEvents.$inferSelect,
  "id" | "workspace_id" | "user_id" | "type" | "entity_id" | "state" | "revision" | "pipeline_id"
>;

/** The events of a workspace and, with `userId`, of a user; or those of a pipeline. */
export type LiveEventFilter = { workspaceId: string; userId: string | null } | { pipelineId: string };

const COLUMNS = sql.raw("id, workspace_id, user_id, type, entity_id, state, revision, pipeline_id");

/** Returns the IDs of the oldest stored event (or null) and of the newest event so far (0 before the first). */
export const readEventIds = (db: Queries) =>
  only(
    db.all<{ oldest: number | null; newest: number }>(sql`SELECT
    (SELECT min(id) FROM ${liveEvents}) AS oldest,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'live_events'), 0) AS newest`),
  );

/** Lists all events after this ID, oldest first. */
export const listEventsAfter = (db: Queries, afterId: number, limit: number): Promise<LiveEvent[]> =>
  db.all<LiveEvent>(sql`SELECT ${COLUMNS} FROM ${liveEvents} WHERE id > ${afterId} ORDER BY id LIMIT ${limit}`);

/** Lists matching events after this ID, oldest first. */
export function listMatchingEventsAfter(
  db: Queries,
  filter: LiveEventFilter,
  afterId: number,
  limit: number,
): Promise<LiveEvent[]> {
  const page = (column: string, value: string) =>
    sql`SELECT * FROM (SELECT ${COLUMNS} FROM ${liveEvents}
      WHERE ${sql.identifier(column)} = ${value} AND id > ${afterId} ORDER BY id LIMIT ${limit})`;
  if ("pipelineId" in filter) return db.all<LiveEvent>(page("pipeline_id", filter.pipelineId));
  if (filter.userId === null) return db.all<LiveEvent>(page("workspace_id", filter.workspaceId));
  // Each part reads its index in order; with OR, all matching rows would be sorted.
  return db.all<LiveEvent>(sql`${page("workspace_id", filter.workspaceId)}
    UNION ALL ${page("user_id", filter.userId)} ORDER BY id LIMIT ${limit}`);
}

/**
 * Deletes at most `limit` events that are older than `time`, oldest first. Returns whether there may be more. Deletes
 * by ID, so that no gap remains if the clock was set back.
 */
export async function deleteEventsBefore(tx: Queries, time: number, limit: number): Promise<boolean> {
  const expired = sql`(SELECT max(id) FROM ${liveEvents} WHERE created_at < ${time})`;
  const oldest = sql`SELECT id FROM ${liveEvents} WHERE id <= ${expired} ORDER BY id LIMIT ${limit}`;
  const deleted = await tx.all<{ id: number }>(sql`DELETE FROM ${liveEvents} WHERE id IN (${oldest}) RETURNING id`);
  return deleted.length === limit;
}
