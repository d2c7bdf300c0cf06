/** User text on one line, for formats made of lines and for names. */

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** The text with control characters, line ends and direction overrides as single spaces, shortened to `most` characters. */
export function toOneLine(text: string, most = 500): string {
  const characters = [...text.toWellFormed().replace(UNPRINTABLE, " ").trim()];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("");
}
