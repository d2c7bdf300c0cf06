/** Server problems that administrators need to know about: their wording, and when they are reported. Pure. */
import { formatBytes } from "./bytes";
import type { DiskTrend } from "./disk-trend";
import type { PROBLEM_SEVERITIES, PROBLEMS } from "./states";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time";
import { truncateText } from "./timeline/one-line";

export type Problem = (typeof PROBLEMS)[number];
export type ProblemSeverity = (typeof PROBLEM_SEVERITIES)[number];

/**
 * A problem that was found. `title` states the problem, without a period; `detail` states what to do, in 1 or 2
 * sentences.
 */
export type FoundProblem = { severity: ProblemSeverity; title: string; detail: string };

export const RESOLVED_TITLES: Record<Problem, string> = {
  database_damaged: "No damage of the database is known any longer",
  backups_failing: "Backups are written again",
  drill_failed: "A backup was restored and checked again",
  folder_offline: "The folder is back",
  files_damaged: "All damaged files were dealt with",
  disk_space: "The disk has enough free space again",
  certificate: "The TLS certificate is valid for long enough again",
  worker_gone: "All workers are back",
  webhooks_failing: "All webhook endpoints work again",
};

const critical = (title: string, detail: string): FoundProblem => ({ severity: "critical", title, detail });

/** A problem is reported at most this often, even if it ends and comes back. */
export const REPORT_INTERVAL_MS = DAY_MS;

/**
 * Returns whether a problem may be reported. `reportedAt` is the time of the last report; null if never. A time in the
 * future comes from a clock that was set back.
 */
export const mayReport = (reportedAt: number | null, now: number): boolean =>
  reportedAt === null || reportedAt > now || now - reportedAt >= REPORT_INTERVAL_MS;

const MAX_NAME_CHARACTERS = 60;
const MAX_LISTED_NAMES = 5;

/** Formats user-defined names as a list: `render-1, render-2 and 3 more`. */
function formatNames(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).map((name) => truncateText(name, MAX_NAME_CHARACTERS));
  const more = total - shown.length;
  if (more > 0) return `${shown.join(", ")} and ${more} more`;
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

/** Finds a damaged database. `damage`: in the words of SQLite, null without. */
export const findDatabaseProblem = (damage: string | null): FoundProblem | null =>
  damage === null
    ? null
    : critical(
        "The database is damaged",
        `Stop the server and restore a backup with offcut restore. ${formatError(damage.replaceAll("\n", " "))}`,
      );

const BACKUP_LATE_AFTER_MS = 26 * HOUR_MS;
const BACKUP_CRITICAL_AFTER_MS = 3 * DAY_MS;
const MAX_ERROR_CHARACTERS = 300;

/**
 * `completedAt` is the start of the last complete backup, or the time since when the server has waited for the first
 * one. `error` is the error of the last backup if it failed.
 */
export type BackupFacts = { completedAt: number; error: string | null };

/** Finds a nightly backup that failed or is late. */
export function findBackupProblem({ completedAt, error }: BackupFacts, now: number): FoundProblem | null {
  const age = now - completedAt;
  if (error === null && age <= BACKUP_LATE_AFTER_MS) return null;
  const days = Math.floor(age / DAY_MS);
  return {
    severity: age > BACKUP_CRITICAL_AFTER_MS ? "critical" : "warning",
    title:
      days >= 2
        ? `No backup has succeeded for ${days} days`
        : error === null
          ? "The backup is late"
          : "The backup failed",
    detail:
      error === null
        ? "No backup has been completed since yesterday. Check Administration, Backups and the log."
        : `${formatError(error)} Offcut tries again every hour.`,
  };
}

/** Finds a restore drill that failed. `error` is the error of the last drill if it failed. */
export const findDrillProblem = (error: string | null): FoundProblem | null =>
  error === null
    ? null
    : critical("The restore drill failed", `The newest backup may not be restorable. ${formatError(error)}`);

/** Finds a data folder or media folder that is offline. `problem` names the folder, the reason, and the remedy. */
export const findFolderProblem = (problem: string | null): FoundProblem | null =>
  problem === null
    ? null
    : critical(
        "A folder is offline",
        `The ${formatError(problem)} Uploads, renders and exports wait until it is back.`,
      );

/** Finds unresolved problems of files. `open` is their number. */
export const findFilesProblem = (open: number): FoundProblem | null =>
  open === 0
    ? null
    : critical(
        open === 1 ? "A file is missing or damaged" : `${open.toLocaleString("en-US")} files are missing or damaged`,
        "Administration, Storage lists them and can restore them from a backup.",
      );

