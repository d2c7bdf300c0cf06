/** Email addresses. */
import { MAX_EMAIL_CHARACTERS } from "./field-limits";

/** Stricter than the standard: quoted names, which are very rare, could break out of a header. */
const EMAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;
/** Host names of letters and digits: mail servers read `%2e` and U+3002 as dots, and end a host name at `/`. */
const HOST_NAME = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u;
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/** Parses an address to its stored form, in lower case. Returns null if it is invalid. */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_EMAIL_CHARACTERS && EMAIL_ADDRESS.test(address) ? address : null;
}

/** Returns whether the part after the `@` is a host name, not something that only passes for one. */
export const hasHostName = (text: string): boolean => HOST_NAME.test(text.slice(text.lastIndexOf("@") + 1).trim());

/**
 * Returns whether an address may get an account: its domain is a host name, and it has no invisible characters and none
 * that normalization replaces. Other addresses may look like that of another account, or be equivalent to it for mail
 * servers.
 */
export const isPlainAddress = (text: string): boolean =>
  hasHostName(text) && !INVISIBLE.test(text.trim()) && text.trim().normalize("NFKC") === text.trim();
