/** Identifiers and random tokens. IDs are UUIDv7, so that newer ones sort after older ones. */

export const newId = (): string => Bun.randomUUIDv7();

/** Creates a UUIDv7 for a time in milliseconds since 1970. */
export const newIdAt = (time: number): string => Bun.randomUUIDv7("hex", time);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns `length` random characters from 0-9, A-Z and a-z, uniformly distributed and cryptographically secure. */
export const randomToken = (length: number): string => randomText(BASE62, length);

/** Returns `length` random characters from an alphabet of at most 256, uniform and cryptographically secure. */
export function randomText(alphabet: string, length: number): string {
  // Larger bytes are skipped: they would favor the first characters.
  const limit = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}
