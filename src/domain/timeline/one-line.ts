/** User text on one line, for names and line-based formats. */

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Shortens a text to `maxCharacters`, the last of which is then an ellipsis. */
export function truncateText(text: string, maxCharacters: number): string {
  const characters = [...text];
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : text;
}

/** Replaces control characters, line breaks and direction overrides with spaces, and truncates to `maxCharacters`. */
export const toOneLine = (text: string, maxCharacters = 500): string =>
  truncateText(text.toWellFormed().replace(UNPRINTABLE, " ").trim(), maxCharacters);
