/** Problems that were found, and the free space of the last days. */
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or } from "drizzle-orm";
import type { Problem } from "../domain/alerts";
import type { DiskSample } from "../domain/disk-trend";
import type { Queries } from "./db";
import { alerts, diskSamples } from "./schema-upkeep";

export type Alert = typeof alerts.$inferSelect;

/** Lists the problems that have not ended, the newest first. */
export const listOpenAlerts = (db: Queries): Promise<Alert[]> =>
  db.select().from(alerts).where(isNull(alerts.resolved_at)).orderBy(desc(alerts.found_at), asc(alerts.problem));

/** Lists the problems that were found last, also those that have ended. */
export const listLatestAlerts = (db: Queries, limit: number): Promise<Alert[]> =>
  db.select().from(alerts).orderBy(desc(alerts.id)).limit(limit);

export async function findOpenAlert(db: Queries, problem: Problem): Promise<Alert | null> {
  const [row] = await db
    .select()
    .from(alerts)
    .where(and(eq(alerts.problem, problem), isNull(alerts.resolved_at)))
    .limit(1);
  return row ?? null;
}

/** Returns when a problem was reported last, also one that has ended; null: never. */
export async function findLastReportTime(db: Queries, problem: Problem): Promise<number | null> {
  const [row] = await db
    .select({ at: alerts.reported_at })
    .from(alerts)
    .where(and(eq(alerts.problem, problem), isNotNull(alerts.reported_at)))
    .orderBy(desc(alerts.reported_at))
    .limit(1);
  return row?.at ?? null;
}

export async function insertAlert(tx: Queries, alert: typeof alerts.$inferInsert): Promise<Alert> {
  const [row] = await tx.insert(alerts).values(alert).returning();
  return row!;
}

export async function updateAlert(
  tx: Queries,
  id: string,
  change: Partial<Pick<Alert, "severity" | "title" | "detail" | "reported_at" | "resolved_at">>,
): Promise<void> {
  await tx.update(alerts).set(change).where(eq(alerts.id, id));
}

/** Deletes problems that ended before `time`. */
export async function deleteAlertsResolvedBefore(tx: Queries, time: number): Promise<void> {
  await tx.delete(alerts).where(lt(alerts.resolved_at, time));
}

/** Lists the measurements, the oldest first. */
export const listDiskSamples = (db: Queries): Promise<DiskSample[]> =>
  db
    .select({ takenAt: diskSamples.taken_at, freeBytes: diskSamples.free_bytes })
    .from(diskSamples)
    .orderBy(asc(diskSamples.taken_at));

/** Stores a measurement, and deletes those from before `since`, and those of a clock that was set back. */
export async function saveDiskSample(tx: Queries, sample: DiskSample, since: number): Promise<void> {
  const { taken_at: takenAt } = diskSamples;
  await tx.delete(diskSamples).where(or(lt(takenAt, since), gt(takenAt, sample.takenAt)));
  await tx
    .insert(diskSamples)
    .values({ taken_at: sample.takenAt, free_bytes: sample.freeBytes })
    .onConflictDoUpdate({ target: takenAt, set: { free_bytes: sample.freeBytes } });
}
