/** SHA-256 of texts, values and files, always as lower-case hexadecimal. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";

/** Returns the SHA-256 of a text or of bytes. */
export const sha256 = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Returns a hash of a plain JSON value. Equal values have equal hashes. */
export const hashJson = (value: unknown): string => sha256(JSON.stringify(value));

/** Derives a secret for one purpose. Neither `secret` nor the secrets for other purposes can be computed from it. */
export const deriveSecret = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("hex");

const FILE_KEY_CHARACTERS = 24;
/** Shorter pauses are skipped, because timers are not precise enough. */
const MIN_PAUSE_MS = 20;

/** Returns `hashJson` truncated to 96 bits, enough for a file name. */
export const createFileKey = (value: unknown): string => hashJson(value).slice(0, FILE_KEY_CHARACTERS);

const READ_BYTES = 256 * 1024;

/**
 * Returns the SHA-256 of a file, read at no more than `bytesPerSecond`. Other tasks run between two reads, even if the
 * file is in the page cache: a Bun stream would read all of it at once. Throws file system errors and the signal's
 * reason.
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

/** Compares two secrets in a time that does not depend on where they differ. */
export const isEqualSecret = (given: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(expected)));
