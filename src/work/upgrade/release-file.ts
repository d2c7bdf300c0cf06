/**
 * Release files: verifies their signature and stages a copy beside the installed executable, so that a rename puts it
 * in place.
 */
import { constants } from "node:fs";
import { chmod, copyFile, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { flushFile } from "../../lib/atomic-file";
import {
  type MinisignPublicKey,
  type MinisignSignature,
  parsePublicKey,
  parseSignature,
  readSmallFile,
  verifyFile,
} from "../../lib/minisign";
import { requireSpace } from "../backup/space";
import { isUpgradeRunning } from "./check-folder";

export type Release = { path: string; bytes: number; signature: MinisignSignature; publicKey: MinisignPublicKey };

const EXECUTABLE_MODE = 0o755;

/**
 * Reads the signature beside a release file. `publicKey`: the text of the key that must have signed it. Throws an
 * `Error` with the remedy.
 */
export async function readRelease(path: string, publicKey: string): Promise<Release> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new Error(`${path}: file not found.`);
  try {
    const signature = parseSignature(await readSmallFile(`${path}.minisig`));
    return { path, bytes: found.size, signature, publicKey: parsePublicKey(publicKey) };
  } catch (error) {
    throw describeRefusal(path, error);
  }
}

/** Verifies the signature for the bytes at `path`. Throws an `Error` when they are not those of the release. */
export async function verifyRelease(release: Release, path: string, signal: AbortSignal): Promise<string> {
  return verifyFile(path, release.signature, release.publicKey, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw describeRefusal(release.path, error);
  });
}

const describeRefusal = (path: string, error: unknown): Error =>
  new Error(`The signature of ${path} is not accepted: ${(error as Error).message}.`);

/**
 * Copies a release beside `executable` and verifies the copy, so that the checked file is the one that runs. Returns
 * the path of the copy. Removes files of a killed upgrade. Throws an `Error` for a wrong signature, a folder without
 * write access or space, and while another upgrade runs.
 */
export async function stageRelease(release: Release, executable: string, signal: AbortSignal): Promise<string> {
  const folder = dirname(executable);
  const prefix = `.${basename(executable)}.upgrade.`;
  await discardAbandoned(folder, prefix);
  await requireSpace(folder, release.bytes);
  const staged = join(folder, `${prefix}${process.pid}`);
  try {
    // Copied, not linked: the file may be on another file system, and its owner may write to it after the check.
    await copyFile(release.path, staged, constants.COPYFILE_EXCL);
    await chmod(staged, EXECUTABLE_MODE);
    await flushFile(staged);
    await verifyRelease(release, staged, signal);
    return staged;
  } catch (error) {
    await rm(staged, { force: true }).catch(() => {});
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new Error(`Cannot write to ${folder} (${code}): run offcut upgrade as its owner, such as with sudo.`);
    throw error;
  }
}

async function discardAbandoned(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    if (Number.isInteger(pid) && pid !== process.pid && isUpgradeRunning(pid))
      throw new Error(`Another upgrade is running (process ${pid}).`);
    await rm(join(folder, name), { force: true });
  }
}
