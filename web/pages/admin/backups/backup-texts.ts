/** The texts for backups, verifications and drills. */
import type { Schemas } from "../../../app/api";
import { toClock, toNumber } from "../../../app/english";
import { formatBytes, formatCount, formatElapsed, formatTime } from "../../../app/format";

export type BackupRun = Schemas["BackupRun"];
export type BackupList = Schemas["BackupList"];

export const KIND_NAMES: Record<BackupRun["kind"], string> = {
  backup: "Backup",
  verify: "Verification",
  drill: "Drill",
};

export const RUNNING_TEXTS: Record<BackupRun["kind"], string> = {
  backup: "A backup is being written.",
  verify: "A backup is being verified.",
  drill: "A drill is running: the newest backup is restored and tried out.",
};

export const FAILURE_TEXTS: Record<BackupRun["kind"], string> = {
  backup: "The last backup failed",
  verify: "The last verification found a problem",
  drill: "The last drill failed",
};

const DAY_MS = 24 * 3600 * 1000;

/** Returns "today 02:14", "yesterday 02:14", or the day and the time. `now` in milliseconds since 1970. */
export function formatWhen(iso: string, now: number): string {
  const time = new Date(iso);
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const days = Math.round((new Date(time).setHours(0, 0, 0, 0) - midnight) / DAY_MS);
  const name = { "-1": "yesterday", 0: "today", 1: "tomorrow" }[days];
  return name === undefined ? formatTime(time) : `${name} ${toClock(time)}`;
}

/** Returns a text such as "today 02:14, 41 s, 3,912 files" for a completed drill. */
export function formatProof({ started_at, ended_at, files }: BackupRun, now: number): string {
  const parts = [formatWhen(started_at, now)];
  if (ended_at !== null) parts.push(formatElapsed(started_at, ended_at));
  if (files !== null) parts.push(formatCount(files, "file"));
  return parts.join(", ");
}

/**
 * Returns the results of a run, such as "3,912 files read, 12 balances and 240 frames compared". Empty while they are
 * unknown.
 */
export function formatFigures(run: BackupRun): string {
  if (run.files === null) return "";
  if (run.kind === "backup") {
    const copied = (run.copied_bytes ?? 0) === 0 ? "" : `, ${formatBytes(run.copied_bytes!)} of media copied`;
    return formatCount(run.files, "file") + copied;
  }
  const read = run.checked_files === run.files ? formatCount(run.files, "file") : formatPart(run);
  if (run.kind === "verify") return `${read} read`;
  const compared = [formatCount(run.balances ?? 0, "balance")];
  if (run.render_frames !== null) compared.push(formatCount(run.render_frames, "frame"));
  return `${read} read, ${compared.join(" and ")} compared`;
}

const formatPart = ({ checked_files, files }: BackupRun): string =>
  `${toNumber(checked_files ?? 0)} of ${formatCount(files ?? 0, "file")}`;
