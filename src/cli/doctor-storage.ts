/** Storage in `offcut doctor`: the free space beside its reserve, and what each user occupies. */
import type { Config } from "../config";
import { formatBytes } from "../domain/bytes";
import { getFreeBytes } from "../lib/disk-reserve";
import { runAdminCommand } from "./admin";

/** What a user occupies: sources, derivatives, finished renders, and unfinished uploads with their announced size. */
export type UserStorage = { email: string; used_bytes: number };

/** Above the reserve, less than this is little for a long recording. */
const MIN_COMFORTABLE_BYTES = 3 * 1024 ** 3;
/** Users in the readable report; `--json` has all. */
const MAX_SHOWN_USERS = 20;

/** Describes the free space of the data folder. */
export function describeFreeSpace(config: Config, folder: string): { isLow: boolean; about: string } {
  const free = getFreeBytes(folder);
  const about = `${folder}, ${formatBytes(free)} free`;
  if (free <= config.diskReserveBytes) {
    const reserve = `the reserve of ${formatBytes(config.diskReserveBytes)} (disk_reserve_bytes)`;
    return { isLow: true, about: `${about}, which is below ${reserve}: uploads, renders and exports are refused` };
  }
  const isLow = free - config.diskReserveBytes < MIN_COMFORTABLE_BYTES;
  const reserved = config.diskReserveBytes > 0 ? `, ${formatBytes(config.diskReserveBytes)} of it in reserve` : "";
  return { isLow, about: `${about}${reserved}${isLow ? ": little for recordings" : ""}` };
}

/** Returns what each user occupies, the largest first. Asks a running server, else reads the database. */
export const readStorage = async (config: Config): Promise<UserStorage[]> =>
  (await runAdminCommand(config, "storage list", {})) as UserStorage[];

/** Formats the users that occupy something as lines of a report. */
export function formatStorage(config: Config, users: readonly UserStorage[]): string[] {
  const quota = config.storageQuotaBytes;
  const occupying = users.filter((user) => user.used_bytes > 0);
  const shown = occupying.slice(0, MAX_SHOWN_USERS);
  const width = Math.max(0, ...shown.map(({ email }) => email.length));
  const lines = shown.map(({ email, used_bytes }) => {
    const isFull = quota > 0 && used_bytes >= quota;
    return `  ${email.padEnd(width)}  ${formatBytes(used_bytes)}${isFull ? ", quota reached" : ""}`;
  });
  const rest = occupying.length - shown.length;
  return [
    `storage by user (quota: ${quota === 0 ? "none" : formatBytes(quota)}):`,
    ...(lines.length === 0 ? ["  nothing is stored"] : lines),
    ...(rest > 0 ? [`  and ${rest} more (--json lists all)`] : []),
  ];
}
