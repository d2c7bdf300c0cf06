/** `offcut support`: writes an archive for bug reports. It may be published, so it has no names, texts or media. */
import { release } from "node:os";
import { resolve } from "node:path";
import { version } from "../../package.json";
import type { Config } from "../config";
import { TABLE_NAMES } from "../config/tables";
import { formatBytes } from "../domain/bytes";
import { anonymizeText, prepareNames } from "../lib/anonymize";
import { SECRET_FILE_MODE, writeAtomic } from "../lib/atomic-file";
import { packTexts } from "../lib/zip-bytes";
import type { HealthCheck } from "../work/health/checks";
import { listConfigNames, type SupportReport } from "../work/health/support-report";
import { runAdminCommand } from "./admin";
import { readMachine } from "./doctor";
import { formatCheck, runDoctorChecks } from "./doctor-checks";
import { isOfWorker } from "./doctor-head";
import { runPlainCommand, UsageError } from "./options";
import { print } from "./print";
import { listSettings } from "./settings";

const HELP = `Usage: offcut support [-o FILE] [SETTINGS]

Writes a ZIP archive for a bug report: the checks of offcut doctor, the settings, the last 2,000 lines of the log of a running server, the schema of the
database and row counts, recent alerts and backups, versions and disk figures. Names of users, projects and files, addresses, URLs, paths, texts and secrets are omitted.
Works with and without a running server.

  -o, --output FILE  Default: offcut-support-TIME.zip in this folder
  --json             Print a JSON object
`;

export function supportCommand(argv: string[]): Promise<number> {
  const options = { output: { type: "string", short: "o" } } as const;
  return runPlainCommand({ name: "support", help: HELP, options }, argv, async (config, parsed) => {
    const { output, json } = parsed.values;
    if (output === "") throw new UsageError("--output needs a file name.");
    const files = await collectFiles(config);
    const archive = await packTexts(files, Date.now());
    const path = resolve(typeof output === "string" ? output : `offcut-support-${formatNow()}.zip`);
    await writeAtomic(path, archive, SECRET_FILE_MODE);
    const logLines = files.find(({ name }) => name === LOG_NAME)?.lines ?? null;
    const report = { path, bytes: archive.byteLength, files: files.map(({ name }) => name), log_lines: logLines };
    const log = logLines === null ? "no log, because no server is running" : `${logLines} log lines`;
    print(json ? `${JSON.stringify(report)}\n` : `Wrote ${path} (${formatBytes(archive.byteLength)}, ${log}).\n`);
    return 0;
  });
}

/** `20270131T020000Z`. */
const formatNow = (): string => new Date().toISOString().replace(/[-:]|\.\d+/g, "");

const LOG_NAME = "log.jsonl";

/** `lines` is the number of lines in the file, if relevant. */
type SupportFile = { name: string; text: string; lines?: number };

async function collectFiles(config: Config): Promise<SupportFile[]> {
  const checks = await runDoctorChecks(config);
  const texts = checks.map(({ about }) => about);
  // A damaged database is one reason for a bug report. Workers have no database.
  const found = isOfWorker(config)
    ? { error: "This is a worker." }
    : await runAdminCommand(config, "support read", { texts }).then(
        (value) => ({ report: value as SupportReport }),
        (error: Error) => ({ error: anonymizeText(error.message, prepareNames(listConfigNames(config))) }),
      );
  const report = "report" in found ? found.report : null;
  const shownTexts = report?.texts ?? texts.map((text) => anonymizeText(text, prepareNames(listConfigNames(config))));
  const summary = {
    offcut: version,
    bun: Bun.version,
    machine: { ...readMachine(), release: release() },
    created_at: new Date().toISOString(),
    error: "error" in found ? found.error : null,
    disk: report?.disk ?? null,
    database: report && {
      size_bytes: report.database.size_bytes,
      migrations: report.database.migrations,
      rows: report.database.tables,
    },
    alerts: report?.alerts ?? null,
    backup_runs: report?.backup_runs ?? null,
  };
  const log = report?.log ?? null;
  return [
    { name: "README.txt", text: describe(log !== null) },
    { name: "summary.json", text: toJson(summary) },
    { name: "doctor.txt", text: formatChecks(checks, shownTexts) },
    { name: "settings.json", text: toJson(summarizeSettings(config)) },
    ...(report === null ? [] : [{ name: "schema.sql", text: `${report.database.schema.join(";\n\n")};\n` }]),
    ...(log === null
      ? []
      : [{ name: LOG_NAME, text: log.map((line) => `${JSON.stringify(line)}\n`).join(""), lines: log.length }]),
  ];
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const describe = (hasLog: boolean): string =>
  [
    `Offcut ${version}: archive for a bug report.`,
    "",
    "Names, texts, addresses, URLs, paths and secrets were replaced by … or left out. Look through the files before you publish them.",
    ...(hasLog ? [] : ["There is no log, because no server was running."]),
    "",
  ].join("\n");

const formatChecks = (checks: readonly HealthCheck[], texts: readonly string[]): string =>
  checks.map((check, n) => `${formatCheck({ ...check, about: texts[n] ?? "" }, 16)}\n`).join("");

/** Settings whose text is a word of this program or a time of day. */
const WORD_SETTINGS: readonly string[] = ["previews", "sandbox", "signup", "backup_at", "jobs"];

/** Numbers and fixed words are shown. For other settings, only whether they are set. */
function summarizeSettings(config: Config): Record<string, unknown> {
  const settings = listSettings(config).map(({ key, value }) => [key, summarize(key, value)]);
  const tables = TABLE_NAMES.map((key) => [key, `${config[key].length} entries`]);
  return Object.fromEntries([...settings, ...tables]);
}

function summarize(key: string, value: unknown): unknown {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  if (WORD_SETTINGS.includes(key)) return value;
  return Array.isArray(value) ? `${value.length} entries` : "set";
}
