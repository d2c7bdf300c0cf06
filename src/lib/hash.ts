/** SHA-256 of texts, values and files, always as lower-case hexadecimal. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";

/** Returns the SHA-256 of a text or of bytes. */
export const sha256 = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Returns a hash of a plain JSON value: equal values have equal hashes. Serves caches, work files and request hashes. */
export const hashJson = (value: unknown): string => sha256(JSON.stringify(value));

/** Returns a secret for one purpose, from which neither `secret` nor those for other purposes can be computed. */
export const deriveSecret = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("hex");

const FILE_KEY_CHARACTERS = 24;
/** Shorter pauses are not kept exactly. */
const MIN_PAUSE_MS = 20;

/** Returns `hashJson` truncated to 96 bits, enough for a file name. */
export const createFileKey = (value: unknown): string => hashJson(value).slice(0, FILE_KEY_CHARACTERS);

const READ_BYTES = 256 * 1024;

/**
 * Returns the SHA-256 of a file, read at most at `bytesPerSecond`. Other tasks run between two reads, also when the file is in the page cache: a
 * stream of Bun would read all of it at once. Errors: those of the file system; the signal's reason.
 */
export async function hashFile(
  path: string,
  signal?: AbortSignal,
  bytesPerSecond = Number.POSITIVE_INFINITY,
): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const started = performance.now();
  const buffer = new Uint8Array(READ_BYTES);
  let bytes = 0;
  await using file = await open(path, "r");
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return hasher.digest("hex");
    hasher.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
    const aheadMs = (bytes / bytesPerSecond) * 1000 - (performance.now() - started);
    if (aheadMs > MIN_PAUSE_MS) await Bun.sleep(aheadMs);
  }
}

/** Returns whether two secrets are equal, in a time that does not depend on where they differ. */
export const isEqualSecret = (given: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(expected)));
