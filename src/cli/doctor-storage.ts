/** Storage in `offcut doctor`: the space that each user occupies. */
import type { Config } from "../config";
import { formatBytes } from "../domain/bytes";
import { runAdminCommand } from "./admin";

/** The storage of a user: sources, derivatives, finished renders, and unfinished uploads with their full length. */
export type UserStorage = { email: string; used_bytes: number };

/** Maximum number of users in the text report. `--json` lists all. */
const MAX_SHOWN_USERS = 20;

/** Returns the storage used by each user, largest first, from a running server or else from the database. */
export const readStorage = async (config: Config): Promise<UserStorage[]> =>
  (await runAdminCommand(config, "storage list", {})) as UserStorage[];

/** Formats the users with stored files as lines of the report. */
export function formatStorage(config: Config, users: readonly UserStorage[]): string[] {
  const quota = config.storageQuotaBytes;
  const withFiles = users.filter((user) => user.used_bytes > 0);
  const shown = withFiles.slice(0, MAX_SHOWN_USERS);
  const width = Math.max(0, ...shown.map(({ email }) => email.length));
  const lines = shown.map(({ email, used_bytes }) => {
    const isFull = quota > 0 && used_bytes >= quota;
    return `  ${email.padEnd(width)}  ${formatBytes(used_bytes)}${isFull ? ", quota reached" : ""}`;
  });
  const rest = withFiles.length - shown.length;
  if (lines.length === 0) lines.push("  no stored files");
  if (rest > 0) lines.push(`  and ${rest} more (--json lists all)`);
  return [`Storage by user (quota: ${quota === 0 ? "none" : formatBytes(quota)}):`, ...lines];
}
