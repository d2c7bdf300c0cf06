/** Email addresses. */

/** Stricter than the standard: quoted names, which hardly anybody has, could break out of a header. */
const EMAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;
/** Host names: labels of letters and digits. Browsers and mail servers read `%2e` and U+3002 as a dot, and end a host name at `/`. */
const HOST_NAME = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u;
/** Characters that are not visible. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;
const MAX_EMAIL_CHARACTERS = 254;

/** Returns the address in the form that is stored, in lower case; null if it is none. */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_EMAIL_CHARACTERS && EMAIL_ADDRESS.test(address) ? address : null;
}

/** Returns whether what follows the `@` is a host name, not something that is only read as one. */
export const hasHostName = (text: string): boolean => HOST_NAME.test(text.slice(text.lastIndexOf("@") + 1).trim());

/**
 * Returns whether an address may get an account: it has a host name, no invisible character, and none that normalization replaces. Another address
 * looks like the one of an account, or is it for mail servers.
 */
export const isPlainAddress = (text: string): boolean =>
  hasHostName(text) && !INVISIBLE.test(text.trim()) && text.trim().normalize("NFKC") === text.trim();
