/** The tables of workers on other machines. Times are in milliseconds since 1970. Tokens are stored as SHA-256. */
import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { WORKER_RUN_OUTCOMES } from "../domain/states";
import type { EncodingFacts, SandboxFacts } from "../domain/worker-messages";
import { EXECUTION_KINDS, type WorkerJob } from "../domain/workers";
import { belongsTo, id, time } from "./schema-columns";

/** Join tokens. Each is for one worker. */
export const workerTokens = sqliteTable(
  "worker_tokens",
  {
    id: id(),
    name: text().notNull(),
    hash: text().notNull().unique(),
    created_at: time().notNull(),
    last_used_at: time(),
    revoked_at: time(),
  },
  (t) => [uniqueIndex("worker_tokens_valid_name").on(t.name).where(sql`revoked_at is null`)],
);

/** Workers that have joined, with their latest announcement. */
export const workers = sqliteTable("workers", {
  id: id(),
  token_id: text()
    .notNull()
    .unique()
    .references(() => workerTokens.id, { onDelete: "cascade" }),
  /** The name of the token. */
  name: text().notNull(),
  version: text().notNull(),
  protocol: integer().notNull(),
  jobs: text({ mode: "json" }).$type<WorkerJob[]>().notNull(),
  slots: integer().notNull(),
  encoding: text({ mode: "json" }).$type<EncodingFacts>().notNull(),
  sandbox: text({ mode: "json" }).$type<SandboxFacts>().notNull(),
  languages: text({ mode: "json" }).$type<string[]>().notNull(),
  free_bytes: integer().notNull(),
  /** Whether an administrator has drained the worker, which then accepts no new work. */
  is_draining: integer({ mode: "boolean" }).notNull().default(false),
  /** Seconds of media encoded per second; null until measured. */
  speed: real(),
  /** The last heartbeat, stored at most every 30 s. */
  last_seen_at: time().notNull(),
  created_at: time().notNull(),
});

/** Work of workers: one row per execution. Old ones are deleted. */
export const workerRuns = sqliteTable(
  "worker_runs",
  {
    /** The ID of the execution. */
    id: id(),
    worker_id: belongsTo(() => workers.id),
    kind: text({ enum: EXECUTION_KINDS }).notNull(),
    /** The step that the run belongs to, and the asset, cut or render of that step. Kept after they are deleted. */
    step_id: text().notNull(),
    subject_id: text().notNull(),
    started_at: time().notNull(),
    ended_at: time().notNull(),
    outcome: text({ enum: WORKER_RUN_OUTCOMES }).notNull(),
    /** Seconds of media that were created or read; null if unknown. */
    media_seconds: real(),
  },
  (t) => [index("worker_runs_by_worker").on(t.worker_id, t.ended_at, t.id), index("worker_runs_by_end").on(t.ended_at)],
);
