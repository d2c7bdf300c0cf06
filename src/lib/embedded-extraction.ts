/**
 * Extracts the embedded files of the executable to a versioned folder: once, atomically, and safely when two processes
 * start at the same time. Later starts compare sizes and modification times, and read a file only when these differ.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { flushFile, writeAtomic } from "./atomic-file";
import { hashFile } from "./hash";

/**
 * An embedded file: `name` is its path in the folder, `path` its zstd-compressed content in the executable. `sizeBytes`
 * and `sha256` (hexadecimal) are of the decompressed file.
 */
export type EmbeddedFile = { name: string; path: string; sizeBytes: number; sha256: string; executable: boolean };

/** `id` is the folder name, which changes whenever a file changes. */
export type EmbeddedFiles = { id: string; files: EmbeddedFile[] };

/** The size and modification time of each file when it was written. A file that still matches is not read again. */
type ExtractionRecord = Record<string, { sizeBytes: number; modifiedMs: number }>;

const RECORD_NAME = "written.json";
const IN_USE_NAME = "in-use";
const PARTIAL_PREFIX = "partial-";
/** Supported by Bun, but missing in the web types. */
const ZSTD = "zstd" as string as CompressionFormat;

/**
 * Creates or repairs `parent/<id>`, removes the folders of other versions that no running process uses, and returns the
 * folder. Throws file system errors such as `ENOSPC` and `EACCES`.
 */
export async function extractFiles(embedded: EmbeddedFiles, parent: string): Promise<string> {
  const folder = join(parent, embedded.id);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  if (!existsSync(folder)) await extractAll(embedded, parent, folder);
  await markInUse(folder);
  await repairDamaged(embedded, folder);
  await sweepUnused(parent, embedded.id);
  return folder;
}

/** Reads every file and returns the names of those that differ from the build. */
export async function findDamagedFiles(embedded: EmbeddedFiles, folder: string): Promise<string[]> {
  const sums = await Promise.all(embedded.files.map((file) => hashFile(join(folder, file.name)).catch(() => null)));
  return embedded.files.filter((file, index) => sums[index] !== file.sha256).map((file) => file.name);
}

async function extractAll(embedded: EmbeddedFiles, parent: string, folder: string): Promise<void> {
  const partial = join(parent, `${PARTIAL_PREFIX}${process.pid}-${crypto.randomUUID()}`);
  try {
    const written: ExtractionRecord = {};
    for (const file of embedded.files) written[file.name] = await writeFile(file, join(partial, file.name));
    await writeDurably(join(partial, RECORD_NAME), JSON.stringify(written));
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process was faster, and its folder is equivalent.
    if (isCode(error, "ENOTEMPTY", "EEXIST") && existsSync(folder)) return;
    throw error;
  }
}

async function repairDamaged(embedded: EmbeddedFiles, folder: string): Promise<void> {
  const written = await readRecord(folder);
  let changed = false;
  for (const file of embedded.files) {
    const path = join(folder, file.name);
    const found = await stat(path).catch(() => null);
    const recorded = written[file.name];
    if (found?.size === file.sizeBytes && recorded?.modifiedMs === found.mtimeMs) {
      if (file.executable && (found.mode & 0o100) === 0) await chmod(path, 0o700);
      continue;
    }
    changed = true;
    if (found?.size === file.sizeBytes && (await hashFile(path)) === file.sha256) {
      written[file.name] = { sizeBytes: found.size, modifiedMs: found.mtimeMs };
      continue;
    }
    // Written to a temporary file and renamed, so that a process that has the damaged file open or mapped keeps it.
    const fresh = `${path}.${crypto.randomUUID()}`;
    written[file.name] = await writeFile(file, fresh);
    await rename(fresh, path);
  }
  if (changed) await writeAtomic(join(folder, RECORD_NAME), JSON.stringify(written));
}

async function readRecord(folder: string): Promise<ExtractionRecord> {
  try {
    return (await Bun.file(join(folder, RECORD_NAME)).json()) as ExtractionRecord;
  } catch {
    return {};
  }
}

async function writeFile(file: EmbeddedFile, path: string): Promise<ExtractionRecord[string]> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Streamed, because content that is read through the executable's memory mapping counts as resident memory.
  const content = Bun.file(file.path).stream().pipeThrough(new DecompressionStream(ZSTD));
  await writeDurably(path, content);
  await chmod(path, file.executable ? 0o700 : 0o600);
  // Whole seconds compare equal on every file system.
  const now = new Date(Math.floor(Date.now() / 1000) * 1000);
  await utimes(path, now, now);
  const { size, mtimeMs } = await stat(path);
  if (size !== file.sizeBytes) throw new Error(`${basename(path)}: ${size} of ${file.sizeBytes} bytes were extracted`);
  return { sizeBytes: size, modifiedMs: mtimeMs };
}

/** Writes and flushes a file, so that a power failure after the rename cannot leave a file without its content. */
async function writeDurably(path: string, content: string | ReadableStream<Uint8Array>): Promise<void> {
  await Bun.write(path, new Response(content));
  await flushFile(path);
}

async function markInUse(folder: string): Promise<void> {
  await mkdir(join(folder, IN_USE_NAME), { recursive: true, mode: 0o700 });
  await Bun.write(join(folder, IN_USE_NAME, String(process.pid)), "");
}

async function sweepUnused(parent: string, keep: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (name === keep) await removeDeadMarks(folder);
    else if (
      name.startsWith(PARTIAL_PREFIX) ? !isAlive(Number(name.split("-")[1])) : (await removeDeadMarks(folder)) === 0
    )
      await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the marks of processes that have ended. Returns how many running processes use the folder. */
async function removeDeadMarks(folder: string): Promise<number> {
  const pids = await readdir(join(folder, IN_USE_NAME)).catch(() => []);
  let alive = 0;
  for (const pid of pids) {
    if (isAlive(Number(pid))) alive++;
    else await rm(join(folder, IN_USE_NAME, pid), { force: true });
  }
  return alive;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, "EPERM");
  }
}

const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));
