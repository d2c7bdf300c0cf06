/** Backups, their verifications, and drills, as the server remembers them. */
import { and, count, desc, eq, lte, notInArray } from "drizzle-orm";
import { BACKUP_RUN_KINDS, type BackupRunKind } from "../domain/states";
import type { Queries } from "./db";
import { backupRuns } from "./schema-upkeep";

export type BackupRun = typeof backupRuns.$inferSelect;

/** Maximum number of runs that are kept. */
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

export async function updateBackupRun(
  tx: Queries,
  id: string,
  change: Partial<typeof backupRuns.$inferInsert>,
): Promise<void> {
  await tx.update(backupRuns).set(change).where(eq(backupRuns.id, id));
}

/** Ends the runs of a server that was killed. Returns how many there were. */
export async function failInterruptedRuns(tx: Queries, error: string, now: number): Promise<number> {
  const rows = await tx
    .update(backupRuns)
    .set({ state: "failed", error, ended_at: now })
    .where(eq(backupRuns.state, "running"))
    .returning({ id: backupRuns.id });
  return rows.length;
}

export async function findBackupRun(db: Queries, id: string): Promise<BackupRun | null> {
  const [row] = await db.select().from(backupRuns).where(eq(backupRuns.id, id)).limit(1);
  return row ?? null;
}

/** Lists runs, newest first, and counts all. */
export async function listBackupRuns(
  db: Queries,
  { kind }: { kind?: BackupRunKind | undefined },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: BackupRun[]; total: number }> {
  const where = kind === undefined ? undefined : eq(backupRuns.kind, kind);
  const [rows, [counted]] = await Promise.all([
    db.select().from(backupRuns).where(where).orderBy(desc(backupRuns.id)).limit(limit).offset(offset),
    db.select({ total: count() }).from(backupRuns).where(where),
  ]);
  return { rows, total: counted?.total ?? 0 };
}

/** Returns the newest run of a kind in a state, or null. */
export async function findLastRun(
  db: Queries,
  kind: BackupRunKind,
  state: BackupRun["state"],
): Promise<BackupRun | null> {
  const [row] = await db
    .select()
    .from(backupRuns)
    .where(and(eq(backupRuns.kind, kind), eq(backupRuns.state, state)))
    .orderBy(desc(backupRuns.id))
    .limit(1);
  return row ?? null;
}

/** Returns the newest completed run of each kind that has one. */
export async function readLastSuccesses(db: Queries): Promise<Partial<Record<BackupRunKind, BackupRun>>> {
  const found: Partial<Record<BackupRunKind, BackupRun>> = {};
  for (const kind of BACKUP_RUN_KINDS) {
    const run = await findLastRun(db, kind, "completed");
    if (run !== null) found[kind] = run;
  }
  return found;
}
