/** The tables of upkeep, which belong to the server and not to a workspace. Times are milliseconds since 1970. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { BackupFigures } from "../domain/backup-runs";
import { BACKUP_RUN_KINDS, BACKUP_RUN_STATES } from "../domain/states";

/** Backups, their verifications, and drills. Old ones are deleted. */
export const backupRuns = sqliteTable(
  "backup_runs",
  {
    id: text().primaryKey(),
    kind: text({ enum: BACKUP_RUN_KINDS }).notNull(),
    state: text({ enum: BACKUP_RUN_STATES }).notNull(),
    /** Where backups are written, and once it is known the backup itself. */
    path: text().notNull(),
    figures: text({ mode: "json" }).$type<BackupFigures>(),
    error: text(),
    started_at: integer().notNull(),
    ended_at: integer(),
  },
  (t) => [index("backup_runs_by_kind").on(t.kind, t.state, t.id)],
);