/** Formats an error as a sentence of limited length. */
function formatError(error: string): string {
  const text = error.trim().slice(0, MAX_ERROR_CHARACTERS);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const MIN_FREE_SHARE = 0.1;
const MAX_DAYS_LEFT = 7;

/** `trend` is the change of the free space; null while unknown. */
export type DiskFacts = { freeBytes: number; totalBytes: number; reserveBytes: number; trend: DiskTrend | null };

/** Finds a disk that is almost full, or will be within a week. */
export function findDiskProblem({ freeBytes, totalBytes, reserveBytes, trend }: DiskFacts): FoundProblem | null {
  const free = formatBytes(freeBytes);
  if (freeBytes <= reserveBytes)
    return critical(
      `The disk is full: ${free} free`,
      `Uploads, renders and exports are rejected below ${formatBytes(reserveBytes)}. Free some space or add a larger disk.`,
    );
  const share = totalBytes > 0 ? freeBytes / totalBytes : 1;
  const daysLeft = trend === null ? null : findDaysLeft(freeBytes - reserveBytes, trend);
  if (share < MIN_FREE_SHARE)
    return {
      severity: daysLeft !== null && daysLeft < 1 ? "critical" : "warning",
      title: `Only ${Math.floor(share * 100)}% of the disk is free`,
      detail: `${free} of ${formatBytes(totalBytes)} are left. ${daysLeft === null ? "" : `At the current rate the disk is full ${formatDays(daysLeft)}. `}Free some space or add a larger disk.`,
    };
  if (daysLeft === null) return null;
  return {
    severity: daysLeft < 1 ? "critical" : "warning",
    title: `The disk will be full ${formatDays(daysLeft)}`,
    detail: `${free} are free, and about ${formatBytes(Math.abs(trend?.bytesPerDay ?? 0))} fill up each day. Free some space or add a larger disk.`,
  };
}

/** Returns the number of days until the space is used up if that is at most a week, otherwise null. */
function findDaysLeft(freeBytes: number, { bytesPerDay }: DiskTrend): number | null {
  const days = bytesPerDay < 0 ? freeBytes / -bytesPerDay : Number.POSITIVE_INFINITY;
  return days <= MAX_DAYS_LEFT ? days : null;
}

function formatDays(days: number): string {
  const whole = Math.floor(days);
  if (whole === 0) return "within a day";
  return `in ${whole === 1 ? "a day" : `${whole} days`}`;
}

const CERTIFICATE_WARNING_MS = 14 * DAY_MS;
const CERTIFICATE_CRITICAL_MS = 3 * DAY_MS;

/** `usedUntil` is the end of the certificate in use; `storedUntil` that of the one in its file, null if unreadable. */
export type CertificateFacts = { usedUntil: number; storedUntil: number | null };

/** Finds a certificate that has expired or expires soon, or whose renewed version is not in use. */
export function findCertificateProblem({ usedUntil, storedUntil }: CertificateFacts, now: number): FoundProblem | null {
  const left = usedUntil - now;
  if (left > CERTIFICATE_WARNING_MS) return null;
  const isRenewed = storedUntil !== null && storedUntil - now > CERTIFICATE_WARNING_MS;
  return {
    severity: left <= CERTIFICATE_CRITICAL_MS ? "critical" : "warning",
    title: left <= 0 ? "The TLS certificate has expired" : `The TLS certificate expires ${formatDays(left / DAY_MS)}`,
    detail: isRenewed
      ? "The file of tls_cert has a newer one. Restart the server to use it."
      : `${left <= 0 ? "Browsers and API clients refuse to connect" : "After that, browsers and API clients refuse to connect"}. Renew it and restart the server.`,
  };
}

export const WORKER_GONE_AFTER_MS = 10 * MINUTE_MS;

/** Finds missing workers: `names` were not seen for 10 minutes, `online` is the number of other workers. */
export function findWorkerProblem(workers: { names: readonly string[]; online: number }): FoundProblem | null {
  const { names, online } = workers;
  if (names.length === 0) return null;
  const isOne = names.length === 1;
  return {
    severity: online === 0 ? "critical" : "warning",
    title: isOne ? `Worker ${formatNames(names)} is gone` : `${names.length} workers are gone: ${formatNames(names)}`,
    detail: `${isOne ? "It was" : "They were"} last seen more than 10 minutes ago. Start ${isOne ? "it" : "them"} again, or revoke ${isOne ? "its token" : "their tokens"} if ${isOne ? "it is" : "they are"} not coming back.`,
  };
}

/** An endpoint is failing if no delivery has succeeded for this long. */
export const WEBHOOK_FAILING_AFTER_MS = DAY_MS;
/** A disabled endpoint is reported for this long. Its owners were notified and may not want it anymore. */
export const WEBHOOK_DISABLED_FOR_MS = 7 * DAY_MS;

/**
 * `hosts`: the hosts of some of the endpoints. `total`: failing endpoints. `disabled`: those of them that the server
 * has disabled.
 */
export type WebhookFacts = { hosts: readonly string[]; total: number; disabled: number };

export function findWebhookProblem({ hosts, total, disabled }: WebhookFacts): FoundProblem | null {
  if (total === 0) return null;
  if (total === 1)
    return {
      severity: "warning",
      title: `The webhook endpoint at ${formatNames(hosts)} fails`,
      detail: `${disabled === 1 ? "Offcut disabled it after too many failures." : "No delivery has succeeded for a day."} Ask the owner to check the receiver.`,
    };
  const noun = disabled === total ? "all" : disabled;
  return {
    severity: "warning",
    title: `${total} webhook endpoints fail`,
    detail: `At ${formatNames([...new Set(hosts)])}, no delivery has succeeded for a day. ${disabled > 0 ? `Offcut disabled ${noun} of them. ` : ""}Ask the owners to check the receivers.`,
  };
}
