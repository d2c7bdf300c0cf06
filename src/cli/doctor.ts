/** `offcut doctor`: checks this machine, the data folder and the configuration, and shows what is in use. */
import { arch, cpus, platform, totalmem } from "node:os";
import { version } from "../../package.json";
import type { Config } from "../config";
import { type DoctorCheck, runDoctorChecks } from "./doctor-checks";
import { formatStorage, readStorage, type UserStorage } from "./doctor-storage";
import { listMaskedSettings } from "./masked-settings";
import { runPlainCommand } from "./options";

const HELP = `Usage: offcut doctor [SETTINGS] [--json]

Checks the data folder, bundled assets, database, ffmpeg and its encoders, sandbox, speech models, port, webhooks and mail server, and prints
the effective settings with secrets masked. Works with and without a running server. Exits with 1 when a check fails.

  --json    Print the report as a JSON object
`;

const MARKS: Record<DoctorCheck["state"], string> = { ok: "ok", warning: "WARN", broken: "FAIL" };

/** Returns the exit code: 0, or 1 when a check fails. */
export function doctorCommand(argv: string[]): Promise<number> {
  return runPlainCommand({ name: "doctor", help: HELP }, argv, async (config, parsed) => {
    const checks = await runDoctorChecks(config);
    // A problem with the database is reported by its check.
    const storage = await readStorage(config).catch(() => []);
    if (parsed.values.json) process.stdout.write(`${JSON.stringify(formatJson(config, checks, storage))}\n`);
    else process.stdout.write(`${formatText(config, checks, storage).join("\n")}\n`);
    return checks.some((check) => check.state === "broken") ? 1 : 0;
  });
}

function readMachine() {
  return { platform: platform(), arch: arch(), processors: cpus().length, memory_bytes: totalmem() };
}

function formatJson(config: Config, checks: DoctorCheck[], storage: UserStorage[]) {
  const settings = Object.fromEntries(listMaskedSettings(config).map(({ key, value }) => [key, value]));
  return { version, machine: readMachine(), checks, storage, settings };
}

function formatText(config: Config, checks: DoctorCheck[], storage: UserStorage[]): string[] {
  const { processors, memory_bytes } = readMachine();
  const width = Math.max(...checks.map((check) => check.name.length));
  const settings = listMaskedSettings(config);
  const keyWidth = Math.max(...settings.map(({ key }) => key.length));
  return [
    `Offcut ${version} on ${platform()} ${arch()}, ${processors} processors, ${(memory_bytes / 2 ** 30).toFixed(1)} GiB memory`,
    "",
    ...checks.map(({ name, state, about }) => `${MARKS[state].padEnd(4)}  ${name.padEnd(width)}  ${about}`),
    "",
    ...formatStorage(config, storage),
    "",
    "Effective settings:",
    ...settings.map(({ key, value }) => `  ${key.padEnd(keyWidth)} = ${JSON.stringify(value)}`),
  ];
}
