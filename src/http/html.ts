/** Text in pages that the server writes. */

/** Escapes a text for the content of an element or an attribute in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
