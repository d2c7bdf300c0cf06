/** Copies files into and out of backups. Shares blocks if the file system can, and hashes what it writes. */
import { constants } from "node:fs";
import { chmod, copyFile, link, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFile, flushFolder, SECRET_FILE_MODE } from "../lib/atomic-file";
import { ignoreCodes } from "../lib/error-codes";
import { writeAll } from "../lib/file-bytes";
import { hashFile } from "../lib/hash";

/** Size, hash and time of a written file. */
export type StoredFile = { bytes: number; sha256: string; modified_at: number };

/** Error codes of file systems that cannot link or share blocks. */
const UNSUPPORTED = ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS", "EINVAL", "ENOTTY"];

const isSupported = async (copying: Promise<void>): Promise<boolean> =>
  (await copying.then(() => true, ignoreCodes(...UNSUPPORTED))) ?? false;

/** Creates a hard link to `existing` at `path`. Returns false if the file system cannot. */
export const tryLink = (existing: string, path: string): Promise<boolean> => isSupported(link(existing, path));

/** Creates a hard link to `existing` at `path`, or a copy if the file system cannot link. Replaces an existing file. */
export async function linkOrCopy(existing: string, path: string): Promise<void> {
  const part = `${path}.part`;
  await rm(part, { force: true });
  if (!(await tryLink(existing, part))) {
    await storeCopy(existing, part, new AbortController().signal);
    await chmod(part, (await stat(existing)).mode & 0o7777);
  }
  await rename(part, path);
  // Renaming one link of a file to another keeps both, so the temporary one is removed.
  await rm(part, { force: true });
  await flushFolder(dirname(path));
}

/** Copies a file by sharing its blocks. Returns false if the file system cannot. */
export const tryReflink = (from: string, to: string): Promise<boolean> =>
  isSupported(copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL));

/**
 * Copies a file to a new path, flushes it and reads it again. Creates the folder. Errors: those of the file system; an
 * `Error` if the copy differs from the original; the signal's reason.
 */
export async function storeCopy(from: string, to: string, signal: AbortSignal): Promise<StoredFile> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const { mtimeMs } = await stat(from);
  const isShared = await tryReflink(from, to);
  const read = isShared ? null : await copyHashed(from, to, signal);
  const written = await hashWritten(to, signal);
  if (read !== null && (read.sha256 !== written.sha256 || read.bytes !== written.bytes))
    throw new Error(`${to} differs from what was written to it.`);
  await utimes(to, mtimeMs / 1000, mtimeMs / 1000);
  await flushFile(to);
  return { ...written, modified_at: Math.round(mtimeMs) };
}

/** Copies up to the current size of the file, because an upload may grow in the meantime. */
async function copyHashed(from: string, to: string, signal: AbortSignal): Promise<{ bytes: number; sha256: string }> {
  const hasher = new Bun.CryptoHasher("sha256");
  const source = await open(from, "r");
  try {
    const { size } = await source.stat();
    const target = await open(to, "wx", SECRET_FILE_MODE);
    try {
      const buffer = new Uint8Array(Math.min(COPY_BYTES, Math.max(1, size)));
      let done = 0;
      while (done < size) {
        signal.throwIfAborted();
        const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - done), done);
        if (bytesRead === 0) break;
        const bytes = buffer.subarray(0, bytesRead);
        hasher.update(bytes);
        await writeAll(target, bytes, null);
        done += bytesRead;
      }
      await target.sync();
      return { bytes: done, sha256: hasher.digest("hex") };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const COPY_BYTES = 1024 * 1024;

async function hashWritten(path: string, signal: AbortSignal): Promise<{ bytes: number; sha256: string }> {
  const sha256 = await hashFile(path, signal);
  return { bytes: (await stat(path)).size, sha256 };
}

/** Flushes folders, so that the names in them survive a power failure. */
export async function flushFolders(root: string, paths: Iterable<string>): Promise<void> {
  const folders = new Set([root]);
  for (const path of paths)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(join(root, folder));
  for (const folder of folders) await flushFolder(folder);
}

/** Removes a folder of an unfinished backup or restore, as far as possible. */
export const discardFolder = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => {});
