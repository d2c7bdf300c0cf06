import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createBlobCipher,
  decryptSegments,
  encryptSegments,
  getEncryptedBytes,
  getSegmentNonce,
  SEGMENT_BYTES,
} from "../../../src/lib/blob-cipher";

const KEY = new Uint8Array(32).fill(7);
const cipher = createBlobCipher(KEY);
const HEADER_BYTES = 36;
const TAG_BYTES = 16;
const ENCRYPTED_SEGMENT = SEGMENT_BYTES + TAG_BYTES;
/** Sizes at the borders of segments. */
const sizes = fc.constantFrom(0, 1, 1000, SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 3 * SEGMENT_BYTES);
const random = (bytes: number) => {
  const content = new Uint8Array(bytes);
  for (let n = 0; n < bytes; n += 65_536) crypto.getRandomValues(content.subarray(n, n + 65_536));
  return content;
};

test("decrypts its own output, to the size known in advance", () => {
  fc.assert(
    fc.property(sizes, (bytes) => {
      const content = random(bytes);
      const object = cipher.encrypt(content, "blob");
      expect(object.length).toBe(getEncryptedBytes(bytes));
      expect(Buffer.compare(cipher.decrypt(object, "blob", cipher.nameOf(content))!, content)).toBe(0);
    }),
    { numRuns: 20 },
  );
});

test("the same content is the same object, so that it need not be sent again", () => {
  const content = random(5000);
  expect(Buffer.compare(cipher.encrypt(content, "blob"), cipher.encrypt(content.slice(), "blob"))).toBe(0);
});

test("another key, place or name does not open an object", () => {
  const content = random(100);
  const object = cipher.encrypt(content, "blob");
  expect(createBlobCipher(new Uint8Array(32).fill(8)).decrypt(object, "blob")).toBeNull();
  expect(cipher.decrypt(object, "lock")).toBeNull();
  expect(cipher.decrypt(object, "blob", cipher.nameOf(random(100)))).toBeNull();
});

test("each changed bit is found", () => {
  const object = cipher.encrypt(random(40), "blob");
  fc.assert(
    fc.property(fc.nat(object.length * 8 - 1), (bit) => {
      const changed = object.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(cipher.decrypt(changed, "blob")).toBeNull();
    }),
  );
});

test("each truncated or extended object is refused", () => {
  const object = cipher.encrypt(random(2 * SEGMENT_BYTES + 10), "blob");
  const lengths = fc.oneof(
    fc.nat(object.length - 1),
    fc.constantFrom(...[0, 1, 2].map((count) => HEADER_BYTES + count * ENCRYPTED_SEGMENT)),
  );
  fc.assert(
    fc.property(lengths, (length) => {
      expect(cipher.decrypt(object.subarray(0, length), "blob")).toBeNull();
    }),
    { numRuns: 50 },
  );
  for (const extra of [1, TAG_BYTES, ENCRYPTED_SEGMENT])
    expect(cipher.decrypt(Buffer.concat([object, new Uint8Array(extra)]), "blob")).toBeNull();
});

describe("segments that are", () => {
  const count = 4;
  const content = random(count * SEGMENT_BYTES);
  const segments = new Uint8Array(count * ENCRYPTED_SEGMENT);
  encryptSegments(KEY, content, segments);
  const pick = (indexes: readonly number[]) =>
    Buffer.concat(indexes.map((n) => segments.subarray(n * ENCRYPTED_SEGMENT, (n + 1) * ENCRYPTED_SEGMENT)));

  test("in order are the content", () => {
    expect(Buffer.compare(decryptSegments(KEY, pick([0, 1, 2, 3]))!, content)).toBe(0);
  });

  test("reordered, left out or repeated are refused", () => {
    const index = fc.nat(count - 1);
    fc.assert(
      fc.property(fc.array(index, { minLength: 1, maxLength: count + 1 }), (indexes) => {
        fc.pre(indexes.join() !== "0,1,2,3");
        expect(decryptSegments(KEY, pick(indexes))).toBeNull();
      }),
      { numRuns: 60 },
    );
  });
});

test("nonces do not repeat within an object", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1), fc.boolean(), fc.boolean(), (a, b, isLastA, isLastB) => {
      fc.pre(a !== b || isLastA !== isLastB);
      expect(Buffer.compare(getSegmentNonce(a, isLastA), getSegmentNonce(b, isLastB))).not.toBe(0);
    }),
  );
});

test("contents that differ anywhere, or places that differ, never share a key: their keystreams are unrelated", () => {
  const stream = (content: Uint8Array, place: string) => {
    const object = cipher.encrypt(content, place).subarray(HEADER_BYTES);
    return object.slice(0, 64).map((byte, n) => byte ^ content[n]!);
  };
  const prefix = random(64);
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.constantFrom("blob", "lock"), (rest, place) => {
      // A file that grew between two reads has the same beginning.
      const content = Buffer.concat([prefix, rest]);
      const keystream = Buffer.from(stream(content, place)).toString("hex");
      const id = `${place} ${Buffer.from(rest).toString("hex")} ${keystream}`;
      const isKnown = [...seen].some((other) => other.endsWith(keystream) && other !== id);
      seen.add(id);
      expect(isKnown).toBe(false);
    }),
  );
});

test("names reveal nothing: they are not hashes that others can compute", () => {
  const content = random(10);
  expect(cipher.nameOf(content)).not.toBe(new Bun.CryptoHasher("sha256").update(content).digest("hex"));
  expect(cipher.nameOf(content)).not.toBe(createBlobCipher(new Uint8Array(32).fill(8)).nameOf(content));
});
