/**
 * The codes that a user compares with the screen of a device (RFC 8628, section 6.1): eight letters without vowels, so
 * that they spell no words, shown as `WDJB-MJHT`.
 */

export const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
export const USER_CODE_LENGTH = 8;

/** Formats a code for display. */
export const formatUserCode = (code: string): string =>
  `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;

/** Returns the letters of a typed code, or null if it is invalid. Case, spaces and hyphens are ignored. */
export function parseUserCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, "").toUpperCase();
  return code.length === USER_CODE_LENGTH && [...code].every((letter) => USER_CODE_LETTERS.includes(letter))
    ? code
    : null;
}
