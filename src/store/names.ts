/** Names that users have chosen, and their addresses, which a bug report must not contain. */
import { sql } from "drizzle-orm";
import type { Queries } from "./db";

/** Maximum number of names to read from a column, newest first. */
const MAX_NAMES = 50_000;

const COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ["users", "email"],
  ["users", "first_name"],
  ["users", "last_name"],
  ["workspaces", "name"],
  ["projects", "name"],
  ["assets", "name"],
  ["assets", "filename"],
  ["assets", "external_id"],
  ["cuts", "name"],
  ["api_keys", "name"],
  ["worker_tokens", "name"],
  ["webhook_endpoints", "url"],
  ["oidc_identities", "email"],
  ["one_time_tokens", "email"],
  ["sessions", "address"],
  ["orders", "price_name"],
];

/** Reads names and addresses of users, workspaces, projects, recordings, cuts, keys, workers and webhook endpoints. */
export async function readKnownNames(db: Queries): Promise<string[]> {
  const names: string[] = [];
  for (const [table, column] of COLUMNS) {
    const rows = await db.all<{ name: string }>(
      sql.raw(
        `SELECT DISTINCT "${column}" AS name FROM "${table}" WHERE "${column}" IS NOT NULL ORDER BY rowid DESC LIMIT ${MAX_NAMES}`,
      ),
    );
    for (const { name } of rows) names.push(name);
  }
  return names;
}
