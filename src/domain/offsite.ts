/** Off-site backups in an S3 bucket: their location, their names and their manifest. */
import { type BackupFile, type BackupManifest, parseBackupName, parseManifest } from "./backup";

/** A bucket and the prefix of its keys: empty, or with a trailing slash. */
export type OffsiteLocation = { bucket: string; prefix: string };

/** Returns whether a target is a URL and not a folder. Only those of S3 buckets are valid. */
export const isOffsite = (target: string): boolean => /^(?:s3:|[a-z][\w+.-]*:\/\/)/i.test(target);

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{2,62}$/;
const MAX_PREFIX_CHARACTERS = 500;

/** Parses `s3://bucket/prefix`. Throws an `Error` that completes the sentence "URL …" and does not contain the URL. */
export function parseOffsiteUrl(url: string): OffsiteLocation {
  if (url.includes("@"))
    throw new Error(
      "must not contain credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
    );
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(url) ?? [];
  const prefix = path.replace(/\/$/, "");
  const parts = prefix === "" ? [] : prefix.split("/");
  const isValid =
    BUCKET.test(bucket) &&
    prefix.length <= MAX_PREFIX_CHARACTERS &&
    parts.every((part) => /^[\w.+=,!'()-]+$/.test(part) && part !== "." && part !== "..");
  if (!isValid) throw new Error("must be s3://BUCKET or s3://BUCKET/PREFIX.");
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}

/** Formats a location as a URL, without a trailing slash. */
export const formatOffsiteUrl = ({ bucket, prefix }: OffsiteLocation): string =>
  `s3://${bucket}/${prefix}`.replace(/\/$/, "");

/** Splits the URL of a backup into its place and its name. `name` is null if the URL is that of a place. */
export function splitBackupUrl(url: string): { place: string; name: string | null } {
  const end = url.replace(/\/$/, "").lastIndexOf("/");
  const name = url.slice(end + 1).replace(/\/$/, "");
  return parseBackupName(name) === null ? { place: url, name: null } : { place: url.slice(0, end), name };
}

/** A file with its blobs in order: each has `blob_bytes` bytes of the file, the last one the remainder. */
export type OffsiteFile = BackupFile & { blobs: string[] };
export type OffsiteManifest = Omit<BackupManifest, "files"> & { blob_bytes: number; files: OffsiteFile[] };

const MAX_BLOB_BYTES = 64 * 1024 ** 2;

/** Parses the manifest of an off-site backup. Throws an `Error` with the reason if it is invalid. */
export function parseOffsiteManifest(text: string): OffsiteManifest {
  const manifest = parseManifest(text) as OffsiteManifest;
  const { blob_bytes: blobBytes, files } = manifest;
  const isSize = Number.isSafeInteger(blobBytes) && blobBytes >= 1 && blobBytes <= MAX_BLOB_BYTES;
  const hasBlobs = ({ bytes, blobs }: OffsiteFile) =>
    Array.isArray(blobs) && blobs.length === Math.ceil(bytes / blobBytes) && blobs.every(isBlobName);
  if (!isSize || !files.every(hasBlobs)) throw new Error("Its list of blobs is damaged.");
  return manifest;
}

export const isBlobName = (name: unknown): boolean => typeof name === "string" && /^[0-9a-f]{64}$/.test(name);

/** Returns the size of a file's blob number `index`. */
export const getBlobBytes = (file: BackupFile, index: number, blobBytes: number): number =>
  Math.min(blobBytes, file.bytes - index * blobBytes);
