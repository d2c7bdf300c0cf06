/**
 * The objects of off-site backups below one prefix of a bucket:
 * - `repository.json`: the format and the ID of the recovery key, not encrypted
 * - `snapshots/offcut-<time>.json`: a manifest
 * - `blobs/<name>`: a part of a file, which every file and backup with the same bytes shares
 * - `damaged/<name>`: a blob whose content was found to be damaged. The next backup sends it again
 * - `locks/<owner>`: a server that writes
 */

import { parseBackupName } from "../../../domain/backup";
import { AppError, badRequest, conflict } from "../../../domain/errors";
import type { OffsiteManifest } from "../../../domain/offsite";
import { isBlobName, parseOffsiteManifest, parseOffsiteUrl } from "../../../domain/offsite";
import { type BlobCipher, createBlobCipher, getEncryptedBytes } from "../../../lib/blob-cipher";
import { parseRecoveryKey } from "../../../lib/recovery-key";
import { type Bucket, type BucketTiming, openBucket } from "../../../outbound/s3";

/** Dependencies of off-site backups. `scratch`: a private folder for copies of the database. */
export type OffsiteAccess = {
  env: Record<string, string | undefined>;
  /** Returns the text of the recovery key; null before it is created. */
  recoveryKey(): string | null;
  saveRecoveryKey(key: string): Promise<void>;
  scratch: string;
  /** Tests shorten the waits. */
  timing?: BucketTiming;
};

/** `isDamaged`: its content was read and is wrong. */
export type StoredBlob = { bytes: number; etag: string; isDamaged: boolean };

/** Returns whether a blob with a content of `bytes` bytes is intact, as far as is known without reading it. */
export const isIntact = (blob: StoredBlob | undefined, bytes: number): boolean =>
  blob?.bytes === getEncryptedBytes(bytes) && !blob.isDamaged;

const REPOSITORY_KEY = "repository.json";
const SNAPSHOTS = "snapshots/";
const SNAPSHOT_SUFFIX = ".json";
const BLOBS = "blobs/";
const DAMAGED = "damaged/";
export const BLOB_PLACE = "blob";
const MAX_REPOSITORY_BYTES = 4096;
/** Enough for the names of the blobs of 15 TB. */
const MAX_MANIFEST_BYTES = 256 * 1024 ** 2;
const FORMAT = 1;
/** Not empty, because some buckets reject empty objects. */
const DAMAGE_MARK = Buffer.from("damaged\n");

const toPlace = (name: string): string => `snapshot ${name}`;

/** Throws `bad_request` where the data folder has no access to buckets. */
export function requireOffsite(offsite: OffsiteAccess | undefined): OffsiteAccess {
  if (offsite === undefined) throw badRequest("Off-site backups are not available here.");
  return offsite;
}

/**
 * Opens the repository at a URL, which may be empty. Errors: `AppError` `bad_request` for a URL or a recovery key that
 * is not valid or not the right one.
 */
export async function openRepository(url: string, access: OffsiteAccess, signal: AbortSignal): Promise<Repository> {
  const location = parseUrl(url);
  const text = access.recoveryKey();
  if (text === null)
    throw badRequest(
      "There is no recovery key yet. Run offcut backup with the s3:// URL once: it prints the key, which is required to restore.",
    );
  const cipher = createBlobCipher(parseKey(text));
  const bucket = openBucket(location, access.env, access.timing);
  await requireSameKey(bucket, cipher, signal);
  return createRepository(bucket, cipher, access.scratch);
}

function parseUrl(url: string) {
  try {
    return parseOffsiteUrl(url);
  } catch (error) {
    throw badRequest(`The URL of the bucket ${(error as Error).message}`);
  }
}

