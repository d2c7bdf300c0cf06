/** `offcut doctor`: checks this machine, the data folder and the configuration, and shows the effective settings. */

import { arch, cpus, platform, totalmem } from "node:os";
import { version } from "../../package.json";
import type { Config } from "../config";
import { formatBytes } from "../domain/bytes";
import { escapeControls } from "../lib/control-characters";
import type { WorkerReport } from "../work/cluster/worker-report";
import type { HealthCheck } from "../work/health/checks";
import { runAdminCommand } from "./admin";
import { formatCheck, readWorkerReport, runDoctorChecks } from "./doctor-checks";
import { isOfWorker } from "./doctor-head";
import { runPlainCommand } from "./options";
import { print } from "./print";
import { type ListedSetting, listMaskedSettings } from "./settings";
import { formatMinute, formatTextTable } from "./text-table";

const HELP = `Usage: offcut doctor [SETTINGS] [--json]

Checks the data folder, media folder, bundled assets, database, ffmpeg and its encoders, sandbox, speech models, port, webhooks, billing, mail server,
Redis and workers, and prints the effective settings with secrets masked. With the settings of a worker (head, token), it checks a worker's requirements, and asks the head
whether it accepts the token and this version, without joining. Works with and without a running server. Exits with 1 when a check fails.

  --json    Print the report as a JSON object
`;

/** Returns the exit code: 0, or 1 if a check fails. */
export function doctorCommand(argv: string[]): Promise<number> {
  return runPlainCommand({ name: "doctor", help: HELP }, argv, async (config, parsed) => {
    const checks = await runDoctorChecks(config);
    // A problem with the database is reported by its own check.
    const storage = isOfWorker(config) ? null : await readStorage(config).catch(() => []);
    const workers = isOfWorker(config) ? null : await readWorkerReport(config).catch(() => null);
    const report = { checks, storage, workers };
    if (parsed.values.json) print(`${JSON.stringify(formatJson(config, report))}\n`);
    else print(`${formatText(config, report).map(escapeControls).join("\n")}\n`);
    return checks.some((check) => check.state === "broken") ? 1 : 0;
  });
}

export function readMachine() {
  return { platform: platform(), arch: arch(), processors: cpus().length, memory_bytes: totalmem() };
}

/** `storage` is null on a worker. `workers` is also null if the database cannot be read. */
type DoctorReport = { checks: HealthCheck[]; storage: UserStorage[] | null; workers: WorkerReport | null };

/** Settings that `offcut worker` reads. */
const WORKER_SETTINGS = [
  ...["data_dir", "ffmpeg", "encoder", "sandbox", "disk_reserve_bytes", "redis_url", "ca", "models_url"],
  ...["speech_idle_seconds", "head", "token", "redis", "jobs", "slots", "cache_bytes"],
];

const listShownSettings = (config: Config): ListedSetting[] =>
  listMaskedSettings(config).filter(({ key }) => !isOfWorker(config) || WORKER_SETTINGS.includes(key));

function formatJson(config: Config, { checks, storage, workers }: DoctorReport) {
  const settings = Object.fromEntries(listShownSettings(config).map(({ key, value }) => [key, value]));
  const report = { version, machine: readMachine(), checks };
  return storage === null ? { ...report, settings } : { ...report, storage, workers: workers?.workers ?? [], settings };
}

function formatText(config: Config, { checks, storage, workers }: DoctorReport): string[] {
  const { processors, memory_bytes } = readMachine();
  const width = Math.max(...checks.map((check) => check.name.length));
  const settings = listShownSettings(config);
  const keyWidth = Math.max(...settings.map(({ key }) => key.length));
  return [
    `Offcut ${version} on ${platform()} ${arch()}, ${processors} processors, ${formatBytes(memory_bytes)} memory`,
    "",
    ...checks.map((check) => formatCheck(check, width)),
    "",
    ...(storage === null ? [] : [...formatStorage(config, storage), ""]),
    ...(workers === null ? [] : formatWorkers(workers)),
    "Effective settings:",
    ...settings.map(({ key, value }) => `  ${key.padEnd(keyWidth)} = ${JSON.stringify(value)}`),
  ];
}

/** The storage of a user: sources, derivatives, finished renders, and unfinished uploads with their full length. */
type UserStorage = { email: string; used_bytes: number };

/** Maximum number of users in the text report. `--json` lists all. */
const MAX_SHOWN_USERS = 20;

/** Returns the storage used by each user, largest first, from a running server or else from the database. */
const readStorage = async (config: Config): Promise<UserStorage[]> =>
  (await runAdminCommand(config, "storage list", {})) as UserStorage[];

function formatStorage(config: Config, users: readonly UserStorage[]): string[] {
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

/** Formats the workers as lines of the report. Returns an empty list without workers. */
function formatWorkers({ workers }: WorkerReport): string[] {
  if (workers.length === 0) return [];
  const table = formatTextTable([
    ["NAME", "STATE", "VERSION", "JOBS", "SLOTS", "RUNS", "SPEED", "LAST SEEN"],
    ...workers.map((worker) => [
      worker.name,
      worker.state,
      worker.version,
      worker.jobs.join(","),
      String(worker.slots),
      String(worker.running),
      worker.speed === null ? "-" : `${worker.speed.toFixed(1)}x`,
      formatMinute(worker.last_seen_at),
    ]),
  ]);
  return ["Workers:", ...table.trimEnd().replace(/^/gm, "  ").split("\n"), ""];
}
