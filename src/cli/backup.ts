/** `offcut backup`: writes, verifies and tests backups. */
import { resolve } from "node:path";
import type { Config } from "../config";
import { formatBytes } from "../domain/bytes";
import { isOffsite, parseOffsiteUrl } from "../domain/offsite";
import type { VerifyReport } from "../work/backup/backup-folder";
import type { BackupReport } from "../work/backup/create-backup";
import type { DrillReport } from "../work/backup/drill";
import { runAdminCommand } from "./admin";
import {
  flagOptions,
  loadCommandConfig,
  type ParsedCommand,
  rejectExtra,
  requireOption,
  runCommand,
  textOptions,
  UsageError,
} from "./options";
import { print, printError } from "./print";

const HELP = `Usage: offcut backup FOLDER [--no-media]
       offcut backup s3://BUCKET/PREFIX [--no-media]
       offcut backup --verify BACKUP [--sample PERCENT]
       offcut backup drill [FOLDER | BACKUP]

Writes a backup to FOLDER/offcut-TIME, with or without a running server, and verifies it. Media that did not change since the
previous backup in FOLDER is hard-linked to it and needs no space. The backup contains all secrets: keep it as safe as the data folder.

A backup in an S3 bucket is encrypted, and only what the bucket lacks is sent. The first one prints the recovery key, without which nobody can
restore it. The server reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL from its environment.

offcut backup drill proves that a backup can be restored: it restores the newest one in FOLDER (default: backup_to) to a scratch folder, starts this
program there, and checks every file, every balance and a render. Exit code 1: a problem was found. The server does the same after each nightly backup.

  --no-media          Back up the database and the secrets only
  --verify BACKUP     Read an existing backup, such as FOLDER/offcut-TIME or s3://BUCKET/PREFIX (its newest one), and compare it with its
                      manifest. Exit code 1: it is damaged.
  --sample PERCENT    Share of the media files to read, such as 5%. Default: 100%. Sizes and the database are always checked.
  --json              Print a JSON object

offcut restore puts a backup back.
`;

const OPTIONS = { ...flagOptions("no-media"), ...textOptions("verify", "sample") };

export function backupCommand(argv: string[]): Promise<number> {
  return runCommand({ name: "backup", help: HELP, options: OPTIONS, needs: "argument" }, argv, (parsed) => {
    if (parsed.positionals[0] === "drill") return drill(parsed);
    return parsed.values.verify === undefined ? writeBackup(parsed) : verifyBackup(parsed);
  });
}

async function writeBackup(parsed: ParsedCommand): Promise<number> {
  const [folder, extra] = parsed.positionals;
  if (!folder) throw new UsageError("Missing backup folder.");
  rejectExtra(extra);
  if (parsed.values.sample !== undefined) throw new UsageError("--sample goes with --verify.");
  const config = await loadCommandConfig(parsed);
  const request = { target: toAbsolute(folder), media: parsed.values["no-media"] !== true };
  if (isOffsite(folder)) await showNewKey(config, parsed.values.json === true);
  const report = (await runAdminCommand(config, "backup create", request)) as BackupReport;
  print(parsed.values.json ? `${JSON.stringify(report)}\n` : formatReport(report));
  return 0;
}

/** Returns an absolute path, because the server may run in another folder, or the URL of a bucket. */
function toAbsolute(path: string): string {
  if (!isOffsite(path)) return resolve(path);
  try {
    parseOffsiteUrl(path);
  } catch (error) {
    throw new UsageError(`The URL of the bucket ${(error as Error).message}`);
  }
  return path;
}

/** Runs before the first off-site backup: afterward the key is only in the data folder, which may be lost. */
async function showNewKey(config: Config, isJson: boolean): Promise<void> {
  const { recovery_key: key } = (await runAdminCommand(config, "backup key create", {})) as {
    recovery_key: string | null;
  };
  if (key === null) return;
  const lines = [
    "Recovery key of the off-site backups, shown only now:",
    "",
    `    ${key}`,
    "",
    "Store it outside of this server: without it, these backups cannot be restored.",
    "",
  ];
  // Standard output contains the report as JSON.
  if (isJson) for (const line of lines) printError(line);
  else print(`${lines.join("\n")}\n`);
}

