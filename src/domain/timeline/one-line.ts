/** User text on one line, for names and line-based formats. */

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Replaces control characters, line breaks and direction overrides with spaces, and truncates to `maxCharacters`. */
export function toOneLine(text: string, maxCharacters = 500): string {
  const characters = [...text.toWellFormed().replace(UNPRINTABLE, " ").trim()];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters - 1).join("")}…`
    : characters.join("");
}
