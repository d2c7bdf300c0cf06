/** Email addresses. */

/** Stricter than the standard: quoted names, which hardly anybody has, could break out of a header. */
const EMAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;
/** Characters that are not visible. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;
const MAX_EMAIL_CHARACTERS = 254;

/** Returns the address in the form that is stored, in lower case; null if it is none. */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_EMAIL_CHARACTERS && EMAIL_ADDRESS.test(address) ? address : null;
}

/**
 * Returns whether an address may get an account: it has no invisible character, and none that normalization replaces. Such an address looks like
 * another one.
 */
export const isPlainAddress = (text: string): boolean =>
  !INVISIBLE.test(text.trim()) && text.trim().normalize("NFKC") === text.trim();
