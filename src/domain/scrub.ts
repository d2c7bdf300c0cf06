/** The weekly file check: selects the files to read, finds their owners, and compares them with their records. Pure. */
import { formatBytes } from "./bytes";
import type { AssetKind, AssetState, FileProblem, RenderState } from "./states";
import { DAY_MS } from "./time";

/** Size, modification time and SHA-256 of a file's content. */
export type FileFacts = { bytes: number; modified_at: number; sha256: string | null };

const WEEK_MS = 7 * DAY_MS;
/** All files are read once in this number of weeks. */
const CYCLE_WEEKS = 4;
/** 1970-01-01 was a Thursday, and weeks begin on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

export const toWeek = (time: number): number => Math.floor((time - FIRST_MONDAY_MS) / WEEK_MS);

const toWeekStart = (week: number): number => FIRST_MONDAY_MS + week * WEEK_MS;

/** Returns the week of each cycle in which a file is read, 0 to 3. Paths are evenly distributed. */
export function getQuarter(path: string): number {
  // FNV-1a, whose high bits are mixed best.
  let hash = 0x811c9dc5;
  for (let n = 0; n < path.length; n++) hash = Math.imul(hash ^ path.charCodeAt(n), 0x01000193);
  return ((hash >>> 16) ^ hash) & (CYCLE_WEEKS - 1);
}

/**
 * Returns whether a file must be read, because it was not since its last week began. This makes up for a week in which
 * the server was off, and new files are read soon. `checkedAt` is null if the file was never read. `since` is the time
 * of the first read of any file, null before that: the first pass of a server reads a quarter.
 */
export function isDue(
  path: string,
  { checkedAt, since, now }: { checkedAt: number | null; since: number | null; now: number },
): boolean {
  const week = toWeek(now);
  const weeksAgo = (((week - getQuarter(path)) % CYCLE_WEEKS) + CYCLE_WEEKS) % CYCLE_WEEKS;
  const newest = week - weeksAgo;
  if (checkedAt !== null) return checkedAt < toWeekStart(newest);
  return newest >= toWeek(Math.min(since ?? now, now));
}

/** A recording, or a finished file that was uploaded. `bytes` is the size of its source. */
export type AssetFiles = {
  kind: "asset";
  id: string;
  assetKind: AssetKind;
  state: AssetState;
  bytes: number;
  hasProbed: boolean;
  hasTranscript: boolean;
  hasPoster: boolean;
  hasWaveform: boolean;
};

/** A render. `bytes` is null if it is not complete. */
export type RenderFiles = { kind: "render"; id: string; state: RenderState; bytes: number | null; format: string };

export type FileOwner = AssetFiles | RenderFiles;

/**
 * A file with an expected state. `fixed`: it never changes once its recording is prepared or its render is complete.
 * `remade`: a job may write it again, and does if it is missing.
 */
export type TrackedFile = {
  name: string;
  role: "fixed" | "remade";
  isRequired: boolean;
  /** The size according to the row. */
  bytes: number | null;
};

/** Returns the names that a folder of this owner may contain; null while jobs or uploads write to it. */
export function listTrackedFiles(owner: FileOwner): TrackedFile[] | null {
  if (owner.kind === "render") {
    if (owner.state !== "completed") return null;
    return [{ name: `output.${owner.format}`, role: "fixed", isRequired: true, bytes: owner.bytes }];
  }
  if (owner.state === "pending_upload") return null;
  const fixed = (name: string, isRequired = false): TrackedFile => ({ name, role: "fixed", isRequired, bytes: null });
  const isPrepared = owner.state === "ready" || owner.state === "pending_payment";
  const source: TrackedFile = { ...fixed("source", owner.state !== "failed"), bytes: owner.bytes };
  // The folder is being filled, or emptied after a failure.
  if (!isPrepared) return [source];
  const isMedia = owner.assetKind !== "cut_file";
  return [
    source,
    fixed("probed.json", isMedia && owner.hasProbed),
    fixed("transcript.json", owner.hasTranscript),
    fixed("poster.jpg", owner.hasPoster),
    fixed("waveform.json", owner.hasWaveform),
    ...FIXED_NAMES.map((name) => fixed(name)),
    ...REMADE_NAMES.map((name): TrackedFile => ({ name, role: "remade", isRequired: false, bytes: null })),
  ];
}

/** Files of a preparation that not every recording has. Some were written only by older versions. */
const FIXED_NAMES = [
  "analysis.audio",
  "speech.pcm",
  "listening.json",
  "energy.steps",
  "energy.f32",
  "filmstrip.jpg",
  "preview.mp4",
] as const;

