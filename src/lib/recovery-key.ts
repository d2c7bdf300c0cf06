/** The recovery key of off-site backups: 256 random bits as text that people can write down and type. */
import { createHash, randomBytes } from "node:crypto";

/** Crockford's base 32: without I, L, O and U, which are easily confused with other characters. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const KEY_BYTES = 32;
const CHECKSUM_BYTES = 3;
const BITS_PER_CHARACTER = 5;
/** 280 bits are encoded in 56 characters. */
const CHARACTERS = ((KEY_BYTES + CHECKSUM_BYTES) * 8) / BITS_PER_CHARACTER;

/** Creates a key: eight groups of seven characters. */
export const createRecoveryKey = (): string => formatRecoveryKey(randomBytes(KEY_BYTES));

/** Formats a key of 32 bytes as text. */
export function formatRecoveryKey(key: Uint8Array): string {
  let value = BigInt(`0x${Buffer.concat([key, checksum(key)]).toString("hex")}`);
  let text = "";
  for (let n = 0; n < CHARACTERS; n++) {
    text = ALPHABET[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text.replace(/.{7}(?!$)/g, "$&-");
}

/** Parses a key. Case, spaces and hyphens are ignored. Throws an `Error` that does not contain the key. */
export function parseRecoveryKey(text: string): Uint8Array {
  const characters = text.toUpperCase().replace(/[\s-]/g, "").replace(/[IL]/g, "1").replaceAll("O", "0");
  if (characters.length !== CHARACTERS)
    throw new Error(`A recovery key has ${CHARACTERS} characters, but this one has ${characters.length}.`);
  let value = 0n;
  for (const character of characters) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) throw new Error("Recovery key contains a character that recovery keys do not use.");
    value = (value << 5n) | BigInt(digit);
  }
  const bytes = Buffer.from(value.toString(16).padStart(2 * (KEY_BYTES + CHECKSUM_BYTES), "0"), "hex");
  const key = new Uint8Array(bytes.subarray(0, KEY_BYTES));
  if (!Buffer.from(checksum(key)).equals(bytes.subarray(KEY_BYTES)))
    throw new Error("Recovery key is mistyped: its last characters do not match the others.");
  return key;
}

const checksum = (key: Uint8Array): Uint8Array =>
  createHash("sha256").update("offcut recovery key").update(key).digest().subarray(0, CHECKSUM_BYTES);