function formatReport(report: BackupReport): string {
  const ways = describeMedia(report);
  const lines = [
    `Backed up ${count(report.files)} (${formatBytes(report.bytes)}) to ${report.path} in ${(report.duration_ms / 1000).toFixed(1)} s.`,
    ...(ways.length > 0 ? [`Media: ${ways.join(", ")}.`] : []),
    ...report.notes,
    ...report.missing.map((path) => `WARN ${path} is missing in the data folder.`),
  ];
  return `${lines.join("\n")}\n`;
}

function describeMedia(report: BackupReport): string[] {
  const [kept, copied] = isOffsite(report.path)
    ? ["in the bucket already", "sent"]
    : ["linked to the previous backup", "copied"];
  return [
    ...(report.linked_files > 0 ? [`${count(report.linked_files)} ${kept}`] : []),
    // Only backups in folders share blocks.
    ...(report.shared_files > 0 ? [`${count(report.shared_files)} sharing blocks with the data folder`] : []),
    ...(report.copied_files > 0
      ? [`${count(report.copied_files)} ${copied} (${formatBytes(report.copied_bytes)})`]
      : []),
  ];
}

const count = (files: number): string => `${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}`;

async function drill(parsed: ParsedCommand): Promise<number> {
  const [, folder, extra] = parsed.positionals;
  rejectExtra(extra);
  const config = await loadCommandConfig(parsed);
  const path = folder ?? config.backupTo;
  if (path === null) throw new UsageError("Missing backup folder: name one, or set backup_to.");
  const report = (await runAdminCommand(config, "backup drill", { path: toAbsolute(path) })) as DrillReport;
  print(parsed.values.json ? `${JSON.stringify(report)}\n` : formatDrill(report));
  return report.problems.length === 0 ? 0 : 1;
}

function formatDrill(report: DrillReport): string {
  const { problems, path, files, checked_files, balances, render_frames: frames } = report;
  const seconds = (report.duration_ms / 1000).toFixed(1);
  const read = checked_files === files ? "all read" : `${checked_files.toLocaleString("en-US")} read`;
  const rendered = frames === null ? "no render to compare" : `${frames.toLocaleString("en-US")} frames rendered again`;
  const result = problems.length === 0 ? "can be restored" : "cannot be restored as it is";
  return [
    ...problems.map((problem) => `FAIL ${problem}`),
    `${path} ${result}: ${count(files)}, ${read}, ${balances} ${balances === 1 ? "balance" : "balances"}, ${rendered}, in ${seconds} s.\n`,
  ].join("\n");
}

async function verifyBackup(parsed: ParsedCommand): Promise<number> {
  const [extra] = parsed.positionals;
  rejectExtra(extra);
  const config = await loadCommandConfig(parsed);
  const request = {
    path: toAbsolute(requireOption(parsed.values.verify, "--verify")),
    sample: parseSample(parsed.values.sample),
  };
  const report = (await runAdminCommand(config, "backup verify", request)) as VerifyReport;
  const { damaged } = report;
  if (parsed.values.json) print(`${JSON.stringify(report)}\n`);
  else {
    for (const { path, problem } of damaged) print(`FAIL ${path} ${problem}\n`);
    const result = damaged.length === 0 ? "is intact" : `has ${count(damaged.length)} with damage`;
    print(`${report.path} ${result}: ${count(report.checked_files)} of ${count(report.files)} read.\n`);
    for (const note of report.notes) print(`${note}\n`);
  }
  return damaged.length === 0 ? 0 : 1;
}

function parseSample(value: string | boolean | undefined): number {
  if (value === undefined) return 1;
  const percent = /^\d{1,3}(?:\.\d{1,3})?%?$/.test(String(value)) ? Number.parseFloat(String(value)) : Number.NaN;
  if (!(percent > 0 && percent <= 100)) throw new UsageError("--sample must be from 0 to 100%, such as 5%.");
  return percent / 100;
}
