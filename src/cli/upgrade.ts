/** `offcut upgrade`: tests a new version on a copy of the database, and installs it. */
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { version } from "../../package.json";
import { type Config, configFlags } from "../config";
import { getControlSocketPath, hasValidSocketPath, requireFolderLock } from "../data-folder";
import { compareVersions } from "../domain/versions";
import { embeddedFiles } from "../lib/embedded-files";
import { hashFile } from "../lib/hash";
import { readSmallFile } from "../lib/minisign";
import { isExecutableFile } from "../lib/programs";
import { releaseKey } from "../lib/release-key";
import { becomeOwner } from "../work/upgrade/check-folder";
import {
  type InstallTarget,
  installRelease,
  type PutBackReport,
  putBackDatabase,
  restart,
} from "../work/upgrade/install-release";
import { type Release, readRelease, stageRelease, verifyRelease } from "../work/upgrade/release-file";
import { changeService, findServices, hasEnded, isActive, runProgram, type Service } from "../work/upgrade/services";
import { sendToServer } from "./admin";
import {
  flagOptions,
  loadCommandConfig,
  type ParsedCommand,
  parseCommand,
  requireOption,
  runCommand,
  textOptions,
  UsageError,
  withExitCode,
} from "./options";
import { print } from "./print";
import { type CheckReport, checkUpgrade, formatCheck } from "./upgrade-check";

const HELP = `Usage: offcut upgrade FILE [--public-key FILE]
       offcut upgrade --check [FILE]

Installs a release. Verifies the signature of FILE, which is FILE.minisig beside it, lets the new version migrate a copy of the database, swaps
this executable, restarts the service and waits until it is ready. If it is not ready within 60 s, the executable and the database are put back.

  --check            Only migrate a copy of the database with FILE, or with this executable, and print the duration and the space. A running
                     server keeps serving.
  --public-key FILE  Public key of minisign that signed the release. Default: the key that this executable was built with.
  --json             Print a JSON object
`;

const OPTIONS = { ...flagOptions("check"), ...textOptions("public-key") };

export function upgradeCommand(argv: string[]): Promise<number> {
  const command = { name: "upgrade", help: HELP, options: OPTIONS, takes: 1, needs: "argument" } as const;
  return runCommand(command, argv, async (parsed) => {
    const { values, positionals } = parsed;
    const [file] = positionals;
    const config = await loadCommandConfig(parsed);
    if (file === undefined) {
      if (!values.check) throw new UsageError("Missing release file.");
      printCheck(await checkUpgrade(config), parsed);
      return 0;
    }
    const release = await readRelease(resolve(file), await readPublicKey(values["public-key"]));
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort(new Error("Interrupted. Nothing was changed."));
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, interrupt);
    if (values.check) {
      await verifyRelease(release, release.path, interrupted.signal);
      if (!isExecutableFile(release.path)) throw new Error(`${release.path} is not executable: run chmod +x on it.`);
      printCheck(await runCheck(release.path, parsed, interrupted.signal), parsed);
      return 0;
    }
    await install(release, config, parsed, interrupted.signal);
    return 0;
  });
}

async function readPublicKey(option: string | boolean | undefined): Promise<string> {
  if (option !== undefined) return readSmallFile(requireOption(option, "--public-key"));
  if (releaseKey === null)
    throw new UsageError(
      "This executable was built without the public key of releases. Name the key that signed the file with --public-key FILE.",
    );
  return releaseKey;
}

function printCheck(report: CheckReport, { values }: ParsedCommand): void {
  print(values.json ? `${JSON.stringify(report)}\n` : formatCheck(report));
}

