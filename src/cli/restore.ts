/** `offcut restore`: puts a backup in the place of the data folder. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { requireFolderLock } from "../data-folder";
import { MANIFEST_NAME } from "../domain/backup";
import { formatBytes } from "../domain/bytes";
import { parseIsoTime } from "../domain/iso-time";
import { openAssets } from "../lib/assets";
import { type Backup, findNewestBackup, readBackup } from "../work/backup/backup-folder";
import { type RestoreReport, restoreBackup } from "../work/backup/restore-backup";
import { loadCommandConfig, parseCommand, requireOption, runCommand, UsageError } from "./options";
import { print } from "./print";

const HELP = `Usage: offcut restore BACKUP [--data-dir FOLDER] [--skip-damaged-media]
       offcut restore FOLDER [--at TIME]

Puts a backup in the place of the data folder. The server must be stopped. The backup is verified first; then the data folder is renamed, and
never changed or deleted. Users sign in again; API keys stay.

  BACKUP                 A folder that offcut backup has written, such as /backup/offcut-2027-01-31T02-00-00Z
  FOLDER                 A folder with backups: the newest one is restored
  --at TIME              Restore the newest backup made until this ISO 8601 time (UTC without an offset)
  --skip-damaged-media   Restore a backup with damaged media files without them, and list them
  --data-dir FOLDER      Data folder to create or replace
  --json                 Print a JSON object
`;

const OPTIONS = { at: { type: "string" }, "skip-damaged-media": { type: "boolean" } } as const;

/** Returns the exit code. */
export function restoreCommand(argv: string[]): Promise<number> {
  return runCommand("restore", async () => {
    const parsed = parseCommand(argv, OPTIONS);
    const { values, positionals } = parsed;
    if (values.help || argv.length === 0) {
      print(HELP);
      return values.help ? 0 : 2;
    }
    const [from, extra] = positionals;
    if (!from) throw new UsageError("Missing backup.");
    if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
    const until = values.at === undefined ? null : parseIsoTime(requireOption(values.at, "--at"));
    if (values.at !== undefined && until === null)
      throw new UsageError("--at must be an ISO 8601 date or time, such as 2027-01-31T14:00Z.");
    const { dataDir } = await loadCommandConfig(parsed);
    const backup = await findBackup(from, until);
    const lock = existsSync(dataDir) ? requireFolderLock(resolve(dataDir)) : null;
    const interrupted = new AbortController();
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.once(signal, () => interrupted.abort(new Error("Interrupted. The data folder was not changed.")));
    try {
      const report = await restoreBackup(
        backup,
        {
          dataDir,
          skipDamagedMedia: values["skip-damaged-media"] === true,
          now: Date.now(),
          openDraft: async (draft) => void (await openAssets({ dataDir: draft })),
        },
        interrupted.signal,
      );
      print(values.json ? `${JSON.stringify(report)}\n` : formatReport(report));
      return 0;
    } finally {
      lock?.release();
    }
  });
}

async function findBackup(from: string, until: number | null): Promise<Backup> {
  if (existsSync(join(from, MANIFEST_NAME))) {
    if (until !== null) throw new UsageError("--at needs a folder with backups, not a single backup.");
    return readBackup(from);
  }
  const backup = await findNewestBackup(resolve(from), until === null ? {} : { until });
  if (backup === null)
    throw new Error(`No backup in ${resolve(from)}${until === null ? "" : ` until ${new Date(until).toISOString()}`}.`);
  return backup;
}

function formatReport(report: RestoreReport): string {
  const lines = [
    `Restored ${report.from} of ${report.created_at} to ${report.data_dir}: ${report.files} files, ${formatBytes(report.bytes)}.`,
    ...report.skipped.map(({ path, problem }) => `WARN Not restored: ${path} ${problem}.`),
    ...(report.previous === null
      ? []
      : [`The previous data folder is ${report.previous}. Delete it when everything works.`]),
    "Next: start the server and run offcut doctor. Users sign in again; API keys stay.",
  ];
  return `${lines.join("\n")}\n`;
}
