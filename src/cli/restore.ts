/** `offcut restore`: replaces the data folder and its media folder with a backup, or with an earlier hour. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { discardFolder } from "../blobs/backup-files";
import { completeMediaRestore, completeRestore } from "../blobs/restored-folder";
import type { Config } from "../config";
import { requireFolderLock } from "../data-folder";
import { formatBytes } from "../domain/bytes";
import { parseIsoTime } from "../domain/iso-time";
import { isOffsite } from "../domain/offsite";
import { measureAssets, openAssets } from "../lib/assets";
import { requireLocalFolder } from "../media-folder";
import { downloadSource } from "../work/backup/offsite/download-source";
import { type RestoreReport, restoreState } from "../work/backup/restore-backup";
import { getBackupSource, getLiveSource } from "../work/backup/restore-source";
import {
  abortWhenInterrupted,
  flagOptions,
  loadCommandConfig,
  requireOption,
  runCommand,
  textOptions,
  UsageError,
} from "./options";
import { print } from "./print";
import { promptHidden } from "./prompt";

const HELP = `Usage: offcut restore FROM [--at TIME] [--data-dir FOLDER] [--skip-damaged-media]
       offcut restore --at TIME [--data-dir FOLDER] [--skip-damaged-media]

Replaces the data folder and, with media_dir, the media folder with a backup or an earlier hour. The server must be stopped. Everything is
verified first; then the folders are renamed, and never changed or deleted. Users sign in again; API keys stay.

  FROM                   A folder with backups, such as /backup, or one of them, such as /backup/offcut-2027-01-31T02-00-00Z. Without --at, the
                         newest backup is restored. s3://BUCKET/PREFIX is an S3 bucket: asks for the recovery key. Without FROM, the data folder itself, which has its last 48 hours
  --key-file FILE        Read the recovery key from a file. Default: OFFCUT_BACKUP_KEY or the terminal
  --at TIME              Restore the newest state until this ISO 8601 time (UTC without an offset): a backup or an hourly snapshot in it,
                         with the files that were deleted since
  --skip-damaged-media   Restore without media files that are damaged or missing, and list them
  --data-dir FOLDER      Data folder to create or replace
  --media-dir FOLDER     Media folder to create or replace. Default: the data folder
  --json                 Print a JSON object
`;

const OPTIONS = { ...textOptions("at", "key-file"), ...flagOptions("skip-damaged-media") };

export function restoreCommand(argv: string[]): Promise<number> {
  const command = { name: "restore", help: HELP, options: OPTIONS, takes: 1, needs: "argument" } as const;
  return runCommand(command, argv, async (parsed) => {
    const { values, positionals } = parsed;
    const [from] = positionals;
    const at = values.at === undefined ? null : parseIsoTime(requireOption(values.at, "--at"));
    if (values.at !== undefined && at === null)
      throw new UsageError("--at must be an ISO 8601 date or time, such as 2027-01-31T14:00Z.");
    const config = await loadCommandConfig(parsed);
    const { dataDir, mediaDir } = config;
    const key = from !== undefined && isOffsite(from) ? await readKey(config, values["key-file"]) : null;
    requireLocalFolder(dataDir);
    completeRestore(resolve(dataDir));
    if (existsSync(dataDir) && !statSync(dataDir).isDirectory())
      throw new UsageError(`Data folder ${dataDir} is not a folder.`);
    using _lock = existsSync(dataDir) ? requireFolderLock(resolve(dataDir)) : null;
    const interrupted = abortWhenInterrupted("Interrupted. The data folder was not changed.");
    const downloads = `${resolve(dataDir)}.downloading`;
    try {
      if (mediaDir !== null) await completeMediaRestore(resolve(dataDir), resolve(mediaDir));
      const options = {
        dataDir,
        mediaDir,
        skipDamagedMedia: values["skip-damaged-media"] === true,
        now: Date.now(),
        draftBytes: measureAssets(),
        openDraft: async (draft: string) => void (await openAssets({ dataDir: draft })),
      };
      const source =
        from === undefined || key === null
          ? await getSource(from, at, { dataDir, mediaDir })
          : await downloadSource(
              from,
              { env: process.env, recoveryKey: () => key, saveRecoveryKey: async () => {}, scratch: downloads },
              { at, folder: downloads, skipDamagedMedia: options.skipDamagedMedia },
              interrupted,
            );
      const report = await restoreState(source, options, interrupted);
      print(
        values.json ? `${JSON.stringify(report)}\n` : formatReport(report, source.backup?.manifest.has_media ?? true),
      );
      return 0;
    } finally {
      if (key !== null) await discardFolder(downloads);
    }
  });
}

async function readKey({ backupKey }: Config, file: string | boolean | undefined): Promise<string> {
  if (file !== undefined) return Bun.file(requireOption(file, "--key-file")).text();
  if (backupKey !== null) return backupKey;
  if (!process.stdin.isTTY) throw new UsageError("Missing recovery key. Use --key-file, or set OFFCUT_BACKUP_KEY.");
  return promptHidden("Recovery key: ");
}

function getSource(
  from: string | undefined,
  at: number | null,
  { dataDir, mediaDir }: { dataDir: string; mediaDir: string | null },
) {
  if (from !== undefined) return getBackupSource(resolve(from), at);
  if (at === null) throw new UsageError("Missing FROM or --at.");
  return getLiveSource(dataDir, mediaDir, at);
}

function formatReport(report: RestoreReport, hasMedia: boolean): string {
  const lines = [
    `Restored ${report.from} of ${report.created_at} to ${report.data_dir}: ${report.files} files, ${formatBytes(report.bytes)}.`,
    ...(hasMedia ? [] : ["WARN This backup has no media."]),
    ...report.skipped.map(({ path, problem }) => `WARN Not restored: ${path} ${problem}.`),
    ...report.missing.map((path) => `WARN Not in the backup: ${path} did not exist when it was made.`),
    ...(report.media_dir === null ? [] : [`The media is in ${report.media_dir}.`]),
    ...(report.previous === null
      ? []
      : [`The previous data folder is ${report.previous}. Delete it when everything works.`]),
    ...(report.previous_media === null
      ? []
      : [`The previous media folder is ${report.previous_media}. Delete it when everything works.`]),
    "Next: start the server and run offcut doctor. Users sign in again; API keys stay.",
  ];
  return `${lines.join("\n")}\n`;
}