const REMADE_NAMES = [
  "preview-540p.mp4",
  "preview.index",
  "preview.json",
  "source.index",
  "source.json",
  "loudness.steps",
  "waveform.bin",
  "transcript-columns.json.gz",
  "render.cache",
] as const;

const STORYBOARD_NAME = /^storyboard-\d{4}\.jpg$/;

/** Suffix of the file that a restore writes before renaming it. */
export const RESTORING_SUFFIX = ".restoring";

/** Returns the expected state of a name in the owner's folder; null for an unknown file. */
export const findTracked = (tracked: readonly TrackedFile[], name: string): TrackedFile | null =>
  tracked.find((file) => file.name === name) ??
  (tracked.length > 1 && STORYBOARD_NAME.test(name) ? { name, role: "remade", isRequired: false, bytes: null } : null);

/** Returns whether all other names in the owner's folder are untracked. Jobs still write to other folders. */
export const isSettled = (owner: FileOwner): boolean =>
  owner.kind === "render" ? owner.state === "completed" : owner.state === "ready" || owner.state === "pending_payment";

/** The problem of a file, as a sentence. */
export type FileFinding = { problem: FileProblem; detail: string };

/** A file that was read. `error` says why that failed, such as `EIO`. */
export type ReadFile = FileFacts & { error: string | null };

/**
 * Compares a file with its record or, when it is read for the first time, with its row and the newest backup. Returns
 * null if it is correct. A `remade` file with another size or time was written again by a job.
 */
export function findChange(
  file: Pick<TrackedFile, "role" | "bytes">,
  read: ReadFile,
  { recorded, inBackup }: { recorded: FileFacts | null; inBackup: FileFacts | null },
): FileFinding | null {
  const changed = (detail: string): FileFinding => ({ problem: "changed", detail });
  if (read.error !== null) return changed(`Cannot be read (${read.error}).`);
  const isSameFile = (other: FileFacts) => other.bytes === read.bytes && other.modified_at === read.modified_at;
  if (recorded !== null && recorded.sha256 !== null) {
    if (recorded.sha256 === read.sha256) return null;
    if (isSameFile(recorded)) return changed("Content is damaged: it differs, while size and time are the same.");
    if (file.role === "remade") return null;
    return changed(recorded.bytes === read.bytes ? "Content has changed." : describeSize(read.bytes, recorded.bytes));
  }
  if (file.bytes !== null && file.bytes !== read.bytes) return changed(describeSize(read.bytes, file.bytes));
  if (inBackup !== null && isSameFile(inBackup) && inBackup.sha256 !== read.sha256)
    return changed("Content is damaged: the newest backup has other content of the same size and time.");
  return null;
}

const describeSize = (bytes: number, expected: number): string => {
  const [found, right] = [formatBytes(bytes), formatBytes(expected)];
  return found === right ? `Has ${bytes} bytes, expected ${expected}.` : `Has ${found}, expected ${right}.`;
};

/** The streams of a media file. `duration` (seconds) and `frames` are null if unknown. */
export type ExpectedMedia = { demuxer: string; duration: number | null; frames: number | null };

/** Maximum part of a recording that decoders may omit at its end, in seconds and as a share. */
const MAX_MISSING_SECONDS = 2;
const MAX_MISSING_SHARE = 0.02;

/**
 * Compares the decoded part of a file, in seconds and frames, with the expected one. Returns null if it is complete.
 */
export function findShortfall(
  expected: Pick<ExpectedMedia, "duration" | "frames">,
  decoded: { seconds: number; frames: number },
): string | null {
  const { duration, frames } = expected;
  if (duration !== null && decoded.seconds < duration - Math.max(MAX_MISSING_SECONDS, duration * MAX_MISSING_SHARE))
    return `Only ${Math.floor(decoded.seconds)} of ${Math.round(duration)} seconds can be decoded.`;
  if (frames !== null && decoded.frames < frames * 0.9 - 10)
    return `Only ${decoded.frames} of ${frames} frames can be decoded.`;
  return null;
}

/** A path in the media folder, as file checks use it: an owner's file or folder, or another direct entry. */
export type CheckedPath = { folder: "media" | "renders" | "uploads"; owner: string; name: string | null };

/** Parses a path of `file_checks`; null for any other path. */
export function parseCheckedPath(path: string): CheckedPath | null {
  const [folder, owner, name, ...rest] = path.split("/");
  if (folder !== "media" && folder !== "renders" && folder !== "uploads") return null;
  if (rest.length > 0 || !isPlainName(owner) || (name !== undefined && !isPlainName(name))) return null;
  return { folder, owner, name: name ?? null };
}

const isPlainName = (name: string | undefined): name is string =>
  name !== undefined && name !== "" && name !== "." && name !== ".." && !name.includes("\0");
