/** Where a sign-in leads to. */

const MAX_PATH_CHARACTERS = 2048;

/**
 * Returns whether a text is a path of this server, and nothing that a browser would take for another server: `//host`, `/\host`, or either
 * with tabs or line breaks in it, which browsers remove.
 */
export const isLocalPath = (text: string): boolean =>
  text.length <= MAX_PATH_CHARACTERS && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text);
