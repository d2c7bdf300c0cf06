/** Detected problems, and recent measurements of the free disk space. */
import { and, asc, desc, eq, gt, isNotNull, lt, or } from "drizzle-orm";
import type { Problem } from "../domain/alerts";
import type { DiskSample } from "../domain/disk-trend";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { alerts, diskSamples } from "./schema-upkeep";

const alertRows = rowsOf(alerts);
const putDiskSample = rowsOf(diskSamples).putBy(diskSamples.taken_at);

export type Alert = typeof alerts.$inferSelect;

/** Lists the problems that have not ended, newest first. */
export const listOpenAlerts = (db: Queries) =>
  alertRows.list(db, { resolved_at: null }, desc(alerts.found_at), asc(alerts.problem));

/** Lists the latest problems, including those that have ended. */
export const listLatestAlerts = (db: Queries, limit: number): Promise<Alert[]> =>
  db.select().from(alerts).orderBy(desc(alerts.id)).limit(limit);

export const findOpenAlert = (db: Queries, problem: Problem) => alertRows.find(db, { problem, resolved_at: null });

/** Returns when a problem was last reported, even if it has ended; null if never. */
export async function findLastReportTime(db: Queries, problem: Problem): Promise<number | null> {
  const reported = and(eq(alerts.problem, problem), isNotNull(alerts.reported_at));
  return (await alertRows.find(db, reported, desc(alerts.reported_at)))?.reported_at ?? null;
}

export const insertAlert = alertRows.insert;

export const updateAlert = alertRows.updateById;

export const deleteAlertsResolvedBefore = alertRows.deleteBy(alerts.resolved_at, lt);

/** Lists the measurements, oldest first. */
export const listDiskSamples = (db: Queries): Promise<DiskSample[]> =>
  db
    .select({ takenAt: diskSamples.taken_at, freeBytes: diskSamples.free_bytes })
    .from(diskSamples)
    .orderBy(asc(diskSamples.taken_at));

/** Stores a measurement. Deletes those from before `since`, and those from a clock that was set back. */
export async function saveDiskSample(tx: Queries, sample: DiskSample, since: number): Promise<void> {
  const { taken_at: takenAt } = diskSamples;
  await tx.delete(diskSamples).where(or(lt(takenAt, since), gt(takenAt, sample.takenAt)));
  await putDiskSample(tx, { taken_at: sample.takenAt, free_bytes: sample.freeBytes });
}
