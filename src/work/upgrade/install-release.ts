/**
 * Installs a staged release: swaps the executable, restarts the services that run it, and restores everything if the
 * new version does not become ready.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { linkOrCopy } from "../../blobs/backup-files";
import { DATABASE_NAME } from "../../domain/backup";
import { renameDurably } from "../../lib/atomic-file";
import { findKeptDatabase, formatKeptName } from "../../store/kept-databases";
import { UnknownMigrationError } from "../../store/migrate";
import { discardLog, readMissingMigrations, readNewestMigration } from "../../store/migrate-copy";
import type { Service } from "./services";

/** The targets of the installation. Tests replace parts of it. */
export type InstallTarget = {
  executable: string;
  services: readonly Service[];
  change(action: "restart" | "stop", service: Service): Promise<void>;
  /** Whether this version serves, after a restart. */
  isReady(service: Service, version: string): Promise<boolean>;
  /** Whether the service has ended for good. */
  hasEnded(service: Service): Promise<boolean>;
  /** Restores the database that the new version has migrated, with the previous executable. */
  putBackDatabase(): Promise<PutBackReport | null>;
  /** Reports progress to the administrator. */
  say(line: string): void;
  /** Time for the new version to be ready. */
  waitMs: number;
};

const POLL_MS = 250;

/**
 * Swaps the executable for a staged and checked one, restarts its services and waits until they are ready. Throws an
 * `Error` that says what was restored if they are not. After a kill the executable is either version, whole: the next
 * start runs it.
 */
export async function installRelease(
  target: InstallTarget,
  { staged, from, to }: { staged: string; from: string; to: string },
): Promise<void> {
  const { executable, services, say } = target;
  await swapExecutable(staged, executable);
  say(`Installed Offcut ${to} as ${executable}. The previous version is ${executable}.previous.`);
  const problem = await restart(target, to);
  if (problem === null) return;
  say(`${problem} Going back to Offcut ${from}.`);
  // One that does not stop keeps its lock, and the database is not touched then. The executable is put back in any
  // case.
  for (const service of services) await target.change("stop", service).catch((error: Error) => say(error.message));
  await putBackExecutable(executable);
  const state = await target.putBackDatabase().then(describeDatabase, (error: Error) => error);
  const again = await restart(target, from);
  const end = again === null ? "It is running." : `${again} Look at journalctl -u ${services[0]?.name}.`;
  throw new Error(
    state instanceof Error
      ? `${problem} Offcut ${from} was put back, but not the database: ${state.message} ${end}`
      : `${problem} Offcut ${from} was put back. ${state} ${end}`,
  );
}

const describeDatabase = (report: PutBackReport | null): string =>
  report === null
    ? "The database was not migrated."
    : `The database is ${report.kept} again; the migrated one is kept as ${report.aside}.`;

/** Restarts the services and waits until all of them are ready. Returns the problem, or null. */
export async function restart(target: InstallTarget, version: string): Promise<string | null> {
  try {
    for (const service of target.services) await target.change("restart", service);
  } catch (error) {
    return (error as Error).message;
  }
  for (const service of target.services) {
    const problem = await waitUntilReady(target, service, version);
    if (problem !== null) return problem;
  }
  return null;
}

async function waitUntilReady(target: InstallTarget, service: Service, version: string): Promise<string | null> {
  const { waitMs } = target;
  const end = performance.now() + waitMs;
  while (performance.now() < end) {
    if (await target.isReady(service, version)) return null;
    if (await target.hasEnded(service)) return `Offcut ${version} ended after its start (service ${service.name}).`;
    await Bun.sleep(Math.min(POLL_MS, waitMs));
  }
  return `Offcut ${version} was not ready within ${Math.round(waitMs / 1000)} s (service ${service.name}).`;
}

const getPreviousPath = (executable: string): string => `${executable}.previous`;

/** Replaces the executable with a staged file, and keeps the old one. The path has a whole executable at any time. */
async function swapExecutable(staged: string, executable: string): Promise<void> {
  await linkOrCopy(executable, getPreviousPath(executable));
  await renameDurably(staged, executable);
}

async function putBackExecutable(executable: string): Promise<void> {
  await renameDurably(getPreviousPath(executable), executable);
}

/** `kept`: the file that is the database again. `aside`: the name of the migrated one, which is kept as well. */
export type PutBackReport = { kept: string; aside: string };

/**
 * Puts the kept database of a folder back when a newer version has migrated the current one. Returns null when this
 * version can open it as it is. Needs the lock of the folder. After a kill one of the two is the database, whole.
 * Throws an `Error` without a kept file.
 */
export async function putBackDatabase(folder: string, now: number): Promise<PutBackReport | null> {
  const path = join(folder, DATABASE_NAME);
  if (!existsSync(path)) return null;
  try {
    await readMissingMigrations(path);
    return null;
  } catch (error) {
    if (!(error instanceof UnknownMigrationError)) throw error;
    // An older one would lose more than the changes of the newer version.
    const newest = readNewestMigration(path);
    const kept = newest === null ? null : await findKeptDatabase(folder, newest);
    if (kept === null) throw new Error(`The database that was migrated is not kept in ${folder}.`);
    const aside = formatKeptName("after", newest!, now);
    await linkOrCopy(path, join(folder, aside));
    // The log is empty: reading the migrations has written it into the file.
    await discardLog(path);
    await renameDurably(join(folder, kept.name), path);
    return { kept: kept.name, aside };
  }
}
