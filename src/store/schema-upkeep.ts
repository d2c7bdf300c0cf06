/** The tables of upkeep, which belong to the server and not to a workspace. Times are in milliseconds since 1970. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { BackupFigures } from "../domain/backup-runs";
import type { FileFacts } from "../domain/scrub";
import { BACKUP_RUN_KINDS, BACKUP_RUN_STATES, FILE_PROBLEMS, PROBLEM_SEVERITIES, PROBLEMS } from "../domain/states";
import { id } from "./schema-columns";

/** Backups, their verifications, and drills. Old ones are deleted. */
export const backupRuns = sqliteTable(
  "backup_runs",
  {
    id: id(),
    kind: text({ enum: BACKUP_RUN_KINDS }).notNull(),
    state: text({ enum: BACKUP_RUN_STATES }).notNull(),
    /** The location for backups and, once known, of the backup itself. */
    path: text().notNull(),
    figures: text({ mode: "json" }).$type<BackupFigures>(),
    error: text(),
    started_at: integer().notNull(),
    ended_at: integer(),
  },
  (t) => [index("backup_runs_by_kind").on(t.kind, t.state, t.id)],
);

/**
 * One row per file that was read or has a problem. Triggers delete the rows of a deleted asset or render. `bytes`,
 * `modified_at` and `sha256` describe the correct content; `sha256` is null until the file is read.
 */
export const fileChecks = sqliteTable(
  "file_checks",
  {
    id: text().primaryKey(),
    /** Relative to the media folder, with `/` between its parts. */
    path: text().notNull(),
    bytes: integer().notNull(),
    modified_at: integer().notNull(),
    sha256: text(),
    checked_at: integer(),
    /** When ffmpeg read the content to its end, or reached the time limit. */
    decoded_at: integer(),
    problem: text({ enum: FILE_PROBLEMS }),
    /** The problem as a sentence. */
    detail: text(),
    /** The incorrect content that was found. */
    found: text({ mode: "json" }).$type<FileFacts>(),
    found_at: integer(),
    /** When an administrator accepted the problem, which is then no longer shown. */
    accepted_at: integer(),
    restore_error: text(),
    /** When the file was first read or found missing. */
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex("file_checks_by_path").on(t.path),
    index("file_checks_open").on(t.found_at, t.id).where(sql`problem is not null and accepted_at is null`),
    index("file_checks_by_time").on(t.checked_at),
    index("file_checks_by_creation").on(t.created_at),
  ],
);

/** Problems: one row per occurrence, from detection to its end. Old ones are deleted. */
export const alerts = sqliteTable(
  "alerts",
  {
    id: id(),
    problem: text({ enum: PROBLEMS }).notNull(),
    severity: text({ enum: PROBLEM_SEVERITIES }).notNull(),
    title: text().notNull(),
    detail: text().notNull(),
    found_at: integer().notNull(),
    /** When administrators were last notified; null if the problem had already been reported shortly before. */
    reported_at: integer(),
    resolved_at: integer(),
  },
  (t) => [
    uniqueIndex("alerts_one_open").on(t.problem).where(sql`resolved_at is null`),
    index("alerts_by_report").on(t.problem, t.reported_at),
    index("alerts_by_end").on(t.resolved_at),
  ],
);

/** Choices made in the dashboard for the whole server. A setting in the configuration takes precedence. */
export const serverChoices = sqliteTable("server_choices", {
  id: text({ enum: ["billing"] }).primaryKey(),
  value: text().notNull(),
});

/** Recent measurements of the free disk space. */
export const diskSamples = sqliteTable("disk_samples", {
  taken_at: integer().primaryKey(),
  free_bytes: integer().notNull(),
});

/**
 * Times that the clock showed, and how long the server has run since while the clock stayed past them. A few rows: see
 * `work/confirmed-time.ts`.
 */
export const clockReadings = sqliteTable("clock_readings", {
  time: integer().primaryKey(),
  running_ms: integer().notNull(),
});
