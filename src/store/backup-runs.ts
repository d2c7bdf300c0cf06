/** Backups, their verifications, and drills, as recorded by the server. */
import { and, desc, eq, lte, notInArray } from "drizzle-orm";
import { BACKUP_RUN_KINDS, type BackupRunKind } from "../domain/states";
import type { Queries } from "./db";
import { type OffsetPage, rowsOf } from "./rows";
import { backupRuns } from "./schema-upkeep";

const backupRunRows = rowsOf(backupRuns);

export type BackupRun = typeof backupRuns.$inferSelect;

/** Maximum number of runs to keep. */
const MAX_RUNS = 1_000;

/** Inserts a run, and deletes the oldest ones beyond the limit, except the last success of each kind. */
export async function insertBackupRun(tx: Queries, run: typeof backupRuns.$inferInsert): Promise<BackupRun> {
  const [row] = await tx.insert(backupRuns).values(run).returning();
  const [oldest] = await tx
    .select({ id: backupRuns.id })
    .from(backupRuns)
    .orderBy(desc(backupRuns.id))
    .limit(1)
    .offset(MAX_RUNS);
  if (oldest) {
    const kept = await readLastSuccesses(tx);
    const keptIds = Object.values(kept).map(({ id }) => id);
    await tx.delete(backupRuns).where(and(lte(backupRuns.id, oldest.id), notInArray(backupRuns.id, keptIds)));
  }
  return row!;
}

export const updateBackupRun = backupRunRows.updateById;

/** Fails the runs of a server that was killed. Returns their number. */
export async function failInterruptedRuns(tx: Queries, error: string, now: number): Promise<number> {
  const change = { state: "failed", error, ended_at: now } as const;
  return (await tx.update(backupRuns).set(change).where(eq(backupRuns.state, "running"))).rowsAffected;
}

export const findBackupRun = backupRunRows.findById;

/** Lists runs, newest first, and counts all of them. */
export const listBackupRuns = (db: Queries, { kind }: { kind?: BackupRunKind | undefined }, page: OffsetPage) =>
  backupRunRows.listPage(db, kind && eq(backupRuns.kind, kind), page, desc(backupRuns.id));

export const findLastRun = (db: Queries, kind: BackupRunKind, state: BackupRun["state"]) =>
  backupRunRows.find(db, { kind, state }, desc(backupRuns.id));

/** Returns the newest completed run of each kind. */
export async function readLastSuccesses(db: Queries): Promise<Partial<Record<BackupRunKind, BackupRun>>> {
  const found: Partial<Record<BackupRunKind, BackupRun>> = {};
  for (const kind of BACKUP_RUN_KINDS) {
    const run = await findLastRun(db, kind, "completed");
    if (run !== null) found[kind] = run;
  }
  return found;
}