async function install(release: Release, config: Config, parsed: ParsedCommand, signal: AbortSignal): Promise<void> {
  if (embeddedFiles === null) throw new Error("Offcut runs from its sources: there is no executable to replace.");
  const executable = realpathSync(process.execPath);
  if (realpathSync(release.path) === executable)
    throw new UsageError("FILE is this executable. Run the installed one: offcut upgrade FILE.");
  const lines: string[] = [];
  const say = (line: string) => void (parsed.values.json ? lines.push(line) : print(`${line}\n`));
  const dataDir = resolve(config.dataDir);
  const staged = await stageRelease(release, executable, signal);
  try {
    const isInstalled = (await hashFile(staged, signal)) === (await hashFile(executable, signal));
    const report = await runCheck(staged, parsed, signal);
    if (compareVersions(report.version, version) < 0)
      throw new Error(`${release.path} is Offcut ${report.version}, which is older than this version, ${version}.`);
    say(formatCheck(report).trimEnd());
    await requireNoBackup(dataDir);
    const target: InstallTarget = {
      executable,
      services: await findServices(executable),
      change: changeService,
      isReady: (service, expected) => (service.isWorker ? staysActive(service) : isServing(config, dataDir, expected)),
      hasEnded,
      putBackDatabase: () => runPutBack(executable, parsed),
      say,
      // Starting it migrates the database, as the check did.
      waitMs: READY_MS + (report.migrations?.length ? 2 * report.duration_ms : 0),
    };
    signal.throwIfAborted();
    if (isInstalled) {
      say(`${executable} is this release already.`);
      const problem = await restart(target, report.version);
      if (problem !== null) throw new Error(`${problem} The previous version is ${executable}.previous.`);
    } else await installRelease(target, { staged, from: version, to: report.version });
    say(
      target.services.length > 0
        ? `Offcut ${report.version} is running.`
        : `No running systemd service uses ${executable}: stop the server and start it again as you started it.`,
    );
    if (parsed.values.json) print(`${JSON.stringify({ ...report, executable, messages: lines })}\n`);
  } finally {
    await rm(staged, { force: true });
  }
}

/** Runs the check of another executable with this command's settings. Throws an `Error` with its output. */
async function runCheck(path: string, parsed: ParsedCommand, signal: AbortSignal): Promise<CheckReport> {
  const { code, stdout, stderr } = await runProgram(
    [path, "upgrade", "--check", "--json", ...listSettings(parsed)],
    signal,
  );
  if (code !== 0) throw new Error(`The new version cannot be installed: ${stderr || `its check ended with ${code}`}`);
  try {
    const report = JSON.parse(stdout) as CheckReport;
    if (typeof report.version === "string" && Number.isFinite(report.duration_ms)) return report;
  } catch {
    // The error is reported below.
  }
  throw new Error(`${path} is not a version of Offcut that can be installed: its check printed no report.`);
}

const listSettings = ({ values }: ParsedCommand): string[] =>
  Object.keys(configFlags()).flatMap((name) => (values[name] === undefined ? [] : [`--${name}=${values[name]}`]));

/** Throws an `Error` while a backup is being written: a restart would end it. */
async function requireNoBackup(dataDir: string): Promise<void> {
  const answer = await sendToServer(dataDir, "backup state", {});
  if ((answer?.result as { is_writing?: boolean } | undefined)?.is_writing)
    throw new Error("A backup is being written. Run offcut upgrade again when it is complete.");
}

const READY_MS = 60_000;
const RESPONSE_MS = 5_000;
const WORKER_TRIAL_MS = 3_000;

/** Returns whether `/readyz` reports that the server is ready and has this version. */
async function isServing(config: Config, dataDir: string, expected: string): Promise<boolean> {
  const signal = AbortSignal.timeout(RESPONSE_MS);
  // The control socket belongs to the server of this folder, and only it reports the version.
  const hasSocket = hasValidSocketPath(dataDir);
  const request = hasSocket
    ? fetch("http://offcut/readyz", { unix: getControlSocketPath(dataDir), signal })
    : fetch(`${config.tlsCert === null ? "http" : "https"}://127.0.0.1:${config.port}/readyz`, {
        tls: { rejectUnauthorized: false },
        signal,
      });
  try {
    const response = await request;
    const { version: running } = (await response.json()) as { version?: string };
    return response.ok && (!hasSocket || running === expected);
  } catch {
    return false;
  }
}

/** Returns whether a worker is still running after some time. */
async function staysActive(service: Service): Promise<boolean> {
  if (!(await isActive(service))) return false;
  await Bun.sleep(WORKER_TRIAL_MS);
  return isActive(service);
}

/** The hidden command that puts the database back as the owner of the data folder. */
const PUT_BACK_COMMAND = "__put-back";

async function runPutBack(executable: string, parsed: ParsedCommand): Promise<PutBackReport | null> {
  const { code, stdout, stderr } = await runProgram([executable, PUT_BACK_COMMAND, ...listSettings(parsed)]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as PutBackReport | null;
}

export function putBackCommand(argv: string[]): Promise<number> {
  return withExitCode("upgrade", async () => {
    const { dataDir } = await loadCommandConfig(parseCommand(argv, {}));
    const folder = resolve(dataDir);
    becomeOwner(folder);
    using _lock = requireFolderLock(folder);
    print(`${JSON.stringify(await putBackDatabase(folder, Date.now()))}\n`);
    return 0;
  });
}
