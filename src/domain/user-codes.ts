/**
 * The codes that a user compares with the screen of a device (RFC 8628, section 6.1): eight letters without vowels, so that they spell no
 * words, shown as `WDJB-MJHT`.
 */

export const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
export const USER_CODE_LENGTH = 8;

/** Returns a code as it is shown. */
export const formatUserCode = (code: string): string =>
  `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;

/** Returns the letters of a code that a user typed: case, spaces and hyphens do not matter. Null if it is none. */
export function parseUserCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, "").toUpperCase();
  return code.length === USER_CODE_LENGTH && [...code].every((letter) => USER_CODE_LETTERS.includes(letter))
    ? code
    : null;
}
