/** Signs with an unencrypted secret key of minisign, which `minisign -G -W` creates. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import {
  ALGORITHM,
  decode,
  formatKeyId,
  hashBlake2b,
  KEY_BYTES,
  KEY_ID_BYTES,
  MinisignError,
  PREHASHED_ALGORITHM,
  readAlgorithm,
  TRUSTED_PREFIX,
  UNTRUSTED_PREFIX,
} from "../lib/minisign";

export type MinisignSecretKey = { id: Uint8Array; key: KeyObject; publicBytes: Uint8Array };

/** Algorithms of signature, key derivation and checksum; salt and limits of the key derivation. */
const HEADER_BYTES = 2 + 2 + 2 + 32 + 8 + 8;
const CHECKSUM_BYTES = 32;
const SECRET_BYTES = HEADER_BYTES + KEY_ID_BYTES + 2 * KEY_BYTES + CHECKSUM_BYTES;
/** DER of an Ed25519 private key up to its 32 bytes. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const UNENCRYPTED = "\0\0";

/** Parses a secret key: the two lines of its file, or the second one. Throws `MinisignError`. */
export function parseSecretKey(text: string): MinisignSecretKey {
  const lines = text.trim().split(/\r?\n/);
  const bytes = decode(lines.length > 1 ? lines[1] : lines[0], SECRET_BYTES);
  if (bytes === null || readAlgorithm(bytes) !== ALGORITHM) throw new MinisignError("not a minisign secret key");
  if (readAlgorithm(bytes.subarray(2)) !== UNENCRYPTED)
    throw new MinisignError("the secret key is encrypted: create one without a password with minisign -G -W");
  const id = bytes.subarray(HEADER_BYTES, HEADER_BYTES + KEY_ID_BYTES);
  const pair = bytes.subarray(HEADER_BYTES + KEY_ID_BYTES);
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, pair.subarray(0, KEY_BYTES)]),
    format: "der",
    type: "pkcs8",
  });
  const publicBytes = pair.subarray(KEY_BYTES, 2 * KEY_BYTES);
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (x !== Buffer.from(publicBytes).toString("base64url"))
    throw new MinisignError("the secret key is damaged: its halves do not belong together");
  return { id, key, publicBytes };
}

export function formatPublicKey({ id, publicBytes }: MinisignSecretKey): string {
  const bytes = Buffer.concat([Buffer.from(ALGORITHM), id, publicBytes]);
  return `${UNTRUSTED_PREFIX}minisign public key ${formatKeyId(id)}\n${bytes.toString("base64")}\n`;
}

/** Returns the text of a prehashed signature of a file and of a comment of one line. */
export async function signFile(path: string, trustedComment: string, { id, key }: MinisignSecretKey): Promise<string> {
  const signature = sign(null, await hashBlake2b(path), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(trustedComment)]), key);
  const line = Buffer.concat([Buffer.from(PREHASHED_ALGORITHM), id, signature]).toString("base64");
  return [
    `${UNTRUSTED_PREFIX}signature from minisign secret key`,
    line,
    `${TRUSTED_PREFIX}${trustedComment}`,
    `${global.toString("base64")}\n`,
  ].join("\n");
}
