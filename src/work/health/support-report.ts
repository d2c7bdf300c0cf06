/** The server's part of a bug report: no names, texts, addresses or media. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config";
import { DATABASE_NAME } from "../../domain/backup";
import { anonymizeLogLine, anonymizeText, type KnownNames, prepareNames } from "../../lib/anonymize";
import { listLatestAlerts } from "../../store/alerts";
import { listBackupRuns } from "../../store/backup-runs";
import { readDatabaseSummary } from "../../store/database-file";
import { readKnownNames } from "../../store/names";
import { readDatabaseBytes } from "../../store/storage";
import type { CoreNeeds } from "../needs";
import { readDisk } from "./system-health";

const MAX_ALERTS = 100;
const MAX_BACKUP_RUNS = 50;
/** Lines after which other work of the server can run. */
const LINES_PER_TURN = 100;

/**
 * Reads the report. `texts`: sentences about this server, such as results of checks, which get no names. `log` null: no
 * server is running.
 */
export async function readSupportReport(services: CoreNeeds, texts: readonly string[]) {
  const { config, folders, log, store } = services;
  const names = prepareNames([...listConfigNames(config), ...(await readKnownNames(store.read)).flatMap(toNames)]);
  const lines = log.recent();
  const disk = await readDisk(services);
  const alerts = await listLatestAlerts(store.read, MAX_ALERTS);
  const backupRuns = await listBackupRuns(store.read, {}, { limit: MAX_BACKUP_RUNS, offset: 0 });
  return {
    texts: texts.map((text) => anonymizeText(text, names)),
    log: lines.length === 0 ? null : await anonymizeLog(lines, names),
    database: {
      ...(await readDatabaseSummary(join(folders.root, DATABASE_NAME))),
      size_bytes: await readDatabaseBytes(store.read),
    },
    disk: { free_bytes: disk.freeBytes, total_bytes: disk.totalBytes, reserve_bytes: disk.reserveBytes },
    alerts: alerts.map(({ problem, severity, found_at, reported_at, resolved_at }) => ({
      problem,
      severity,
      found_at,
      reported_at,
      resolved_at,
    })),
    // Without paths.
    backup_runs: backupRuns.rows.map(({ kind, state, started_at, ended_at, figures, error }) => ({
      kind,
      state,
      started_at,
      ended_at,
      figures,
      error: error === null ? null : anonymizeText(error, names),
    })),
  };
}

export type SupportReport = Awaited<ReturnType<typeof readSupportReport>>;

async function anonymizeLog(lines: readonly string[], names: KnownNames): Promise<Record<string, unknown>[]> {
  const shown: Record<string, unknown>[] = [];
  for (const [n, line] of lines.entries()) {
    if (n % LINES_PER_TURN === 0) await Bun.sleep(0);
    const found = anonymizeLogLine(line, names);
    if (found !== null) shown.push(found);
  }
  return shown;
}

/** Returns the name, and its host if it is a URL. */
function toNames(name: string): string[] {
  if (!URL.canParse(name)) return [name];
  const { host, hostname } = new URL(name);
  return [name, host, hostname];
}

/** Lists the texts of the configuration, and the name of this machine. */
export const listConfigNames = (config: Config): string[] =>
  [hostname(), ...listStrings(config)].filter((text) => !FIXED_WORDS.includes(text)).flatMap(toNames);

/** Setting values that are not names. */
const FIXED_WORDS: readonly string[] = [
  ...[
    "after_preparation",
    "on_opening",
    "never",
    "auto",
    "require",
    "off",
    "closed",
    "open",
    "prepare",
    "cut",
    "render",
  ],
  ...["pack", "subscription", "month", "year", "localhost"],
];

const listStrings = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listStrings) : [];
};
