/** `offcut doctor`: checks this machine, the data folder and the configuration, and shows the effective settings. */

import { arch, cpus, platform, totalmem } from "node:os";
import { version } from "../../package.json";
import type { Config } from "../config";
import { formatBytes } from "../domain/bytes";
import { escapeControls } from "../lib/control-characters";
import type { WorkerReport } from "../work/cluster/worker-report";
import type { HealthCheck } from "../work/health/checks";
import { runDoctorChecks } from "./doctor-checks";
import { isOfWorker } from "./doctor-head";
import { formatStorage, readStorage, type UserStorage } from "./doctor-storage";
import { formatWorkers, readWorkerReport } from "./doctor-workers";
import { listMaskedSettings, type MaskedSetting } from "./masked-settings";
import { runPlainCommand } from "./options";
import { print } from "./print";

const HELP = `Usage: offcut doctor [SETTINGS] [--json]

Checks the data folder, media folder, bundled assets, database, ffmpeg and its encoders, sandbox, speech models, port, webhooks, billing, mail server,
Redis and workers, and prints the effective settings with secrets masked. With the settings of a worker (head, token), it checks a worker's requirements, and asks the head
whether it accepts the token and this version, without joining. Works with and without a running server. Exits with 1 when a check fails.

  --json    Print the report as a JSON object
`;

const MARKS: Record<HealthCheck["state"], string> = { ok: "ok", warning: "WARN", broken: "FAIL" };

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

function readMachine() {
  return { platform: platform(), arch: arch(), processors: cpus().length, memory_bytes: totalmem() };
}

/** `storage` is null on a worker. `workers` is also null if the database cannot be read. */
type DoctorReport = { checks: HealthCheck[]; storage: UserStorage[] | null; workers: WorkerReport | null };

/** Settings that `offcut worker` reads. */
const WORKER_SETTINGS = [
  ...["data_dir", "ffmpeg", "encoder", "sandbox", "disk_reserve_bytes", "redis_url", "ca", "models_url"],
  ...["speech_idle_seconds", "head", "token", "redis", "jobs", "slots", "cache_bytes"],
];

const listSettings = (config: Config): MaskedSetting[] =>
  listMaskedSettings(config).filter(({ key }) => !isOfWorker(config) || WORKER_SETTINGS.includes(key));

function formatJson(config: Config, { checks, storage, workers }: DoctorReport) {
  const settings = Object.fromEntries(listSettings(config).map(({ key, value }) => [key, value]));
  const report = { version, machine: readMachine(), checks };
  return storage === null ? { ...report, settings } : { ...report, storage, workers: workers?.workers ?? [], settings };
}

function formatText(config: Config, { checks, storage, workers }: DoctorReport): string[] {
  const { processors, memory_bytes } = readMachine();
  const width = Math.max(...checks.map((check) => check.name.length));
  const settings = listSettings(config);
  const keyWidth = Math.max(...settings.map(({ key }) => key.length));
  return [
    `Offcut ${version} on ${platform()} ${arch()}, ${processors} processors, ${formatBytes(memory_bytes)} memory`,
    "",
    ...checks.map(({ name, state, about }) => `${MARKS[state].padEnd(4)}  ${name.padEnd(width)}  ${about}`),
    "",
    ...(storage === null ? [] : [...formatStorage(config, storage), ""]),
    ...(workers === null ? [] : formatWorkers(workers)),
    "Effective settings:",
    ...settings.map(({ key, value }) => `  ${key.padEnd(keyWidth)} = ${JSON.stringify(value)}`),
  ];
}