function parseKey(text: string): Uint8Array {
  try {
    return parseRecoveryKey(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

async function requireSameKey(bucket: Bucket, cipher: BlobCipher, signal: AbortSignal): Promise<void> {
  const object = await bucket.get(REPOSITORY_KEY, MAX_REPOSITORY_BYTES, signal);
  if (object === null) return;
  const { format, keyId } = parseRepository(object);
  if (format !== FORMAT || !/^[0-9a-f]{16}$/.test(keyId))
    throw conflict(`${bucket.url}/${REPOSITORY_KEY} is damaged, or was written by a newer version.`);
  if (keyId !== cipher.keyId)
    throw badRequest(
      `The recovery key does not open ${bucket.url}: it has the ID ${cipher.keyId}, the backups there need the key with the ID ${keyId}.`,
    );
}

function parseRepository(object: Uint8Array): { format: unknown; keyId: string } {
  try {
    const { format, key_id: keyId } = JSON.parse(Buffer.from(object).toString());
    return { format, keyId: String(keyId) };
  } catch {
    return { format: null, keyId: "" };
  }
}

/** Writes the ID of the recovery key, before the first blob. */
export async function initializeRepository({ bucket, cipher }: Repository, signal: AbortSignal): Promise<void> {
  if ((await bucket.get(REPOSITORY_KEY, MAX_REPOSITORY_BYTES, signal)) !== null) return;
  const description = `${JSON.stringify({ format: FORMAT, key_id: cipher.keyId })}\n`;
  await bucket.put(REPOSITORY_KEY, Buffer.from(description), signal);
}

function createRepository(bucket: Bucket, cipher: BlobCipher, scratch: string) {
  const toSnapshotKey = (name: string) => SNAPSHOTS + name + SNAPSHOT_SUFFIX;

  /** Reads a manifest. Errors: `AppError` `not_found`; `conflict` when it is damaged. */
  async function readManifest(name: string, signal: AbortSignal): Promise<OffsiteManifest> {
    const object = await bucket.get(toSnapshotKey(name), MAX_MANIFEST_BYTES, signal);
    const path = `${bucket.url}/${name}`;
    if (object === null) throw new AppError("not_found", `${path} does not exist.`);
    const content = cipher.decrypt(object, toPlace(name));
    if (content === null)
      throw conflict(`The manifest of ${path} is damaged, or was written with another recovery key.`);
    try {
      return parseOffsiteManifest(Buffer.from(content).toString());
    } catch (error) {
      throw conflict(`${path} is not a valid backup: ${(error as Error).message}`);
    }
  }

  /** Returns the names of the backups, the newest first. */
  async function listSnapshots(signal: AbortSignal): Promise<string[]> {
    const names: string[] = [];
    for await (const { key } of bucket.list(SNAPSHOTS, signal)) {
      const name = key.slice(SNAPSHOTS.length, -SNAPSHOT_SUFFIX.length);
      if (key === toSnapshotKey(name) && parseBackupName(name) !== null) names.push(name);
    }
    return names.sort().reverse();
  }

  /** Returns a manifest, or null when it is missing or damaged. */
  const findManifest = (name: string, signal: AbortSignal): Promise<OffsiteManifest | null> =>
    readManifest(name, signal).catch((error) => {
      if (error instanceof AppError && (error.code === "conflict" || error.code === "not_found")) return null;
      throw error;
    });

  /** Yields the backups whose manifests can be read. */
  async function* listManifests(signal: AbortSignal, first: "oldest" | "newest" = "newest") {
    const names = await listSnapshots(signal);
    for (const name of first === "newest" ? names : names.reverse()) {
      const manifest = await findManifest(name, signal);
      if (manifest !== null) yield { name, path: `${bucket.url}/${name}`, manifest };
    }
  }

  async function readBlob(name: string, bytes: number, signal: AbortSignal) {
    const object = await bucket.get(BLOBS + name, getEncryptedBytes(bytes), signal);
    if (object === null) return "missing";
    const content = object.length === getEncryptedBytes(bytes) ? cipher.decrypt(object, BLOB_PLACE, name) : null;
    return content ?? "changed";
  }

  return {
    url: bucket.url,
    bucket,
    cipher,
    scratch,
    listSnapshots,
    readManifest,
    findManifest,
    listManifests,
    /** Writes a manifest and reads it again. */
    writeManifest: async (name: string, manifest: OffsiteManifest, signal: AbortSignal) => {
      await bucket.put(
        toSnapshotKey(name),
        cipher.encrypt(Buffer.from(JSON.stringify(manifest)), toPlace(name)),
        signal,
      );
      await readManifest(name, signal);
    },
    deleteSnapshot: (name: string, signal: AbortSignal) => bucket.delete(toSnapshotKey(name), signal),
    /** Returns the objects of all blobs by their names. */
    listBlobs: async (signal: AbortSignal) => {
      const blobs = new Map<string, StoredBlob>();
      for await (const { key, bytes, etag } of bucket.list(BLOBS, signal)) {
        const name = key.slice(BLOBS.length);
        if (isBlobName(name)) blobs.set(name, { bytes, etag, isDamaged: false });
      }
      for await (const { key } of bucket.list(DAMAGED, signal)) {
        const blob = blobs.get(key.slice(DAMAGED.length));
        if (blob !== undefined) blob.isDamaged = true;
      }
      return blobs;
    },
    putBlob: (name: string, object: Uint8Array, signal: AbortSignal) => bucket.put(BLOBS + name, object, signal),
    /** Returns the content of a blob, or "missing" or "changed". */
    getBlob: async (name: string, bytes: number, signal: AbortSignal) => {
      const content = await readBlob(name, bytes, signal);
      // A truncated response looks like a damaged object.
      return content === "changed" ? readBlob(name, bytes, signal) : content;
    },
    deleteBlob: (name: string, signal: AbortSignal) => bucket.delete(BLOBS + name, signal),
    markBlob: (name: string, isDamaged: boolean, signal: AbortSignal) =>
      isDamaged ? bucket.put(DAMAGED + name, DAMAGE_MARK, signal) : bucket.delete(DAMAGED + name, signal),
  };
}

/** Errors of all calls: those of `Bucket`. */
export type Repository = ReturnType<typeof createRepository>;
