/**
 * Signatures in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 hash of a
 * file (`ED`) or over the file itself (`Ed`, by older versions), and over the signature with its trusted comment.
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFile, stat } from "node:fs/promises";

export type MinisignPublicKey = { id: Uint8Array; key: KeyObject };

export type MinisignSignature = {
  isPrehashed: boolean;
  keyId: Uint8Array;
  signature: Uint8Array;
  trustedComment: string;
  globalSignature: Uint8Array;
};

/** Thrown when a key or a signature is malformed, or a signature is invalid. */
export class MinisignError extends Error {}

export const ALGORITHM = "Ed";
export const PREHASHED_ALGORITHM = "ED";
export const KEY_ID_BYTES = 8;
export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
export const TRUSTED_PREFIX = "trusted comment: ";
export const UNTRUSTED_PREFIX = "untrusted comment: ";

/** minisign accepts comments of 1 KB and 8 KB. */
const MAX_TEXT_BYTES = 16_384;
/** A file with a legacy signature is read into memory. */
const MAX_LEGACY_BYTES = 2_000_000_000;

/** Parses a public key: the two lines of its file, or the second one. Throws `MinisignError`. */
export function parsePublicKey(text: string): MinisignPublicKey {
  const lines = toLines(text.trim());
  const bytes = decode(lines.length > 1 ? lines[1] : lines[0], 2 + KEY_ID_BYTES + KEY_BYTES);
  if (bytes === null || readAlgorithm(bytes) !== ALGORITHM) throw new MinisignError("not a minisign public key");
  return { id: bytes.subarray(2, 2 + KEY_ID_BYTES), key: toPublicKey(bytes.subarray(2 + KEY_ID_BYTES)) };
}

/** Returns the public key with these 32 bytes. */
const toPublicKey = (bytes: Uint8Array): KeyObject =>
  createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(bytes).toString("base64url") },
  });

/** Parses the four lines of a signature. Throws `MinisignError`. */
export function parseSignature(text: string): MinisignSignature {
  const [untrusted = "", signature, trusted = "", global, ...rest] = toLines(text);
  const bytes = decode(signature, 2 + KEY_ID_BYTES + SIGNATURE_BYTES);
  const globalSignature = decode(global, SIGNATURE_BYTES);
  const isComplete = untrusted.startsWith(UNTRUSTED_PREFIX) && trusted.startsWith(TRUSTED_PREFIX) && rest.length === 0;
  const algorithm = bytes === null ? "" : readAlgorithm(bytes);
  if (
    bytes === null ||
    globalSignature === null ||
    !isComplete ||
    ![ALGORITHM, PREHASHED_ALGORITHM].includes(algorithm)
  )
    throw new MinisignError("not a minisign signature");
  return {
    isPrehashed: algorithm === PREHASHED_ALGORITHM,
    keyId: bytes.subarray(2, 2 + KEY_ID_BYTES),
    signature: bytes.subarray(2 + KEY_ID_BYTES),
    trustedComment: trusted.slice(TRUSTED_PREFIX.length),
    globalSignature,
  };
}

/**
 * Verifies that `path` and the trusted comment were signed with the key, and returns the comment. Throws
 * `MinisignError`, file system errors and the signal's reason.
 */
export async function verifyFile(
  path: string,
  { isPrehashed, keyId, signature, trustedComment, globalSignature }: MinisignSignature,
  publicKey: MinisignPublicKey,
  signal?: AbortSignal,
): Promise<string> {
  if (Buffer.compare(keyId, publicKey.id) !== 0)
    throw new MinisignError(`it was signed with key ${formatKeyId(keyId)}, expected ${formatKeyId(publicKey.id)}`);
  const message = isPrehashed ? await hashBlake2b(path, signal) : await readWhole(path);
  if (!verify(null, message, publicKey.key, signature))
    throw new MinisignError("the file is not the one that was signed");
  const signedComment = Buffer.concat([signature, Buffer.from(trustedComment)]);
  if (!verify(null, signedComment, publicKey.key, globalSignature))
    throw new MinisignError("the trusted comment is not the one that was signed");
  return trustedComment;
}

/** Formats a key ID as minisign prints it: a little-endian number in upper-case hexadecimal. */
export const formatKeyId = (id: Uint8Array): string => Buffer.from(id).reverse().toString("hex").toUpperCase();

/** Reads a text file from an untrusted source. Throws `MinisignError` if it is not a small regular file. */
export async function readSmallFile(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new MinisignError(`${path}: ${error.code === "ENOENT" ? "file not found" : error.message}`);
  });
  if (!found.isFile() || found.size > MAX_TEXT_BYTES) throw new MinisignError(`${path}: not a minisign file`);
  return await readFile(path, "utf8");
}

/** Returns the BLAKE2b-512 of a file, read in chunks. */
export async function hashBlake2b(path: string, signal?: AbortSignal): Promise<Uint8Array> {
  const hasher = new Bun.CryptoHasher("blake2b512");
  for await (const chunk of Bun.file(path).stream()) {
    signal?.throwIfAborted();
    hasher.update(chunk);
  }
  return hasher.digest();
}

async function readWhole(path: string): Promise<Uint8Array> {
  if ((await stat(path)).size > MAX_LEGACY_BYTES)
    throw new MinisignError("a file of this size needs a prehashed signature");
  return await readFile(path);
}

/** Splits a text into lines, without the end of the last one. */
const toLines = (text: string): string[] => text.replace(/\r?\n$/, "").split(/\r?\n/);

/** Decodes base64 that has exactly this length; null for anything else. */
export function decode(text: string | undefined, length: number): Uint8Array | null {
  if (text === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === length ? bytes : null;
}

export const readAlgorithm = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 2)).toString("latin1");
