/** The size of the database. */
import { sql } from "drizzle-orm";
import type { Queries } from "./db";

/** Returns the size of the database file in bytes, without its write-ahead log. */
export async function readDatabaseBytes(db: Queries): Promise<number> {
  const [row] = await db.all<{ bytes: number }>(
    sql`SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`,
  );
  return row?.bytes ?? 0;
}
