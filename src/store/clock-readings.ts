/** Readings of the clock, from which the confirmed time is derived. */
import { asc } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { clockReadings } from "./schema-upkeep";

const clockReadingRows = rowsOf(clockReadings);

export type ClockReading = typeof clockReadings.$inferSelect;

/** Lists all readings, earliest time first. */
export const listClockReadings = (db: Queries) => clockReadingRows.list(db, undefined, asc(clockReadings.time));

export async function replaceClockReadings(tx: Queries, readings: readonly ClockReading[]): Promise<void> {
  await clockReadingRows.delete(tx, undefined);
  for (const reading of readings) await clockReadingRows.add(tx, reading);
}
