/** Validates redirects after a sign-in. */

const MAX_PATH_CHARACTERS = 2048;

/**
 * Returns whether a text is a path on this server that no browser would take for another server, such as `//host`,
 * `/\host`, or either with tabs or line breaks, which browsers remove.
 */
export const isLocalPath = (text: string): boolean =>
  text.length <= MAX_PATH_CHARACTERS && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text);
