/** Identifiers and random tokens. IDs are UUIDv7, so that newer ones sort after older ones. */

/** Creates a UUIDv7. */
export const newId = (): string => Bun.randomUUIDv7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a text is a UUID of any version. */
export const isUuid = (text: string): boolean => UUID.test(text);

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns `length` random characters of 0-9, A-Z and a-z, uniformly distributed and cryptographically secure. */
export function randomToken(length: number): string {
  let token = "";
  while (token.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: larger values would favor the first characters.
      if (byte < 248 && token.length < length) token += BASE62[byte % 62];
    }
  }
  return token;
}
