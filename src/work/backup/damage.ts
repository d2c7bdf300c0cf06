/**
 * Known damage in the backups of a folder. Each backup has its own list, so that it survives a lost data folder. Later
 * backups do not link to a listed file, and a backup with a list is not good: pruning does not count it. The next
 * backup with the same content replaces the file.
 */
import { lstat, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { linkOrCopy } from "../../blobs/backup-files";
import type { BackupFile, BackupManifest } from "../../domain/backup";
import { SECRET_FILE_MODE, writeAtomic } from "../../lib/atomic-file";
import { hashFile } from "../../lib/hash";
import { type FolderBackup, listFolderBackups } from "./backup-manifest";
import { createLinkedFolderFinder, createResolver, type DamagedFile } from "./verify-files";

export const DAMAGE_NAME = "damaged.json";
/** A list has about 200 bytes for each file. */
const MAX_DAMAGE_BYTES = 256 * 1024 ** 2;

/** Problems by the paths of their files. */
type Damage = Map<string, string>;

type DamagedBackup = Pick<FolderBackup, "path" | "manifest">;

/** Returns the damaged files of a backup: all of them when its list cannot be read. */
export async function readDamage({ path, manifest }: DamagedBackup): Promise<Damage> {
  const file = Bun.file(join(path, DAMAGE_NAME));
  if (!(await file.exists())) return new Map();
  const list: unknown = file.size > MAX_DAMAGE_BYTES ? null : await file.json().catch(() => null);
  const isList = Array.isArray(list) && list.every((one) => typeof one?.path === "string");
  if (isList) return new Map((list as DamagedFile[]).map(({ path: damaged, problem }) => [damaged, String(problem)]));
  return new Map(manifest.files.map((one) => [one.path, `may be damaged: ${DAMAGE_NAME} cannot be read`]));
}

async function writeDamage(path: string, damage: Damage): Promise<void> {
  const list = [...damage].map(([damaged, problem]): DamagedFile => ({ path: damaged, problem }));
  if (list.length === 0) await rm(join(path, DAMAGE_NAME), { force: true });
  else await writeAtomic(join(path, DAMAGE_NAME), `${JSON.stringify(list, null, 1)}\n`, SECRET_FILE_MODE);
}

/**
 * Records the result of a verification, also in other backups that have links to the damaged files. `checked`: files
 * whose contents were compared. Errors: those of the file system.
 */
export async function recordDamage(
  backup: DamagedBackup,
  { damaged, checked }: { damaged: readonly DamagedFile[]; checked: ReadonlySet<string> },
): Promise<void> {
  const known = await readDamage(backup);
  const found: Damage = new Map([...known].filter(([path]) => !checked.has(path)));
  for (const { path, problem } of damaged) found.set(path, problem);
  if (!Bun.deepEquals(found, known)) await writeDamage(backup.path, found);
  if (damaged.length === 0) return;
  const problems = new Map<string, string>();
  for (const { path, problem } of damaged) {
    const inode = await readInode(join(backup.path, path));
    if (inode !== null) problems.set(inode, problem);
  }
  const contents = new Set(selectContents(backup.manifest, new Set(damaged.map(({ path }) => path))));
  for await (const other of listFolderBackups(dirname(backup.path))) {
    if (other.path === backup.path) continue;
    const shared: Damage = new Map();
    for (const file of other.manifest.files.filter(({ sha256 }) => contents.has(sha256))) {
      const problem = problems.get((await readInode(join(other.path, file.path))) ?? "");
      if (problem !== undefined) shared.set(file.path, problem);
    }
    if (shared.size > 0) await writeDamage(other.path, new Map([...(await readDamage(other)), ...shared]));
  }
}

const selectContents = ({ files }: BackupManifest, paths: ReadonlySet<string>): string[] =>
  files.filter(({ path }) => paths.has(path)).map(({ sha256 }) => sha256);

/** Returns null for a missing file. */
const readInode = (path: string): Promise<string | null> =>
  lstat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => null,
  );

/**
 * Replaces the damaged files of older backups by those of a new one that have the content of their manifests. Returns
 * how many were replaced. Errors: those of the file system; the signal's reason.
 */
export async function replaceDamaged(backup: DamagedBackup, signal: AbortSignal): Promise<number> {
  let replaced = 0;
  for await (const other of listFolderBackups(dirname(backup.path))) {
    const damage = await readDamage(other);
    if (other.path === backup.path || damage.size === 0) continue;
    const files = other.manifest.files.filter(({ path }) => damage.has(path));
    const intact = await findIntact(backup, new Set(files.map(({ sha256 }) => sha256)), signal);
    const findLinkedFolder = createLinkedFolderFinder(createResolver(other.path));
    for (const { path, sha256 } of files) {
      const from = intact.get(sha256);
      // A folder that is a link leads out of the backup.
      if (from === undefined || (await findLinkedFolder(path)) !== null) continue;
      await mkdir(dirname(join(other.path, path)), { recursive: true, mode: 0o700 });
      await linkOrCopy(join(backup.path, from), join(other.path, path));
      damage.delete(path);
      replaced++;
    }
    await writeDamage(other.path, damage);
  }
  return replaced;
}

/**
 * Returns the paths of intact files by their hashes. Those that were linked to an earlier backup have not been read
 * since.
 */
async function findIntact(
  { path, manifest }: DamagedBackup,
  wanted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const intact = new Map<string, string>();
  const isIntact = async (file: BackupFile) => (await hashFile(join(path, file.path), signal)) === file.sha256;
  for (const file of manifest.files.filter(({ sha256 }) => wanted.has(sha256)))
    if (!intact.has(file.sha256) && (await isIntact(file))) intact.set(file.sha256, file.path);
  return intact;
}
