/** Moments in which processes are killed: the action that is started, and the check that it runs. */
import { existsSync, readdirSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DATABASE_NAME, formatBackupName, MANIFEST_NAME, parseBackupName } from "../../../src/domain/backup";
import { BUCKET, type S3Server } from "../../s3-server";
import { createOldDatabase, MIGRATION_NAMES } from "../../unit/store/old-database";
import { spawnOffcut } from "../offcut";
import { askServer, type Server } from "../server";
import { type Clients, startExport, startLoudRender, startPreparation } from "./actions";

/**
 * `side`: a folder with other data folders, for commands that do not need the server. `s3` has the off-site backups.
 */
export type World = Clients & { server: Server; backups: string; side: string; s3: S3Server };

export const OFFSITE = `s3://${BUCKET}/kills`;

/**
 * `begin` starts or prepares it; `isReached` returns whether the process may be killed now. A moment that `begin`
 * reaches has no `isReached`. `maxDelayMs`: maximum time until the kill when it is reached.
 */
export type Moment = {
  name: string;
  begin(world: World): Promise<unknown>;
  isReached?(world: World): boolean;
  maxDelayMs: number;
};

const hasName = (folder: string, test: (name: string) => boolean): boolean =>
  existsSync(folder) && readdirSync(folder).some(test);

const isWritingBackup = ({ backups }: World): boolean =>
  hasName(backups, (name) => /^\.offcut-.*Z\..+\.part$/.test(name));

/** While the server runs. `begin` resolves when the moment is reached, or starts it without waiting. */
export const RUNNING: Moment[] = [
  {
    name: "backup",
    begin: async (world) => void createBackup(world, world.backups).catch(() => {}),
    isReached: isWritingBackup,
    maxDelayMs: 300,
  },
  {
    name: "off-site backup",
    begin: async (world) => {
      world.s3.requests.length = 0;
      void createBackup(world, OFFSITE).catch(() => {});
    },
    isReached: ({ s3 }) => s3.requests.some(({ method }) => method === "PUT"),
    maxDelayMs: 300,
  },
  { name: "preparation", begin: startPreparation, maxDelayMs: 100 },
  {
    name: "export",
    begin: startExport,
    isReached: ({ server }) => hasName(join(server.data, "exports"), (name) => name.endsWith(".part")),
    maxDelayMs: 50,
  },
  {
    name: "measuring pass",
    begin: startLoudRender,
    isReached: ({ server, loud }) => loud.ids.some((id) => existsSync(join(server.data, "work", id, "reduced.f32"))),
    maxDelayMs: 100,
  },
  { name: "any moment", begin: async () => {}, maxDelayMs: 1_500 },
];

/** While the server starts. `begin` runs before the start. */
export const STARTING: Moment[] = [
  { name: "nightly backup", begin: ({ backups }) => ageBackups(backups), isReached: isWritingBackup, maxDelayMs: 300 },
  {
    name: "hourly snapshot",
    begin: ({ server }) => rm(join(server.data, "snapshots"), { recursive: true, force: true }),
    isReached: ({ server }) => hasName(join(server.data, "snapshots"), (name) => name.startsWith(".")),
    maxDelayMs: 60,
  },
  {
    name: "pruning",
    begin: ({ backups }) => ageBackups(backups),
    isReached: ({ backups }) => hasName(backups, (name) => /^\.offcut-[^.]*Z\.part$/.test(name)),
    maxDelayMs: 5,
  },
  { name: "start", begin: async () => {}, maxDelayMs: 600 },
];

/** Writes a backup, after the nightly one and its drill when they are running. */
export async function createBackup({ server }: World, target: string): Promise<void> {
  for (;;) {
    try {
      return await askServer(server.data, "backup create", { target });
    } catch (error) {
      if (!/: 409 /.test((error as Error).message)) throw error;
      await Bun.sleep(50);
    }
  }
}

const DAY_MS = 24 * 3600_000;

/** Ages all backups to another night, so that the server writes the next one and removes them. */
async function ageBackups(backups: string): Promise<void> {
  for (const name of readdirSync(backups)) {
    const time = parseBackupName(name);
    if (time === null || time < Date.now() - DAY_MS) continue;
    const aged = time - 2 * DAY_MS;
    const path = join(backups, formatBackupName(aged));
    const manifest = join(backups, name, MANIFEST_NAME);
    const content = { ...JSON.parse(await readFile(manifest, "utf8")), created_at: new Date(aged).toISOString() };
    await writeFile(manifest, JSON.stringify(content));
    await rename(join(backups, name), path);
  }
}

/** A command that is killed, on another data folder. `begin` prepares it; `args` are those of the command. */
export type SideMoment = Moment & { args(world: World): string[]; folder(world: World): string };

const restoredFolder = ({ side }: World) => join(side, "restored");
const oldFolder = ({ side }: World) => join(side, "old");

export const SIDE: SideMoment[] = [
  {
    name: "restore",
    begin: async () => {},
    args: (world) => ["restore", world.backups, "--data-dir", join(restoredFolder(world), "data")],
    folder: restoredFolder,
    isReached: (world) => hasName(restoredFolder(world), (name) => name.startsWith("data.rest")),
    maxDelayMs: 1_500,
  },
  {
    name: "migration",
    begin: async (world) => {
      const data = join(oldFolder(world), "data");
      for (const name of readdirSync(data))
        if (/^(offcut|version)/.test(name)) await rm(join(data, name), { force: true });
      createOldDatabase(join(data, DATABASE_NAME), MIGRATION_NAMES.slice(0, 5));
    },
    args: () => ["user", "list", "--json"],
    folder: oldFolder,
    isReached: (world) => hasName(join(oldFolder(world), "data"), (name) => /\.migrat(ing|ed)/.test(name)),
    maxDelayMs: 150,
  },
];

/** Waits until the moment is reached or `ended` resolves, and then for `delayMs`. Returns whether it was reached. */
export async function reach(
  world: World,
  moment: Moment,
  delayMs: number,
  ended: Promise<unknown> = NEVER,
): Promise<boolean> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const isReached = () => moment.isReached?.(world) ?? true;
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!isReached() && !hasEnded && performance.now() < deadline) await Bun.sleep(1);
  const reached = isReached();
  await Promise.race([Bun.sleep(delayMs), ended]);
  return reached;
}

/** For moments that end only with the kill. */
const NEVER = new Promise<never>(() => {});
const MAX_WAIT_MS = 3_000;

/** Runs a command and kills it at the moment. Returns whether the moment was reached. */
export async function killCommand(world: World, moment: SideMoment, delayMs: number): Promise<boolean> {
  await moment.begin(world);
  const child = spawnOffcut(moment.args(world), { folder: moment.folder(world) });
  const reached = await reach(world, moment, delayMs, child.exited);
  child.kill("SIGKILL");
  await child.exited;
  return reached && child.signalCode === "SIGKILL";
}
