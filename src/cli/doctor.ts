/** `offcut doctor`: whether this machine, the data folder and the configuration are fit, and what is in use. */
import { arch, cpus, platform, totalmem } from "node:os";
import { version } from "../../package.json";
import type { Config } from "../config";
import { type DoctorCheck, runDoctorChecks } from "./doctor-checks";
import { formatStorage, readStorage, type UserStorage } from "./doctor-storage";
import { listMaskedSettings } from "./masked-settings";
import { loadCommandConfig, parseCommand, requireNoArguments, runCommand } from "./options";

const HELP = `offcut doctor [settings]

Checks the data folder, the database, ffmpeg and its encoders, the speech models and the port, and prints the effective settings with
secrets masked. Works beside a running server and without one. Ends with 1 when something is broken. --json prints one object.
`;

const MARKS: Record<DoctorCheck["state"], string> = { ok: "ok", warning: "WARN", broken: "FAIL" };

/** Gives the exit code: 0, or 1 when a check finds something broken. */
export function doctorCommand(argv: string[]): Promise<number> {
  return runCommand("doctor", async () => {
    const parsed = parseCommand(argv, {});
    if (parsed.values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    requireNoArguments(parsed);
    const config = await loadCommandConfig(parsed);
    const checks = await runDoctorChecks(config);
    // What is wrong with the database is among the checks.
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
    "settings in effect:",
    ...settings.map(({ key, value }) => `  ${key.padEnd(keyWidth)} = ${JSON.stringify(value)}`),
  ];
}
