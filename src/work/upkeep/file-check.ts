/** Checks one file: reads it, compares it with the records, and decodes media that was never decoded. */
import type { Folders } from "../../blobs/folders";
import { type ExpectedMedia, type FileFacts, type FileFinding, findChange } from "../../domain/scrub";
import { toSeconds } from "../../domain/time";
import { newId } from "../../lib/ids";
import { checkDecoding } from "../../media/decode-check";
import type { FileCheck } from "../../store/file-checks";
import type { StoredOwner } from "../../store/file-owners";
import { type JobChild, openJobChild } from "../job-child/child";
import { toReaderOptions } from "../job-child/plan-child";
import type { MediaTools } from "../jobs/media-tools";
import { type MediaEntry, readEntry, toAbsolute } from "./media-files";

export type CheckTools = Pick<MediaTools, "ffmpeg" | "jobCommand" | "sandbox">;

/** The stored check of a file, and the newest backup's entry. */
export type KnownFile = { row: FileCheck | null; inBackup: FileFacts | null };

type CheckerOptions = { bytesPerSecond: number; now: () => number; signal: AbortSignal };

/** A network folder is slow, and a busy machine gives the lowest priority little time. */
const MIN_BYTES_PER_SECOND = 200_000;
const MIN_WALL_SECONDS = 600;
const MAX_DECODE_SECONDS = 1_800;

/** Creates the file checker, with a child process that hashes them at the lowest priority. */
export function openFileChecker(tools: CheckTools, folders: Folders, options: CheckerOptions) {
  const { bytesPerSecond, now, signal } = options;
  let child: JobChild | null = null;

  /** The mounts of a child are those of its start: after an error the next file gets another one. */
  async function hash(path: string, bytes: number): Promise<{ sha256: string | null; error: string | null }> {
    child ??= openJobChild({
      ...toReaderOptions(tools, [folders.mediaRoot, folders.rendersRoot]),
      priority: "lowest",
    });
    const seconds = MIN_WALL_SECONDS + bytes / Math.min(bytesPerSecond, MIN_BYTES_PER_SECOND);
    try {
      const limits = { cpuSeconds: seconds, wallSeconds: seconds };
      const read = await child.run("hashFile", { path, bytesPerSecond }, { signal, limits });
      if (read.error !== null) await endChild();
      return read;
    } catch (error) {
      await endChild();
      throw error;
    }
  }

  async function endChild(): Promise<void> {
    const ending = child;
    child = null;
    await ending?.end();
  }

  async function decode(owner: StoredOwner, path: string): Promise<{ problem: string | null } | null> {
    const expected = findExpectedMedia(owner);
    if (expected === null) return null;
    const { ffmpeg, sandbox } = tools;
    const checked = await checkDecoding({ ffmpeg, sandbox, path, expected, maxSeconds: MAX_DECODE_SECONDS, signal });
    return checked.isConclusive ? checked : null;
  }

  return {
    /**
     * Reads a file that exists. Returns the result to store; null if the file was written, moved or removed in the
     * meantime. Errors: the signal's reason; an `Error` when the child process crashed.
     */
    check: async (owner: StoredOwner, entry: MediaEntry, { row, inBackup }: KnownFile) => {
      const { path, tracked, stat } = entry;
      const absolute = toAbsolute(folders, path);
      if (absolute === null || tracked === null || stat === null) return null;
      const { sha256, error } = await hash(absolute, stat.bytes);
      const after = (await readEntry(folders, path, tracked)).stat;
      if (after?.bytes !== stat.bytes || after.modified_at !== stat.modified_at) return null;
      const facts: FileFacts = { bytes: stat.bytes, modified_at: stat.modified_at, sha256 };
      const recorded = row?.sha256 == null ? null : row;
      const change = findChange(tracked, { ...facts, error }, { recorded, inBackup });
      if (change !== null) {
        // A file that is wrong before its first read keeps the facts of the row or the backup.
        const right = recorded ?? inBackup ?? { ...facts, bytes: tracked.bytes ?? stat.bytes, sha256: null };
        return withProblem(row, { path, right, found: facts, finding: change }, now());
      }
      const isNew = recorded?.sha256 !== sha256;
      const decodedAt = isNew ? null : (row?.decoded_at ?? null);
      const isDecoded = row?.problem !== "undecodable" && decodedAt !== null;
      const decoded = isDecoded || !isMainFile(owner, path) ? null : await decode(owner, absolute);
      const right = { ...facts, checked_at: now(), decoded_at: decoded === null ? decodedAt : now() };
      if (decoded?.problem != null) {
        const finding: FileFinding = { problem: "undecodable", detail: decoded.problem };
        return { ...withProblem(row, { path, right, found: facts, finding }, now()), ...right };
      }
      const isUndecodable = row?.problem === "undecodable" && decoded === null && !isNew;
      return { ...(isUndecodable ? row : createCheck(row, path, now())), ...right };
    },
    [Symbol.asyncDispose]: endChild,
  };
}

export type FileChecker = ReturnType<typeof openFileChecker>;

const isMainFile = (owner: StoredOwner, path: string): boolean =>
  path.endsWith(owner.kind === "asset" ? "/source" : `/output.${owner.kind === "render" ? owner.format : ""}`);

/** Returns the media that ffmpeg must find in an owner's main file; null for other files. */
export function findExpectedMedia(owner: StoredOwner): ExpectedMedia | null {
  if (owner.kind === "render") return { demuxer: owner.format === "mp3" ? "mp3" : "mov", duration: null, frames: null };
  if (owner.info === null || owner.assetKind === "cut_file") return null;
  const { demuxer, duration, video } = owner.info;
  const seconds = toSeconds(duration);
  const frames =
    video === null || video.variable ? null : Math.round((seconds * video.frameRate.num) / video.frameRate.den);
  return { demuxer, duration: seconds, frames };
}

/** Returns a check without a problem, with the ID of the one that it replaces. */
function createCheck(row: FileCheck | null, path: string, now: number): FileCheck {
  return {
    ...{ id: row?.id ?? newId(), path, bytes: 0, modified_at: 0, sha256: null, checked_at: null, decoded_at: null },
    ...{ problem: null, detail: null, found: null, found_at: null, accepted_at: null, restore_error: null },
    created_at: row?.created_at ?? now,
  };
}

/** A problem of a file, the facts that are right and those that were found. */
type FileToReport = { path: string; right: FileFacts; found: FileFacts | null; finding: FileFinding };

/** Returns the check of a file with a problem. One that is the same as before stays as old, and accepted. */
export function withProblem(
  row: FileCheck | null,
  { path, right, found, finding }: FileToReport,
  now: number,
): FileCheck {
  const isSame = row?.problem === finding.problem && row.detail === finding.detail;
  return {
    ...createCheck(row, path, now),
    ...{ bytes: right.bytes, modified_at: right.modified_at, sha256: right.sha256 },
    ...{ checked_at: now, decoded_at: row?.decoded_at ?? null, found, ...finding },
    found_at: isSame ? row.found_at : now,
    accepted_at: isSame ? row.accepted_at : null,
    restore_error: isSame ? row.restore_error : null,
  };
}
