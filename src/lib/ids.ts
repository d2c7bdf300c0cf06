/** Identifiers: UUIDv7, so that newer ids sort after older ones. */

/** A fresh UUIDv7. */
export const newId = (): string => Bun.randomUUIDv7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for the text form of any UUID. */
export const isUuid = (text: string): boolean => UUID.test(text);

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` random characters of 0-9, A-Z, a-z, evenly distributed, from the system's secure source. */
export function randomToken(length: number): string {
  let token = "";
  while (token.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: anything above would favour the first characters.
      if (byte < 248 && token.length < length) token += BASE62[byte % 62];
    }
  }
  return token;
}
