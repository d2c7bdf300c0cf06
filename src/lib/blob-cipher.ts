/**
 * Encrypts the objects of an off-site backup. An object is a header and segments, each AES-256-GCM, in the STREAM
 * construction: the nonce counts the segments and marks the last one, so that segments cannot be reordered, repeated or
 * omitted.
 *
 * The key of an object is derived from its name, which is a keyed SHA-256 of its content, and from its place. Different
 * contents therefore never share a key, so that a nonce is never reused with a key. The same content is always
 * encrypted to the same bytes, so that an existing object need not be sent again.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const NAME_BYTES = 32;
/** Identifies the version of the format. */
const MAGIC = Buffer.from("OCB1");
const HEADER_BYTES = MAGIC.length + NAME_BYTES;

export const SEGMENT_BYTES = 1024 * 1024;

/** Creates a cipher. `recoveryKey` has 256 bits of entropy. */
export function createBlobCipher(recoveryKey: Uint8Array) {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", recoveryKey, "", purpose, KEY_BYTES));
  const namingKey = derive("offcut backup: names");
  const encryptionKey = derive("offcut backup: encryption");
  const hashContent = (content: Uint8Array): Buffer =>
    createHmac("sha256", namingKey).update(createHash("sha256").update(content).digest()).digest();
  const deriveKey = (name: Uint8Array, place: string): Buffer =>
    Buffer.from(hkdfSync("sha256", encryptionKey, name, `offcut backup: ${place}`, KEY_BYTES));
  return {
    /** Identifies the recovery key without revealing anything about it. */
    keyId: derive("offcut backup: key ID").toString("hex", 0, 8),
    /** Returns the name of a content: 64 hexadecimal digits that reveal nothing about it. */
    nameOf: (content: Uint8Array): string => hashContent(content).toString("hex"),
    encrypt: (content: Uint8Array, place: string): Uint8Array => {
      const name = hashContent(content);
      const object = new Uint8Array(getEncryptedBytes(content.length));
      object.set(MAGIC);
      object.set(name, MAGIC.length);
      encryptSegments(deriveKey(name, place), content, object.subarray(HEADER_BYTES));
      return object;
    },
    /** Returns the content; null if the object was changed, or encrypted with another key, name or place. */
    decrypt: (object: Uint8Array, place: string, name?: string): Uint8Array | null => {
      if (object.length < HEADER_BYTES || !MAGIC.equals(object.subarray(0, MAGIC.length))) return null;
      const found = Buffer.from(object.subarray(MAGIC.length, HEADER_BYTES));
      if (name !== undefined && found.toString("hex") !== name) return null;
      const content = decryptSegments(deriveKey(found, place), object.subarray(HEADER_BYTES));
      return content !== null && hashContent(content).equals(found) ? content : null;
    },
  };
}

export type BlobCipher = ReturnType<typeof createBlobCipher>;

const countSegments = (bytes: number): number => Math.max(1, Math.ceil(bytes / SEGMENT_BYTES));

/** Returns the size of the object for a content of `bytes` bytes. */
export const getEncryptedBytes = (bytes: number): number => HEADER_BYTES + bytes + countSegments(bytes) * TAG_BYTES;

export function getSegmentNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(index, NONCE_BYTES - 5);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

/** Writes the encrypted segments to `target`, which has exactly the right size. A key encrypts only one content. */
export function encryptSegments(key: Uint8Array, content: Uint8Array, target: Uint8Array): void {
  const count = countSegments(content.length);
  let written = 0;
  for (let index = 0; index < count; index++) {
    const cipher = createCipheriv(CIPHER, key, getSegmentNonce(index, index === count - 1));
    const plain = content.subarray(index * SEGMENT_BYTES, (index + 1) * SEGMENT_BYTES);
    for (const bytes of [cipher.update(plain), cipher.final(), cipher.getAuthTag()]) {
      target.set(bytes, written);
      written += bytes.length;
    }
  }
}

/** Returns the content of segments; null if they were changed, reordered, repeated or omitted. */
export function decryptSegments(key: Uint8Array, segments: Uint8Array): Uint8Array | null {
  const count = Math.max(1, Math.ceil(segments.length / (SEGMENT_BYTES + TAG_BYTES)));
  if (segments.length < count * TAG_BYTES) return null;
  const content = new Uint8Array(segments.length - count * TAG_BYTES);
  for (let index = 0; index < count; index++) {
    const start = index * (SEGMENT_BYTES + TAG_BYTES);
    const segment = segments.subarray(start, start + SEGMENT_BYTES + TAG_BYTES);
    if (segment.length < TAG_BYTES) return null;
    const nonce = getSegmentNonce(index, index === count - 1);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAuthTag(
      segment.subarray(-TAG_BYTES),
    );
    try {
      content.set(decipher.update(segment.subarray(0, -TAG_BYTES)), index * SEGMENT_BYTES);
      decipher.final();
    } catch {
      return null;
    }
  }
  return content;
}
